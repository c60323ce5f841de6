"use strict";
{
  const formats = { time: us, factor: (v) => (v == null ? "–" : v.toFixed(3)), count: whole };
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
  const visible = () => contest().filter((scheme) =>
    scheme.setting.every((text, key) => !shown.filters.get(key) || shown.filters.get(key) === text));
  const baseline = () => contest()[Number(byId("baseline").value)] ?? contest()[0];

  // The relative change, seed by seed: its mean, and the half-width of its interval.
  function change(scheme, base, measure) {
    const [own, others] = [of(scheme, measure) ?? {}, of(base, measure) ?? {}];
    const seeds = Object.keys(own).filter((seed) => seed in others);
    if (!seeds.length || seeds.some((seed) => others[seed] === 0)) return null;
    const ratios = seeds.map((seed) => own[seed] / others[seed] - 1);
    const centre = mean(ratios);
    if (ratios.length < 2) return { centre, half: null };
    const squares = ratios.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (ratios.length - 1);
    return { centre, half: data.t[ratios.length] * Math.sqrt(squares / ratios.length) };
  }
  const perCent = (share) => (100 * share >= 100 ? Math.round(100 * share).toLocaleString("en-US") : (100 * share).toFixed(1));
  const changeText = ({ centre, half }) =>
    (centre < 0 ? "−" : "+") + perCent(Math.abs(centre)) + (half == null ? "" : " ±" + perCent(half)) + " %";

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
      });
    });
    if (data.loads.length > 1) {
      add(data.pick, data.loads, (select) => openLoad(Number(select.value)), { id: "load" });
    }
    byId("measure").append(...data.measures.map((m) => element("option", {}, m.label)));
    byId("measure").value = data.headline;
    byId("measure").addEventListener("change", drawAllLoads);
    for (const [id, chosen] of [["across", "erases"], ["up", "p99.9"]]) {
      const options = data.measures.map((m) => element("option", {}, m.label));
      byId(id).append(...options);
      byId(id).value = chosen;
      byId(id).addEventListener("change", drawPoints);
    }
    byId("baseline").addEventListener("change", draw);
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function offerBaselines() {
    const options = contest().map((scheme, i) => element("option", { value: i }, scheme.name));
    byId("baseline").replaceChildren(...options);
    byId("baseline").value = Math.max(contest().findIndex((scheme) => scheme.baseline), 0);
  }

  // Few are ticked all; of many the baseline and those that are first in the headline.
  function tickFirst() {
    const headline = data.measures.find((m) => m.label === data.headline);
    const place = (scheme) => value(scheme, headline) ?? Infinity;
    const best = contest().length <= 8 ? contest() : contest().slice().sort((a, b) => place(a) - place(b)).slice(0, 5);
    shown.ticked = new Set([baseline(), ...best]);
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
      groups = loads.map(({ name, load }, i) => ({ name, bars: each[i].map((logs) => multipleOf(Object.values(logs ?? {}))), open: () => openLoad(load) }));
      groups.push({ name: "geometric mean", bars: schemes.map((_, i) => multipleOf(together(each.map((own) => own[i])) ?? [])) });
    } else {
      groups = data.measures.map((m) => ({ name: m.label, bars: bars(shown.load, m).map((logs) => multipleOf(Object.values(logs ?? {}))) }))
        .filter((group) => group.bars.some(Boolean));
    }
    byId("all-loads-figure").append(barsFigure({
      groups, schemes: schemes.map((scheme) => ({ name: scheme.name, isBase: scheme.key === base.key })), apart: loads.length > 1,
      name: loads.length > 1 ? `${measure.label} of ${schemes.length} schemes under ${loads.length} loads, times the baseline's` : `${schemes.length} schemes, times the baseline's numbers`,
      axisName: (loads.length > 1 ? measure.label + ", " : "") + "times the baseline's",
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

  function drawTable() {
    const base = baseline();
    const rows = visible();
    if (shown.sort) {
      const place = (scheme) => value(scheme, shown.sort) ?? Infinity;
      rows.sort((a, b) => (place(a) - place(b)) * (shown.descending ? -1 : 1));
    }
    const extremes = new Map(data.measures.map((measure) => {
      const found = rows.map((scheme) => value(scheme, measure)).filter((v) => v != null);
      return [measure, [Math.min(...found), Math.max(...found)]];
    }));
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
        byId("contest").querySelector(`th[data-key="${measure.label}"] button`).focus();
      });
      head.append(element("th", { scope: "col", "aria-sort": order, "data-key": measure.label }, button));
    }
    const body = rows.map((scheme) => row(scheme, base, extremes));
    byId("contest").replaceChildren(
      element("caption", { class: "hidden" }, "Schemes and what they give"),
      element("thead", {}, head), element("tbody", {}, ...body));
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
    for (const label of scheme.findings) name.append(element("small", { class: "finding-label" }, label));
    return element("tr", {}, element("td", {}, tick), name,
      ...data.measures.map((measure) => cell(scheme, base, measure, extremes.get(measure))));
  }

  function cell(scheme, base, measure, [least, most]) {
    const own = value(scheme, measure);
    const made = element("td", {}, formats[measure.format](own));
    if (own != null && least < most) {
      if (own === least) made.classList.add("best");
      if (own === most) made.classList.add("worst");
    }
    const moved = scheme === base ? null : change(scheme, base, measure);
    if (moved) {
      const isSure = moved.half == null || Math.abs(moved.centre) > moved.half;
      made.append(element("small", isSure ? {} : { class: "unsure" }, changeText(moved)));
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
    const time = (id, name, key, format, y, more) => {
      clear(byId(id));
      if (!schemes.length) return;
      chart(id, {
        name,
        columns: Object.assign([data.starts, ...schemes.map((scheme) => scheme.time[key])], { end: data.end }),
        series: schemes.map((scheme, i) => line(scheme.name, colour(i), format, more)),
        height: medium, sync: "time", at: (seconds) => us(1e6 * seconds),
        scales: { x: { time: false }, y: { ...y } },
        x: axis({ size: 30, values: tick((seconds) => shortUs(1e6 * seconds)), space: 70 }),
        y: axis({ size: 64, ...(key === "max" ? { filter: logLabels, values: tick(shortUs) } : { values: tick(short) }) }),
      });
    };
    time("longest", "Longest response time of each interval", "max", us, { distr: 3, range: logRange }, {});
    time("collected", "Collections of each interval", "collections", whole, { range: fromZero }, { width: 1.1 });
    const where = byId("heats").querySelector(".at");
    where.textContent = "";
    const mapped = schemes.filter((scheme) => scheme.time.heat).slice(0, mostMaps);
    const top = Math.max(...mapped.map((scheme) => scheme.time.heat.collecting.most), 0);
    const maps = mapped.map((scheme) => {
      const { labels, collecting, end, mean } = scheme.time.heat;
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

  // One measure against another -----------------------------------------------------------------------

  const spread = (values) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const margin = 0.06 * (most - least) || 0.1 * Math.abs(most) || 1;
    return [Math.max(least - margin, least >= 0 ? 0 : -Infinity), most + margin];
  };
  const steps = ([least, most]) => [0, 0.25, 0.5, 0.75, 1].map((part) => least + part * (most - least));

  function drawPoints() {
    const [across, up] = ["across", "up"].map((id) => data.measures.find((m) => m.label === byId(id).value));
    const points = visible()
      .map((scheme) => ({ scheme, x: value(scheme, across), y: value(scheme, up) }))
      .filter((point) => point.x != null && point.y != null);
    if (!points.length) return byId("points").replaceChildren();
    const width = Math.max(byId("points").clientWidth, 240), height = tall();
    const box = { left: 72, right: width - 16, top: 12, bottom: height - 46 };
    const [xs, ys] = [spread(points.map((p) => p.x)), spread(points.map((p) => p.y))];
    const px = (v) => box.left + ((v - xs[0]) / (xs[1] - xs[0])) * (box.right - box.left);
    const py = (v) => box.bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (box.bottom - box.top);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `${up.label} against ${across.label} of ${points.length} schemes` });
    for (const v of steps(ys)) {
      picture.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: py(v), y2: py(v) }),
        svg("text", { x: box.left - 8, y: py(v) + 4, "text-anchor": "end" }, formats[up.format](v)));
    }
    for (const v of steps(xs).filter((_, i) => !narrow() || i % 2 === 0)) {
      picture.append(svg("text", { x: px(v), y: box.bottom + 18, "text-anchor": "middle" }, formats[across.format](v)));
    }
    picture.append(svg("text", { x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" }, across.label));
    const front = points.filter((p) => !points.some((q) =>
      q.x <= p.x && q.y <= p.y && (q.x < p.x || q.y < p.y))).sort((a, b) => a.x - b.x || a.y - b.y);
    picture.append(svg("polyline", { class: "front", points: front.map((p) => `${px(p.x)},${py(p.y)}`).join(" ") }));
    const ticked = drawn();
    for (const p of points) {
      const place = ticked.indexOf(p.scheme);
      const dot = svg("circle", { cx: px(p.x), cy: py(p.y), r: place >= 0 ? 6 : 4, tabindex: 0, role: "img",
        "aria-label": `${p.scheme.name}: ${across.label} ${formats[across.format](p.x)}, ${up.label} ${formats[up.format](p.y)}`,
        style: place >= 0 ? `fill: var(${colour(place)})` : "" });
      dot.append(svg("title", {}, dot.getAttribute("aria-label")));
      picture.append(dot);
    }
    byId("points").replaceChildren(picture);
  }

  // ---------------------------------------------------------------------------------------------------

  function draw() {
    drawTable();
    drawTicked();
  }

  function drawTicked() {
    charts.length = 0;
    drawAllLoads();
    drawCurves();
    drawPoints();
    drawTimes();
  }

  choices();
  offerBaselines();
  tickFirst();
  draw();
  let before = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    drawAllLoads();
    drawPoints();
  });
}
