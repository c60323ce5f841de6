"use strict";
{
  const formats = { time: us, factor: (v) => (v == null ? "–" : v.toFixed(3)), count: whole, number: (v) => (v == null ? "–" : (Math.abs(v) < 100 ? Number(v.toPrecision(3)) : Math.round(v)).toLocaleString("en-US")) };
  const lessIsBetter = data.measures.filter((m) => !m.more);
  const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const byId = (id) => document.getElementById(id);
  const element = (name, attributes = {}, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };

  // What is shown: a load, the values of each key that are not filtered away, an order, ticks. ------

  const shown = { load: 0, filters: new Map(), sort: null, descending: false, ticked: new Set() };
  const of = (scheme, measure) => scheme.values[measure.label];
  const value = (scheme, measure) => {
    const found = Object.values(of(scheme, measure) ?? {});
    return found.length ? mean(found) : null;
  };
  const contest = () => data.schemes.filter((scheme) => scheme.load === shown.load);
  const isVisible = (scheme) => scheme.setting.every((text, key) => !shown.filters.get(key) || shown.filters.get(key) === text);
  const visible = () => contest().filter(isVisible);
  const baseline = () => contest()[Number(byId("baseline").value)] ?? contest()[0];

  const ratio = (scheme, base, measure) => (scheme === base ? null : ratioOf(logRatios(of(scheme, measure), of(base, measure))));

  // Choices -------------------------------------------------------------------------------------------

  function choices() {
    const form = byId("choices");
    const add = (label, options, changed, attributes = {}) => {
      const select = element("select", attributes, ...options.map((text, i) => element("option", { value: i }, text)));
      select.addEventListener("change", () => changed(select));
      form.prepend(element("label", {}, label + " ", select));
    };
    [...data.keys.entries()].reverse().forEach(([index, key]) => {
      const values = [...new Set(data.schemes.map((scheme) => scheme.setting[index]))];
      if (values.length < 2) return;
      add(key, ["all", ...values], (select) => {
        shown.filters.set(index, select.value === "0" ? null : values[Number(select.value) - 1]);
        draw();
      }, { "data-key": key });
    });
    if (data.loads.length > 1) {
      add(data.pick, data.loads, (select) => openLoad(Number(select.value)), { id: "load" });
    }
    byId("measure").append(...lessIsBetter.map((m) => element("option", {}, m.label)));
    byId("measure").value = data.headline;
    for (const id of ["measure", "log-bars"]) byId(id).addEventListener("input", () => { if (id === "measure") suitBars(); drawAllLoads(); remember(); });
    byId("baseline").addEventListener("change", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function offerBaselines() {
    const options = contest().map((scheme, i) => element("option", { value: i }, scheme.name));
    byId("baseline").replaceChildren(...options);
    byId("baseline").value = Math.max(contest().findIndex((scheme) => scheme.baseline), 0);
  }

  // Few are ticked all; of many the baseline and those that are first in the headline: the best of each kind before the
  // second of any, where those that differ in numbers only are of one kind.
  function tickFirst() {
    if (contest().length <= palette.length) {
      shown.ticked = new Set(contest());
      return;
    }
    const headline = data.measures.find((m) => m.label === data.headline);
    // Those that are not ranked come last.
    const isLast = (scheme) => !isRanked(scheme, headline);
    const sorted = contest().slice().sort((a, b) => isLast(a) - isLast(b) || value(a, headline) - value(b, headline));
    const kinds = new Set();
    const isFirst = (scheme) => {
      const kind = JSON.stringify(scheme.at.filter((_, i) => data.axes[i].kind === "name"));
      return !kinds.has(kind) && kinds.add(kind);
    };
    const first = sorted.filter(isFirst);
    shown.ticked = new Set([baseline(), ...[...first, ...sorted.filter((scheme) => !first.includes(scheme))].slice(0, 5)]);
  }

  // All loads at once ---------------------------------------------------------------------------------

  const isWhole = (load) => data.flows[load] == null;
  const sameScheme = (scheme, load) => data.schemes.find((other) => other.load === load && other.key === scheme.key);

  function drawAllLoads() {
    const schemes = drawn().slice(0, palette.length);
    const base = baseline();
    byId("all-loads-figure").replaceChildren();
    if (!schemes.length) return;
    const loads = data.loads.map((name, load) => ({ name, load })).filter(({ load }) => isWhole(load));
    const measure = data.measures.find((m) => m.label === byId("measure").value) ?? data.measures[0];
    const bars = (load, of_) => schemes.map((scheme) => logRatios(
      of(sameScheme(scheme, load) ?? { values: {} }, of_), of(sameScheme(base, load) ?? { values: {} }, of_)));
    let groups;
    if (loads.length > 1) {
      const each = loads.map(({ load }) => bars(load, measure));
      groups = loads.map(({ name, load }, i) => ({ name, bars: each[i].map(ratioOf), open: () => openLoad(load) }));
      groups.push({ name: "geometric mean", bars: schemes.map((_, i) => ratioOf(together(each.map((own) => own[i])))) });
    } else {
      groups = lessIsBetter.map((m) => ({ name: m.label, bars: bars(shown.load, m).map(ratioOf) }))
        .filter((group) => group.bars.some((m) => m != null && m !== "zero"));
    }
    byId("all-loads-figure").append(barsFigure({
      log: byId("log-bars").checked, groups, schemes: schemes.map((scheme) => ({ name: scheme.name, isBase: scheme.key === base.key })), apart: loads.length > 1,
      name: loads.length > 1 ? `${measure.label} of ${schemes.length} schemes under ${loads.length} loads, ratio to the baseline` : `${schemes.length} schemes, ratio to the baseline`,
      axisName: (loads.length > 1 ? measure.label + ", " : "") + "ratio to the baseline",
      width: Math.max(byId("all-loads-figure").clientWidth, 240),
    }));
  }

  function openLoad(load) {
    shown.load = load;
    const select = byId("load");
    if (select) select.value = load;
    offerBaselines();
    tickFirst();
    draw();
  }

  // The table -----------------------------------------------------------------------------------------

  function ordered() {
    const place = (scheme) => value(scheme, shown.sort) ?? Infinity;
    const rows = visible();
    return shown.sort ? rows.sort((a, b) => (place(a) - place(b)) * (shown.descending ? -1 : 1)) : rows;
  }

  function drawTable() {
    const base = baseline();
    const rows = ordered();
    const extremes = new Map(data.measures.map((measure) => [measure, extremesOf(rows, measure)]));
    const head = element("tr", {}, element("td"), element("th", { scope: "col" }, "scheme"));
    for (const measure of data.measures) {
      const button = element("button", { type: "button", title: "Sort by " + measure.label }, measure.label);
      const isSorted = shown.sort === measure;
      const order = isSorted ? (shown.descending ? "descending" : "ascending") : "none";
      if (isSorted) button.append(shown.descending ? " ↓" : " ↑");
      button.addEventListener("click", () => {
        shown.descending = isSorted && !shown.descending;
        shown.sort = measure;
        drawTable();
        remember();
        byId("contest").querySelector(`th[data-key="${measure.label}"] button`).focus();
      });
      head.append(element("th", { scope: "col", "aria-sort": order, "data-key": measure.label }, button));
    }
    const body = rows.map((scheme) => row(scheme, base, extremes));
    byId("contest").replaceChildren(
      element("caption", { class: "hidden" }, "Schemes and what they give"),
      element("thead", {}, head), element("tbody", {}, ...body));
  }

  // The best and the worst by the geometric mean, among those that can be ranked; none where a run has zero.
  const place = (scheme, measure) => mean(Object.values(of(scheme, measure)).map(Math.log));
  const isRanked = (scheme, measure) => !scheme.unranked.includes(measure.label) && value(scheme, measure) != null;
  function extremesOf(rows, measure) {
    const found = rows.filter((scheme) => isRanked(scheme, measure)).map((scheme) => place(scheme, measure));
    if (!found.length || found.includes(-Infinity)) return [null, null];
    const ends = [Math.min(...found), Math.max(...found)];
    return measure.more ? ends.reverse() : ends;
  }

  function row(scheme, base, extremes) {
    const tick = element("input", { type: "checkbox", "aria-label": "Draw " + scheme.name });
    tick.checked = shown.ticked.has(scheme);
    tick.addEventListener("change", () => {
      if (tick.checked) shown.ticked.add(scheme); else shown.ticked.delete(scheme);
      drawTicked();
    });
    const name = element("th", { scope: "row" }, scheme.name);
    if (scheme === base) name.append(element("small", {}, "baseline"));
    const linked = scheme.runs.map((run) => element("a", { href: `runs/${data.runs[run]}/report.html`, title: "The page of this run" }, String(data.seeds[run])));
    const why = element("a", { class: "why", href: `runs/${data.runs[slowestRun(scheme)]}/why/${page}#late`, title: "What the slowest requests of this scheme's slowest run waited for" }, "why late?");
    name.append(element("small", {}, linked.length > 1 ? "seeds " : "seed ", ...linked, why));
    for (const label of scheme.findings) name.append(element("small", { class: "finding-label" }, label));
    return element("tr", {}, element("td", {}, tick), name,
      ...data.measures.map((measure) => cell(scheme, base, measure, extremes.get(measure))));
  }

  const page = "report.html";
  // Of those of its seeds, the run that holds the longest response time.
  function slowestRun(scheme) {
    const longest = scheme.values.max ?? {};
    const place = (run) => longest[data.seeds[run]] ?? 0;
    return scheme.runs.reduce((best, run) => (place(run) > place(best) ? run : best));
  }

  function cell(scheme, base, measure, [best, worst]) {
    const own = value(scheme, measure);
    const made = element("td", {}, formats[measure.format](own));
    if (best !== worst && isRanked(scheme, measure)) {
      if (place(scheme, measure) === best) made.classList.add("best");
      if (place(scheme, measure) === worst) made.classList.add("worst");
    }
    const found = own == null ? null : ratio(scheme, base, measure);
    if (found) {
      const lines = [marked(found), intervalSaid(found)].filter(Boolean);
      made.append(...lines.map((text) => element("small", found !== "zero" && isInDoubt(found) ? { class: "unsure" } : {}, text)));
    }
    return made;
  }

  // Percentiles ---------------------------------------------------------------------------------------

  const drawn = () => visible().filter((scheme) => shown.ticked.has(scheme));
  const colour = (index) => palette[index % palette.length];
  const clear = (figure) => figure.querySelectorAll(".plot, .keys, .at").forEach((old) => old.remove());
  function drawCurves() {
    const figure = byId("curves");
    clear(figure);
    const schemes = drawn().filter((scheme) => scheme.curve.length);
    if (!schemes.length) return;
    chart("curves", {
      name: "Response time at each percentile",
      columns: [data.tail, ...schemes.map((scheme) => scheme.curve)],
      series: schemes.map((scheme, i) => line(scheme.name, colour(i), us, { points: { show: false } })),
      height: tall, ...tails(),
    });
  }

  // Over time -----------------------------------------------------------------------------------------

  function drawTimes() {
    const schemes = drawn().filter((scheme) => scheme.time);
    const end = data.ends[shown.load];
    const starts = Array.from({ length: data.points }, (_, i) => (i * end) / data.points);
    const time = (id, name, key, up, format, y, more) => {
      clear(byId(id));
      if (!schemes.length) return;
      chart(id, {
        name, labels: ["simulated time", up],
        columns: Object.assign([starts, ...schemes.map((scheme) => scheme.time[key])], { end }),
        series: schemes.map((scheme, i) => line(scheme.name, colour(i), format, more)),
        height: medium, sync: "time", at: (seconds) => us(1e6 * seconds),
        scales: {
          x: { time: false, range: (_, min, max) => (min === starts[0] && max === starts.at(-1) ? [0, end] : [min, max]) }, y: { ...y },
        },
        x: axis({ size: 30, values: tick((seconds) => shortUs(1e6 * seconds)), space: 70 }),
        y: axis({ size: 64, ...(key === "max" ? { filter: logLabels, values: tick(shortUs) } : { values: tick(short) }) }),
      });
    };
    time("longest", "Longest response time of each interval", "max", "longest response time", us, { distr: 3, range: logRange }, {});
    time("collected", "Collections of each interval", "collections", "collections", whole, { range: fromZero }, { width: 1.1 });
    const where = byId("heats").querySelector(".at");
    where.textContent = "";
    const mapped = schemes.filter((scheme) => scheme.time.heat).slice(0, mostMaps);
    const top = Math.max(...mapped.map((scheme) => scheme.time.heat.collecting.most), 0);
    const maps = mapped.map((scheme) => {
      const { labels, collecting, mean } = scheme.time.heat;
      const title = element("p", { class: "heat-name" }, scheme.name, element("span", {}, percent(100 * mean) + " of die time"));
      return element("div", {}, title, heatMap({
        name: `${scheme.name}: dies collect ${percent(100 * mean)} of the time`, labels, cells: collecting, top, end, where,
        colour: "--gc", tell: (share) => percent(100 * share) + " collecting",
      }));
    });
    byId("heats").hidden = !maps.length;
    byId("maps").replaceChildren(...maps, ...(maps.length ? [heatKey("--gc", "0", percent(100 * top))] : []));
  }
  // More would be a page of their own.
  const mostMaps = 8;

  // Any key or result against another -----------------------------------------------------------------

  const everyAxis = axesOf(data.axes, data.measures, data.columns);
  const keys = everyAxis.filter((axis_) => axis_.isKey);
  const axisBy = (id) => everyAxis.find((axis_) => axis_.id === byId(id).value) ?? null;

  function offerAxes() {
    const group = (title, list) => element("optgroup", { label: title }, ...list.map((a) => element("option", { value: a.id }, a.name)));
    const results = everyAxis.filter((a) => !a.isKey);
    const grouped = () => [
      ...(keys.length ? [group("Keys", keys)] : []), group("Main results", results.filter((a) => a.isMain)),
      ...(results.some((a) => !a.isMain) ? [group("All results", results.filter((a) => !a.isMain))] : [])];
    const number = keys.filter((key) => key.kind !== "name")
      .sort((a, b) => Number(a.load) - Number(b.load) || valuesOf(b) - valuesOf(a)).find((key) => valuesOf(key) > 2);
    const column = (name) => data.measures.find((m) => m.label === name).column;
    byId("across").append(...grouped());
    byId("across").value = number ? number.id : column("erases");
    const numbers = keys.filter((key) => key.kind !== "name");
    byId("up").append(...grouped().slice(keys.length ? 1 : 0), ...(numbers.length > 1 ? [group("Keys: a heat map", numbers)] : []));
    byId("up").value = column(data.headline);
    byId("colour").append(element("option", { value: "" }, "scheme"), ...grouped());
    byId("facet").append(element("option", { value: "" }, "nothing"), ...keys.filter((key) => valuesOf(key) <= 16).map((a) => element("option", { value: a.id }, a.name)));
    for (const id of ["across", "up", "colour", "facet", "log-x", "log-y", "bound"]) byId(id).addEventListener("input", () => { suitScale(id); drawPoints(); remember(); });
    for (const id of ["across", "up"]) suitScale(id);
  }
  // A new axis is logarithmic where its values differ by more than a factor of 10, and there is no zero.
  function isWide(values) {
    const known = values.filter((v) => v != null);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    return least > 0 && most > 10 * least;
  }
  function suitScale(id) {
    const [box, axis_] = [{ across: "log-x", up: "log-y" }[id], axisBy(id)];
    if (box && axis_) byId(box).checked = axis_.kind !== "name" && isWide(data.schemes.map((scheme) => estimateOf(axis_.of(scheme))?.mean));
  }
  function suitBars() {
    const one = data.loads.filter((_, load) => isWhole(load)).length === 1;
    const measures = one ? lessIsBetter : data.measures.filter((m) => m.label === byId("measure").value);
    const ratio = (scheme, measure) => value(scheme, measure) / value(sameScheme(baseline(), scheme.load) ?? scheme, measure);
    const whole = data.schemes.filter((scheme) => isWhole(scheme.load));
    byId("log-bars").checked = isWide(measures.flatMap((m) => whole.filter((scheme) => value(scheme, m) != null).map((scheme) => ratio(scheme, m))));
  }
  const valuesOf = (key) => new Set(data.schemes.map((scheme) => scheme.at[key.place])).size;

  function drawPoints() {
    const [x, y, colour, facet] = ["across", "up", "colour", "facet"].map(axisBy);
    const overLoads = [x, y, colour, facet].some((axis_) => axis_?.load);
    const schemes = data.schemes.filter((scheme) => isVisible(scheme) && (overLoads ? isWhole(scheme.load) : scheme.load === shown.load));
    const drawnNow = new Set(drawn().map((scheme) => scheme.key));
    const headline = everyAxis.find((own) => own.isMain && own.name === data.headline);
    const made = isMap(x, y) ? mapFigure({
      schemes, keys, x, y, value: colour && !colour.isKey ? colour : headline, width: Math.max(byId("points").clientWidth, 240),
    }) : x && y && axesFigure({
      schemes, keys, x, y, colour, facet, logX: byId("log-x").checked && x.kind !== "name", logY: byId("log-y").checked,
      bound: boundOf(byId("bound").value, y), width: Math.max(byId("points").clientWidth, 240),
      ticked: overLoads ? schemes.filter((scheme) => drawnNow.has(scheme.key)) : drawn(),
    });
    byId("points").replaceChildren(...(made ? [made.picture] : ["Nothing to draw: these have no values."]));
    byId("told").replaceChildren(...(made?.told ?? []).map((text) => element("li", {}, text)));
    byId("bound-label").hidden = !x || x.kind === "name" || !x.isKey;
  }
  // ---------------------------------------------------------------------------------------------------

  // What is chosen is in the address: a link to the page leads to what its sender saw. -------------------

  const boxes = ["measure", "across", "up", "colour", "facet", "bound"];
  const switches = ["log-bars", "log-x", "log-y"];
  let untouched = null;

  function chosen() {
    const found = new URLSearchParams();
    found.set("load", data.loads[shown.load]);
    found.set("baseline", baseline().name);
    data.keys.forEach((key, i) => { if (shown.filters.get(i)) found.set("only." + key, shown.filters.get(i)); });
    if (shown.sort) found.set("sort", (shown.descending ? "-" : "") + shown.sort.label);
    found.set("drawn", contest().flatMap((scheme, i) => (shown.ticked.has(scheme) ? [i] : [])).join("."));
    for (const id of boxes) found.set(id, byId(id).value);
    for (const id of switches) found.set(id, byId(id).checked ? "1" : "");
    return found;
  }

  function remember() {
    if (!untouched) return;
    const found = chosen();
    for (const [key, text] of [...found]) if (untouched.get(key) === text) found.delete(key);
    const text = found.toString();
    if (text !== location.hash.slice(1) && (text || location.hash.includes("="))) history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }

  function restore() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (!location.hash.includes("=")) return;
    const pick = (id, text) => { const own = [...byId(id).options].find((o) => o.value === text || o.text === text); if (own) byId(id).value = own.value; };
    const load = data.loads.indexOf(wanted.get("load"));
    if (load >= 0) {
      shown.load = load;
      if (byId("load")) byId("load").value = load;
      offerBaselines();
      tickFirst();
    }
    if (wanted.has("baseline")) pick("baseline", wanted.get("baseline"));
    data.keys.forEach((key, i) => {
      const text = wanted.get("only." + key);
      const select = document.querySelector(`select[data-key="${CSS.escape(key)}"]`);
      if (!text || !select) return;
      const place = [...select.options].findIndex((o) => o.text === text);
      if (place > 0) { select.value = place; shown.filters.set(i, text); }
    });
    const sort = wanted.get("sort");
    if (sort) {
      shown.descending = sort.startsWith("-");
      shown.sort = data.measures.find((m) => m.label === sort.replace(/^-/, "")) ?? null;
    }
    if (wanted.has("drawn")) shown.ticked = new Set(wanted.get("drawn").split(".").filter(Boolean).map((i) => contest()[Number(i)]).filter(Boolean));
    for (const id of boxes) if (wanted.has(id)) byId(id).tagName === "SELECT" ? pick(id, wanted.get(id)) : (byId(id).value = wanted.get(id));
    for (const id of switches) if (wanted.has(id)) byId(id).checked = wanted.get(id) === "1";
  }

  // All that the table shows, as numbers: times in microseconds, ratios with the ends of their intervals, and as said.
  tableSources.set("contest", () => {
    const base = baseline();
    const unit = (measure) => measure.label + (measure.format === "time" ? " (µs)" : "");
    const head = ["scheme", ...data.keys, ...data.measures.flatMap((m) => [unit(m), ...["±", "ratio", "ratio low", "ratio high", "ratio as said"].map((name) => `${m.label} ${name}`)])];
    const rows = ordered().map((scheme) => [scheme.name, ...scheme.setting, ...data.measures.flatMap((m) => {
      const found = estimateOf(Object.values(of(scheme, m) ?? {}));
      const own = ratio(scheme, base, m);
      const told = own == null ? null : own === "zero" ? marked(own) : ratioSentence(own);
      return [found?.mean ?? null, found && !found.single ? found.high - found.mean : null, own?.ratio ?? null, own?.low ?? null, own?.high ?? null, told];
    })]);
    return [head, ...rows];
  });

  function draw() {
    drawTable();
    drawTicked();
  }

  function drawTicked() {
    charts.length = 0;
    remember();
    drawAllLoads();
    drawCurves();
    drawPoints();
    drawTimes();
  }

  choices();
  offerAxes();
  offerBaselines();
  tickFirst();
  suitBars();
  untouched = chosen();
  restore();
  draw();
  addEventListener("hashchange", () => { restore(); draw(); });
  let before = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    drawAllLoads();
    drawPoints();
  });
}
