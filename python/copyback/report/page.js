"use strict";
{
  // Distribution -----------------------------------------------------------------------------------

  if (data.cdf.tail) {
    const nines = data.cdf.tail;
    const names = { all: "All", read: "Read", write: "Write", flush: "Flush", trim: "Trim" };
    const colours = { all: "--all", read: "--read", write: "--write", flush: "--calm", trim: "--gc" };
    // Of reads alone, or of writes, "all" is the same curve.
    const curves = (prefix) => {
      const present = Object.keys(names).filter((k) => data.cdf[prefix + k]);
      const both = present.includes("read") && present.includes("write");
      return both ? present : present.filter((k) => k !== "all");
    };
    const simulated = curves("");
    const measured = curves("measured_");
    chart("cdf", {
      name: "Response time at each percentile, on logarithmic axes",
      columns: [
        nines, ...simulated.map((k) => data.cdf[k]), ...measured.map((k) => data.cdf["measured_" + k]),
      ],
      series: [
        ...simulated.map((k) => line(names[k], colours[k], us, {
          width: k === "all" ? 1.4 : 2, ...(k === "all" ? { dash: [5, 4] } : {}),
        })),
        ...measured.map((k) => line(names[k] + ", measured", colours[k], us, {
          width: 1.2, dash: [1, 3], show: k !== "all",
        })),
      ],
      height: tall,
      ...tails(),
    });
  }

  // Flows ------------------------------------------------------------------------------------------

  if (data.flows.tail) {
    chart("flow-curves", {
      name: "Response time of each flow at each percentile, on logarithmic axes",
      columns: [data.flows.tail, ...data.flows.curves.map(([, curve]) => curve)],
      series: data.flows.curves.map(([name], i) => line(name, "--s" + (i + 1), us, { width: 2 })),
      height: tall,
      ...tails(),
    });
  }

  // Bandwidth of an array --------------------------------------------------------------------------

  if (data.density.z) {
    chart("density", {
      labels: ["standard deviations from the mean bandwidth", "density"], name: "Density of the bandwidth over windows, in standard deviations from its mean",
      columns: [data.density.z, data.density.normal, data.density.density],
      series: [
        line("Normal", "--faint", plain, { width: 1.1, dash: [4, 4] }), line("Bandwidth", "--read", plain, { width: 2 }),
      ],
      height: medium,
      at: (z) => `Z ${digits(z, 2)}`,
      scales: { x: { time: false, range: (_, min, max) => [min, max] }, y: { range: fromZero } },
      x: axis({ size: 30, values: tick(short) }),
      y: axis({ size: 46, values: tick(short) }),
    });
  }

  // Over time --------------------------------------------------------------------------------------

  const t = data.time;
  if (t.start) {
    const [scale, unit] = t.end > 3 * 86400 ? [86400, "d"] : t.end > 3 * 3600 ? [3600, "h"] : t.end > 300 ? [60, "min"] : t.end > 1 ? [1, "s"] : t.end > 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
    const xs = t.start.map((v) => v / scale);
    const end = t.end / scale;
    const columns = (...more) => Object.assign([xs, ...more], { end });
    const time = {
      time: false,
      // All of it, too, where the last of several intervals together begins earlier.
      range: (u, min, max) => (min === xs[0] && max >= u.data[0][u.data[0].length - 1] ? [xs[0], end] : [min, max]),
    };
    const two = (v) => String(Math.floor(v)).padStart(2, "0");
    const at = (x) => {
      const seconds = x * scale + 1e-9;
      if (scale < 60) return `${digits(x, 4)} ${unit}`;
      const clock = `${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
      const hours = Math.floor(seconds / 3600);
      return hours >= 24 ? `${Math.floor(hours / 24)} d ${two(hours % 24)}:${clock}` : hours ? `${hours}:${clock}` : clock;
    };
    const x = () => axis({ size: 30, values: (_, splits) => splits.map((v) => (v === 0 ? "0" : short(v) + " " + unit)), space: 70 });
    const most = Math.max(...t.gc_share.filter((v) => v != null), 0);
    const gcScale = { range: () => [0, Math.max(most, 1e-9) * 4] };
    const gc = () => bars("Collecting", "--gc", "--gc-fill", percent, { scale: "gc" });
    const thin = { width: 1 };
    // The slowest requests that the run kept, each in the interval in which it ended: the longest of each is a dot.
    const placeOf = (seconds) => t.start.findLastIndex((start) => start <= seconds);
    const slow = data.late.map(([ended, took], i) => ({ place: placeOf(ended), took, i }));
    const dots = t.start.map((_, place) => {
      const own = slow.filter((request) => request.place === place).map((request) => request.took);
      return own.length ? Math.max(...own) : null;
    });
    // The nearest to the cursor by at most a hundredth of the width.
    const openSlow = (x) => {
      const place = placeOf(x * scale + 1e-9);
      const near = slow.filter((request) => Math.abs(request.place - place) <= t.start.length / 100)
        .sort((a, b) => Math.abs(a.place - place) - Math.abs(b.place - place) || b.took - a.took);
      if (!near.length) return;
      const found = document.getElementById("late-" + near[0].i);
      for (const other of found.parentElement.querySelectorAll("details")) other.open = other === found;
      found.scrollIntoView({ block: "center" });
      found.querySelector("summary").focus({ preventScroll: true });
    };
    const both = t.read_mean.some((v) => v != null) && t.write_mean.some((v) => v != null);

    chart("latency", {
      labels: ["simulated time", "response time"], name: "Mean and longest response time over time, with collection",
      columns: columns(t.gc_share, t.max, t.mean, ...(slow.length ? [dots] : []), ...(both ? [t.read_mean, t.write_mean] : [])),
      series: [
        gc(), line("Max", "--max", us, { width: 0.8 }), line("Mean", "--all", us),
        ...(slow.length ? [line("Slowest requests", "--gc", us, { width: 0, dots: true, points: { show: true, size: 8, fill: css("--gc"), stroke: css("--panel"), width: 1 } })] : []),
        ...(both ? [line("Read mean", "--read", us, { show: false }), line("Write mean", "--write", us, { show: false })] : []),
      ],
      bands: [{ between: [1, 2], colour: "--max" }], pick: openSlow,
      coarse: coarsened(xs, average(t.gc_share), largest(t.max), average(t.mean, t.requests), ...(slow.length ? [largest(dots)] : []),
        ...(both ? [average(t.read_mean, t.reads), average(t.write_mean, t.writes)] : [])),
      height: medium, sync: "time", at,
      scales: { x: time, y: { distr: 3, range: logRange }, gc: gcScale },
      x: x(), y: axis({ size: 64, filter: logLabels, values: tick(shortUs) }),
    });
    chart("bandwidth", {
      labels: ["simulated time", "MiB/s"], name: "Bandwidth over time, with collection",
      columns: columns(t.gc_share, t.read_mib_s, t.write_mib_s),
      coarse: coarsened(xs, average(t.gc_share), average(t.read_mib_s), average(t.write_mib_s)),
      series: [
        gc(), line("Read", "--read", (v) => plain(v) + " MiB/s"), line("Write", "--write", (v) => plain(v) + " MiB/s"),
      ],
      height: medium, sync: "time", at,
      scales: { x: time, y: { range: fromZero }, gc: gcScale },
      x: x(), y: axis({ size: 64, values: tick(short) }),
    });
    const flows = data.flow_times;
    if (flows.length) {
      const each = (key, more) => flows.map((flow, i) => line(flow.name + (key === "max" ? ", longest" : ""), "--s" + (i + 1), key === "mib_s" ? (v) => plain(v) + " MiB/s" : us, more));
      chart("flow-latency", {
        labels: ["simulated time", "response time"], name: "Mean response time of each flow over time",
        columns: columns(...flows.map((flow) => flow.mean), ...flows.map((flow) => flow.max)),
        coarse: coarsened(xs, ...flows.map((flow) => average(flow.mean, flow.requests)), ...flows.map((flow) => largest(flow.max))),
        series: [...each("mean"), ...each("max", { show: false, width: 0.9, dash: [3, 3] })],
        height: medium, sync: "time", at,
        scales: { x: time, y: { distr: 3, range: logRange } },
        x: x(), y: axis({ size: 64, filter: logLabels, values: tick(shortUs) }),
      });
      chart("flow-bandwidth", {
        labels: ["simulated time", "MiB/s"], name: "Bandwidth of each flow over time",
        columns: columns(...flows.map((flow) => flow.mib_s)),
        coarse: coarsened(xs, ...flows.map((flow) => average(flow.mib_s))),
        series: each("mib_s"),
        height: medium, sync: "time", at,
        scales: { x: time, y: { range: fromZero } },
        x: x(), y: axis({ size: 64, values: tick(short) }),
      });
    }
    chart("free", {
      labels: ["simulated time", "free blocks"], name: "Free blocks of a plane over time: mean and fewest",
      columns: columns(t.free_mean, t.free_min),
      series: [line("Mean", "--all", plain, thin), line("Fewest", "--max", whole, thin)],
      height: small, sync: "time", at,
      scales: { x: time, y: { range: fromZero } },
      x: x(), y: axis({ size: 46, values: tick(short) }),
    });
    chart("amplification", {
      labels: ["simulated time", "write amplification"], name: "Write amplification over time",
      columns: columns(t.amplification, t.amplification_so_far),
      series: [
        line("Per interval", "--max", plain, { ...thin, show: false }), line("So far", "--calm", plain),
      ],
      height: small, sync: "time", at,
      scales: { x: time, y: { range: (_, __, max) => [1, max > 1 ? 1 + (max - 1) * 1.08 : 2] } },
      x: x(), y: axis({ size: 46, values: tick(short) }),
    });
    if (t.pace) {
      chart("pace", {
        labels: ["simulated time", "steps a page"], name: "Steps of collections that a page of the host is charged, over time, and writes that waited for them",
        columns: columns(t.throttled, t.pace),
        series: [
          bars("Throttled writes", "--gc", "--gc-fill", whole, { scale: "throttled" }), line("Steps a page", "--all", plain),
        ],
        height: small, sync: "time", at,
        scales: { x: time, y: { range: fromZero }, throttled: { range: (_, __, max) => [0, Math.max(max, 1) * 4] } },
        x: x(), y: axis({ size: 46, values: tick(short) }),
      });
    }
    if (data.classes.length) {
      // The sum up to each class, the largest first, so that those below are drawn over it.
      const sums = [];
      data.classes.reduce((below, [, own]) => (sums.push(own.map((v, i) => v + below[i])), sums.at(-1)), xs.map(() => 0));
      const stacked = data.classes.map(([name, own], i) => {
        const colour = name === "free" ? "--line" : "--s" + (i + 1);
        return { sum: sums[i], series: line(name, colour, whole, { fill: css(colour), width: 0, filled: true, own, points: { show: false } }) };
      }).reverse();
      chart("classes", {
        labels: ["simulated time", "blocks"], name: "Blocks that each class holds over time, and free ones, stacked",
        columns: columns(...stacked.map(({ sum }) => sum)),
        series: stacked.map(({ series }) => series),
        height: medium, sync: "time", at,
        scales: { x: time, y: { range: (_, __, max) => [0, max > 0 ? max : 1] } },
        x: x(), y: axis({ size: 64, values: tick(short) }),
      });
    }
    chart("erases", {
      labels: ["simulated time", "erases"], name: "Blocks erased over time",
      columns: columns(t.erases),
      series: [bars("Erases", "--gc", "--gc", whole)],
      height: small, sync: "time", at,
      scales: { x: time, y: { range: fromZero } },
      x: x(), y: axis({ size: 46, values: tick(short) }),
    });
  }

  // Dies -------------------------------------------------------------------------------------------

  if (data.heat.labels) {
    const figure = document.getElementById("heat");
    const { labels, end } = data.heat;
    const inPercent = (part) => percent(100 * part);
    const share = (part) => inPercent(part) + " of the time";
    const measures = {
      collecting: { label: "Collecting", colour: "--gc", tell: share, format: inPercent },
      serving: { label: "Serving the host", colour: "--read", tell: share, format: inPercent },
      free: { label: "Free blocks", colour: "--calm", tell: (value) => whole(value) + " free blocks", format: whole },
    };
    const keys = figure.querySelector(".keys");
    const show = (key) => {
      const { label, colour, tell, format } = measures[key];
      const { most } = data.heat[key];
      figure.querySelectorAll(".heat, .heat-key").forEach((old) => old.remove());
      const map = heatMap({
        name: `${label}, of each die over time; the table below has the numbers of the whole run`,
        labels, cells: data.heat[key], top: most, end, colour, tell, where: figure.querySelector(".at"),
      });
      keys.after(map, heatKey(colour, "0", format(most)));
      for (const button of keys.children) button.setAttribute("aria-pressed", String(button.dataset.key === key));
    };
    for (const [key, { label }] of Object.entries(measures)) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
      button.dataset.key = key;
      button.addEventListener("click", () => show(key));
      keys.append(button);
    }
    show("collecting");
  }

  // The charts above it have just moved what the address names.
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
