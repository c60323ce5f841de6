"use strict";
// The page of a drive that is being served: asks for what is new, and draws on.
{
  const put = (id, text) => { document.getElementById(id).textContent = text; };
  const state = document.getElementById("state");

  // Columns of the charts. They grow in place, as a chart reads values from the very arrays it was made of.
  const names = ["t", "reads", "writes", "read50", "read99", "write50", "write99", "amplification", "free", "least"];
  const columns = Object.fromEntries(names.map((name) => [name, []]));
  const of = (...wanted) => ["t", ...wanted].map((name) => columns[name]);

  const x = () => axis({ size: 30, values: tick((v) => short(v) + " s"), space: 70 });
  const time = { time: false, range: (_, min, max) => (min == null ? [0, 1] : [min, max === min ? max + 1 : max]) };
  const at = (v) => plain(v) + " s";
  const linear = { x: time, y: { range: fromZero } };
  // The columns of each chart, in their order.
  const drawn = [];
  const over = (id, name, wanted, series, y, scales = linear) => {
    drawn.push(wanted);
    chart(id, { name, columns: of(...wanted), series, height: medium, sync: "time", at, scales, x: x(), y });
  };
  over("rates", "Requests answered a second", ["reads", "writes"],
    [line("Reads", "--read", plain), line("Writes", "--write", plain)], axis({ size: 64, values: tick(short) }));
  over("responses", "Response times", ["read50", "read99", "write50", "write99"], [
    line("Reads, median", "--read", us), line("Reads, p99", "--read", us, { dash: [4, 3] }),
    line("Writes, median", "--write", us), line("Writes, p99", "--write", us, { dash: [4, 3] }),
  ], axis({ size: 64, filter: logLabels, values: tick(shortUs) }), { x: time, y: { distr: 3, range: logRange } });
  over("amplification", "Write amplification", ["amplification"],
    [line("Write amplification", "--gc", plain)], axis({ size: 64, values: tick(short) }));
  over("free", "Free blocks", ["free", "least"],
    [line("All planes", "--calm", whole), line("Plane with fewest", "--gc", whole)], axis({ size: 64, values: tick(short) }));

  let before = null;
  function take(row) {
    const a_second = (kind) => kind.count / row.passed_s;
    const since = (name) => row[name] - (before ? before[name] : 0);
    const written = since("host_bytes_written");
    // On a logarithmic axis there is no zero.
    const positive = (value) => (value > 0 ? value : null);
    const values = [
      row.at_s, a_second(row.read), a_second(row.write), positive(row.read.p50_us), positive(row.read.p99_us),
      positive(row.write.p50_us), positive(row.write.p99_us), written > 0 ? since("media_bytes_written") / written : null,
      row.free_blocks, row.free_blocks_least,
    ];
    names.forEach((name, k) => {
      columns[name].push(values[k]);
      if (columns[name].length > data.kept) columns[name].shift();
    });
    before = row;
  }

  function drawCards(row, status) {
    put("tail-says", status.tail_says ?? "");
    put("now-rate", digits((row.read.count + row.write.count) / row.passed_s) + "/s");
    put("all-requests", whole(status.requests) + " in all");
    for (const kind of ["read", "write"]) {
      put("now-" + kind, us(row[kind].p50_us));
      put("tail-" + kind, row[kind].count ? `median · p99 ${us(row[kind].p99_us)}` : "none in this interval");
    }
    put("now-amplification", plain(columns.amplification.at(-1)));
    put("all-amplification", plain(status.write_amplification) + " in all");
    put("now-free", whole(row.free_blocks));
    put("least-free", `fewest of a plane: ${whole(row.free_blocks_least)}`);
    const late = status.lateness;
    put("now-late", late.answers ? us(late.late_us.p50) : "–");
    put("believed", !late.answers ? "no answers yet" : late.believable ? "median · small" : "median · too much");
  }

  const cells = document.getElementById("die-cells");
  function drawDies(row) {
    while (cells.childElementCount < row.die_collecting.length) {
      const cell = document.createElement("span");
      cell.className = "die";
      cells.append(cell);
    }
    row.die_collecting.forEach((share, die) => {
      const cell = cells.children[die];
      const told = `die ${die}: collected ${Math.round(100 * share)} % of the interval, ${row.die_free_blocks[die]} free blocks`;
      cell.style.setProperty("--share", String(Math.min(share, 1)));
      cell.textContent = row.die_free_blocks[die];
      cell.title = told;
      cell.setAttribute("aria-label", told);
    });
    const busy = row.die_collecting.filter((share) => share > 0).length;
    put("dies-told", `In the last interval ${busy} of ${row.die_collecting.length} dies collected. ` +
      "A darker die has collected for longer; the number is that of its free blocks.");
  }

  let next = 0;
  async function look() {
    try {
      const answer = await fetch(`seen?from=${next}`);
      const { next: then, rows, status } = await answer.json();
      next = then;
      rows.forEach(take);
      if (rows.length) {
        charts.forEach(({ u }, k) => u.setData(of(...drawn[k])));
        drawCards(rows.at(-1), status);
        drawDies(rows.at(-1));
      }
      const cuts = status.power_loss ? `, cuts of power: ${status.power_loss.cuts}` : "";
      if (before) {
        state.textContent = `${at(before.at_s)} of the drive's time, clients: ${status.clients}, ` +
          `requests under way: ${status.outstanding}${cuts}.`;
      }
      setTimeout(look, rows.length ? 400 : 1000);
    } catch {
      state.textContent = "The server has ended. What it showed last stays.";
      setTimeout(look, 3000);
    }
  }
  look();
}
