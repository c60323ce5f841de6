"use strict";
// Any key or result against any other: lines with bands over a key that is a number, points elsewhere; the knee of a
// line, and where a bound is met.

const bytes = (v) => {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; v >= 1024 && i < names.length - 1; i++) v /= 1024;
  return short(v) + " " + names[i];
};
const shapes = {
  time: { format: us, tick: shortUs }, size: { format: bytes, tick: bytes }, factor: { format: (v) => digits(v, 4), tick: short },
  number: { format: (v) => short(Number.isInteger(v) ? v : Number(v.toPrecision(4))), tick: short }, rate: { format: short, tick: short }, throughput: { format: (v) => short(v) + " MiB/s", tick: short },
  count: { format: whole, tick: short }, name: { format: String, tick: String },
};
const shapeOf = (column) => (/_us(\.|$)/.test(column) ? "time" : "number");

// Everything that can be an axis: { id, name, isKey, kind, format, tick, of(scheme) }, `of` giving a value a run.
function axesOf(keys, measures, columns) {
  const found = keys.map((key, place) => ({
    id: key.key, name: key.name, isKey: true, load: key.load, speaks: key.speaks, kind: key.kind, place, ...shapes[key.kind], of: (scheme) => [scheme.at[place]],
  }));
  const known = Object.fromEntries(measures.map((m) => [m.column, m]));
  for (const [column, numbers] of Object.entries(columns)) {
    const kind = known[column]?.format ?? shapeOf(column);
    found.push({ id: column, name: known[column]?.label ?? column, isMain: column in known, kind, ...shapes[kind],
      // Of a flow, its own number where there is one.
      of: (scheme) => scheme.runs.map((run) => (columns[`flows.${data.flows[scheme.load]}.${column}`] ?? numbers)[run]) });
  }
  return found;
}

// Mean and 95% interval of the values that there are.
function estimateOf(values) {
  const own = values.filter((v) => v != null);
  if (!own.length) return null;
  if (typeof own[0] === "string") return { mean: own[0] };
  const centre = own.reduce((sum, v) => sum + v, 0) / own.length;
  if (own.length < 2) return { mean: centre, low: centre, high: centre, single: true };
  const squares = own.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (own.length - 1);
  const half = data.t[own.length] * Math.sqrt(squares / own.length);
  return { mean: centre, low: centre - half, high: centre + half };
}

// The knee -------------------------------------------------------------------------------------------

// Where a curve stops paying: Kneedle (Satopää, Albrecht, Irwin, Raghavan 2011) with sensitivity 1, on the means as they
// are. Returns a place, or null of a curve that goes to and fro or bends too little.
function kneeOf(xs, ys) {
  const count = xs.length;
  if (count < 5) return null;
  const unit = (values) => values.map((v) => (v - Math.min(...values)) / (Math.max(...values) - Math.min(...values)));
  if (Math.max(...ys) === Math.min(...ys)) return null;
  const rises = ys[count - 1] > ys[0];
  const [x, up] = [unit(xs), unit(ys)];
  const y = rises ? up : up.map((v) => 1 - v);
  const above = y.map((v, i) => v - x[i]);
  const sign = Math.max(...above) >= -Math.min(...above) ? 1 : -1;
  const bend = above.map((v) => sign * v);
  const top = bend.indexOf(Math.max(...bend));
  const falls = bend.slice(top + 1).some((v) => v < bend[top] - 1 / (count - 1));
  const strays = bend.some((v) => v < -0.1);
  return falls && bend[top] >= leastBend && !strays ? top : null;
}
const leastBend = 0.15;

// A bound --------------------------------------------------------------------------------------------

// Where a line goes through a value, by the straight line between two points; null if it does not, or does so twice.
function crossing(points, bound, of) {
  const holds = points.map((p) => bound.holds(of(p.y)));
  const changes = holds.slice(1).map((v, i) => v !== holds[i]);
  const place = changes.indexOf(true);
  if (place < 0 || changes.lastIndexOf(true) !== place) return null;
  const [a, b] = [points[place], points[place + 1]];
  const [ya, yb] = [of(a.y), of(b.y)];
  return { least: holds.at(-1), x: a.x + ((bound.value - ya) / (yb - ya)) * (b.x - a.x), fails: holds.at(-1) ? a : b, meets: holds.at(-1) ? b : a };
}

function boundText(line_, bound, x, y) {
  const holds = line_.points.filter((p) => bound.holds(p.y.mean));
  const name = line_.name ? line_.name + ": " : "";
  const limit = `${y.name} ${bound.word} ${y.format(bound.value)}`;
  if (!holds.length) return `${name}no ${x.name} has ${limit}.`;
  if (holds.length === line_.points.length) return `${name}every ${x.name} has ${limit}.`;
  const found = crossing(line_.points, bound, (v) => v.mean);
  if (!found) return `${name}${limit} holds at ${holds.map((p) => x.format(p.x)).join(", ")}, and not between them.`;
  const ends = ["low", "high"].map((end) => crossing(line_.points, bound, (v) => v[end])?.x);
  const interval = line_.points[0].y.single ? "" : ends.every((v) => v != null)
    ? `, 95% interval ${ends.map(x.format).sort((a, b) => parseFloat(a) - parseFloat(b)).join(" to ")}` : ", whose interval these values do not hold";
  const told = (p) => `${y.format(p.y.mean)} at ${x.format(p.x)}`;
  return `${name}the ${found.least ? "least" : "most"} ${x.name} with ${limit} is ${x.format(found.meets.x)} of those run; between ` +
    `${told(found.fails)} and ${told(found.meets)}, a straight line meets it at ${x.format(found.x)}${interval}.`;
}

// "5 ms", "< 5 ms" or "> 50,000" as y counts it: times in microseconds.
function boundOf(text, y) {
  const found = /^\s*([<>≤≥]?)=?\s*([0-9.,]+)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
  if (!found) return null;
  const number = Number(found[2].replace(/,/g, ""));
  const scale = { ns: 1e-3, us: 1, "µs": 1, ms: 1e3, s: 1e6 }[found[3]];
  if (!Number.isFinite(number)) return null;
  const value = number * (y.kind === "time" ? scale ?? 1 : 1);
  const isLower = ">≥".includes(found[1]) && found[1] !== "";
  return { value, word: isLower ? "at least" : "at most", holds: (v) => (isLower ? v >= value : v <= value) };
}

// The figure -----------------------------------------------------------------------------------------

const ramp = (part) => `color-mix(in srgb, var(--s2) ${Math.round(100 * part)}%, var(--s1))`;

// What colour stands for: of names, and of few numbers, one each; of many numbers a ramp.
function colourScale(colour, points) {
  if (!colour) return null;
  const of = (p) => estimateOf(colour.of(p.scheme))?.mean;
  const values = [...new Set(points.map(of))].filter((v) => v != null);
  const isNumber = colour.kind !== "name";
  if (isNumber) values.sort((a, b) => a - b);
  if (!isNumber || (colour.isKey && values.length <= palette.length)) {
    const shown = values.slice(0, palette.length);
    return { of: (p) => (shown.includes(of(p)) ? `var(${palette[shown.indexOf(of(p))]})` : "var(--faint)"),
      entries: [...shown.map((v, i) => ({ name: `${colour.speaks ? "" : colour.name + " "}${colour.format(v)}`, colour: palette[i] })),
        ...(values.length > shown.length ? [{ name: `${values.length - shown.length} others`, colour: "--faint" }] : [])] };
  }
  const [least, most] = [values[0], values.at(-1)];
  return { of: (p) => (of(p) == null ? "var(--faint)" : ramp((of(p) - least) / (most - least || 1))),
    entries: [{ name: `${colour.name} ${colour.format(least)}`, colour: "--s1" }, { name: colour.format(most), colour: "--s2" }] };
}

// Points of schemes as lines over x: all that differ in nothing but x, and in what is drawn apart.
function linesOf(points, x, keys, facet) {
  const others = keys.filter((key) => key !== x);
  const differs = others.filter((key) => key !== facet && new Set(points.map((p) => p.scheme.at[key.place])).size > 1);
  const groups = new Map();
  for (const p of points) {
    const id = JSON.stringify(others.map((key) => p.scheme.at[key.place]));
    if (!groups.has(id)) {
      const named = differs.filter((key) => p.scheme.at[key.place] != null)
        .map((key) => (key.speaks ? "" : key.name + " ") + key.format(p.scheme.at[key.place]));
      groups.set(id, { name: named.join(", "), points: [] });
    }
    groups.get(id).points.push({ scheme: p.scheme, x: p.x.mean, y: p.y });
  }
  return [...groups.values()].map((own) => ({ ...own, points: own.points.sort((a, b) => a.x - b.x) }));
}

function axesFigure({ schemes, keys, x, y, colour, facet, logX, logY, bound, width, ticked }) {
  const points = schemes.map((scheme) => ({ scheme, x: estimateOf(x.of(scheme)), y: estimateOf(y.of(scheme)) })).filter((p) => p.x && p.y);
  if (!points.length || y.kind === "name") return null;
  const isLine = x.isKey && x.kind !== "name";
  const isNamed = x.kind === "name";
  const lines = isLine ? linesOf(points, x, keys, facet) : [];
  const scaled = colourScale(colour, points);
  // A rest of the scheme has the same colour in every panel.
  const rests = [...new Set(lines.map((own) => own.name))];
  const lineColour = (own) => (scaled ? scaled.of(own.points[0]) : `var(${palette[rests.indexOf(own.name)] ?? "--faint"})`);
  const pointColour = (p) => (scaled ? scaled.of(p) : isNamed ? "var(--s1)" : ticked.indexOf(p.scheme) >= 0 ? `var(${palette[ticked.indexOf(p.scheme) % palette.length]})` : "var(--faint)");
  const entries = scaled ? scaled.entries : isLine && rests.length > 1
    ? [...rests.slice(0, palette.length).map((rest, i) => ({ name: rest, colour: palette[i] })),
      ...(rests.length > palette.length ? [{ name: `${rests.length - palette.length} others`, colour: "--faint" }] : [])]
    : !isLine && !isNamed ? ticked.slice(0, palette.length).map((scheme, i) => ({ name: scheme.name, colour: palette[i] })) : [];

  const values = facet ? [...new Set(points.map((p) => p.scheme.at[facet.place]))] : [null];
  const across = Math.max(1, Math.min(values.length, Math.floor(width / 300), 4));
  const rows = Math.ceil(values.length / across);
  const keysHeight = entries.length ? legendHeight(width - 20, entries) + 6 : 0;
  // Names of a horizontal axis are slanted where they have no room, and then need some below.
  const names = isNamed ? [...new Set(points.map((p) => p.x.mean))] : [];
  const isSlanted = names.some((text) => textWidth(text) > (width - 110) / across / names.length - 6);
  const written = names.map((text) => fitted(text, isSlanted ? 220 : 1000));
  const slant = slantOf(written, written.map((_, i) => 40 + ((width - 56) / across / written.length) * (i + 0.5)), 25);
  const under = isSlanted ? 44 + slant.deep : 44;
  const each = (narrow() || rows > 1 ? 186 : 256) + under;
  const height = rows * (each + (facet ? 24 : 6)) + 30 + keysHeight;
  const ys = [...points.flatMap((p) => [p.y.mean, ...(isLine || isNamed ? [p.y.low, p.y.high] : [])]), ...(bound ? [bound.value] : [])]
    .filter((v) => v != null && (!logY || v > 0));
  if (!ys.length) return null;
  const name = `${y.name} ${isLine ? "over" : "against"} ${x.name} of ${points.length} schemes`;
  const made = picture(width, height, name);
  const trial = scaleOf(ys, { log: logY, zero: !logY && isLine, from: each, to: 0 });
  const left = besideUp(trial, y.tick);
  const apart = 14;
  const wide = (width - left - 16 - apart * (across - 1)) / across;
  const told = [];

  values.forEach((value, place) => {
    const [column, row] = [place % across, Math.floor(place / across)];
    const top = row * (each + 24) + (facet ? 26 : 12);
    const box = { outside: 0, left: left + column * (wide + apart), top, bottom: top + each - under };
    box.right = box.left + wide;
    const scale = scaleOf(ys, { log: logY, zero: !logY && isLine, from: box.bottom, to: box.top, wanted: 5 });
    upAxis(made, box, scale, y.tick, y.name, { labels: column === 0 });
    const own = points.filter((p) => !facet || p.scheme.at[facet.place] === value);
    if (facet) made.append(label((box.left + box.right) / 2, box.top - 10, fitted(`${facet.speaks ? "" : facet.name + " "}${value == null ? "–" : facet.format(value)}`, wide), { colour: "--ink", "font-weight": 620 }));
    const isLast = row === rows - 1 || place + across >= values.length;
    let px;
    if (isNamed) px = namesAxis(made, box, names, isLast ? x.name : "", isSlanted && slant.angle, under);
    else {
      const xs = points.map((p) => p.x.mean).filter((v) => !logX || v > 0);
      if (!xs.length) return;
      const wanted = Math.max(2, Math.floor(wide / 80));
      const scaleX = scaleOf(xs, { log: logX, from: box.left, to: box.right, wanted });
      acrossAxis(made, box, scaleX, x.tick, isLast ? x.name : "");
      px = scaleX.place;
    }
    const py = (v) => Math.min(Math.max(scale.place(logY && v <= 0 ? scale.least : v), box.top - 6), box.bottom);
    if (bound) made.append(svg("line", { x1: box.left, x2: box.right, y1: py(bound.value), y2: py(bound.value), stroke: "var(--ink)", "stroke-dasharray": "4 3" }));
    if (isLine) {
      for (const one of lines.filter((l) => !facet || l.points[0].scheme.at[facet.place] === value)) {
        const kept = { ...one, points: one.points.filter((p) => (!logX || p.x > 0) && (!logY || p.y.mean > 0)) };
        drawLine(made, kept, lineColour(one), px, py, x, y);
        const knee = kneeOf(kept.points.map((p) => (logX ? Math.log(p.x) : p.x)), kept.points.map((p) => p.y.mean));
        const panel = facet ? facet.format(value ?? "–") : "";
        kept.name = [facet && !facet.speaks ? `${facet.name} ${panel}` : panel, one.name].filter(Boolean).join(", ");
        if (knee != null) {
          const p = kept.points[knee];
          made.append(svg("circle", { cx: px(p.x), cy: py(p.y.mean), r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 1.4 }));
          if (told.length < 6) told.push(`${kept.name ? kept.name + ": " : ""}the knee is at ${x.name} ${x.format(p.x)}, where ${y.name} is ${y.format(p.y.mean)}.`);
        }
        if (bound && told.length < 12) told.push(boundText(kept, bound, x, y));
      }
    } else {
      const front = isNamed ? [] : frontOf(own.filter((p) => isRankedBy(p.scheme, x, y))).filter((p) => (!logX || p.x.mean > 0) && (!logY || p.y.mean > 0));
      if (front.length) made.append(svg("polyline", { points: front.map((p) => `${px(p.x.mean)},${py(p.y.mean)}`).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 1.2, "stroke-dasharray": "4 4" }));
      for (const p of own) if ((!logX || p.x.mean > 0) && (!logY || p.y.mean > 0)) drawPoint(made, p, pointColour(p), px, py, x, y, isNamed, ticked.includes(p.scheme));
    }
  });
  if (entries.length) legend(made, 10, height - keysHeight + 10, width - 20, entries);
  return { picture: made, told };
}

function namesAxis(made, box, names, axisName, slanted, under) {
  const each = (box.right - box.left) / names.length;
  names.forEach((name, i) => {
    const [cx, cy] = [box.left + each * (i + 0.5), box.bottom + 16];
    made.append(label(cx, cy, fitted(name, slanted ? 220 : each - 6), slanted ? { anchor: "end", transform: `rotate(${-slanted} ${cx} ${cy})` } : {}));
  });
  made.append(svg("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, stroke: "var(--faint)" }));
  if (axisName) made.append(label((box.left + box.right) / 2, box.bottom + under - 6, axisName));
  return (name) => box.left + each * (names.indexOf(name) + 0.5);
}

function drawLine(made, { name, points }, colour, px, py, x, y) {
  if (!points.length) return;
  if (!points[0].y.single && points.length > 1) {
    const edge = (end) => points.map((p) => `${px(p.x)} ${py(p.y[end])}`);
    made.append(svg("path", { class: "band", d: `M${[...edge("high"), ...edge("low").reverse()].join("L")}Z`, fill: colour, "fill-opacity": 0.16 }));
  }
  made.append(svg("polyline", { points: points.map((p) => `${px(p.x)},${py(p.y.mean)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 1.8 }));
  for (const p of points) {
    const told = `${name ? name + ", " : ""}${x.name} ${x.format(p.x)}: ${y.name} ${y.format(p.y.mean)}` +
      (p.y.single ? "" : ` (95% interval ${y.format(p.y.low)} to ${y.format(p.y.high)})`);
    made.append(svg("circle", { cx: px(p.x), cy: py(p.y.mean), r: 3.4, fill: colour, tabindex: 0, role: "img", "aria-label": told }, svg("title", {}, told)));
  }
}

function drawPoint(made, p, colour, px, py, x, y, isNamed, isTicked) {
  const told = `${p.scheme.name}: ${x.name} ${x.format(p.x.mean)}, ${y.name} ${y.format(p.y.mean)}`;
  if (isNamed && !p.y.single) whisker(made, px(p.x.mean), py(p.y.low), py(p.y.high), 4);
  made.append(svg("circle", { cx: px(p.x.mean), cy: py(p.y.mean), r: isTicked ? 6 : 4, fill: colour, stroke: "var(--panel)", "stroke-width": 1.5,
    tabindex: 0, role: "img", "aria-label": told }, svg("title", {}, told)));
}

// Whether a scheme can be ranked in what two axes show.
const isRankedBy = (scheme, ...axes) => axes.every((own) => !own.isMain || !scheme.unranked.includes(own.name));
// Those that none beats in both.
const frontOf = (points) => points.filter((p) => !points.some((q) =>
  q.x.mean <= p.x.mean && q.y.mean <= p.y.mean && (q.x.mean < p.x.mean || q.y.mean < p.y.mean)))
  .sort((a, b) => a.x.mean - b.x.mean || a.y.mean - b.y.mean);
