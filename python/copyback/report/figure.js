"use strict";
// Figures in SVG, as a paper prints them. Their colours are names of the page's palette (`var(--s1)`) until they are
// exported, so that they follow the colour scheme, and a file is always for white paper.

const svg = (name, attributes = {}, ...inside) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, v] of Object.entries(attributes)) made.setAttribute(key, v);
  made.append(...inside);
  return made;
};

const palette = ["--s1", "--s2", "--s3", "--s4", "--s5", "--s6", "--s7", "--s8"];
const figureFont = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, size = 12) => {
    context.font = `${size}px ${figureFont}`;
    return context.measureText(text).width;
  };
})();
const label = (x, y, text, { anchor = "middle", size = 12, colour = "--soft", ...more } = {}) =>
  svg("text", { x, y, "text-anchor": anchor, "font-size": size, fill: `var(${colour})`, ...more }, text);

// A text that has room, with dots where it is cut; the whole one is its title.
function fitted(text, room, size = 12) {
  if (textWidth(text, size) <= room) return text;
  let kept = text;
  while (kept.length > 1 && textWidth(kept + "…", size) > room) kept = kept.slice(0, -1);
  return kept + "…";
}

// The least slant at which names below an axis, which end at their places, reach no further left than the picture; in
// degrees, and how deep they go.
function slantOf(names, places, least) {
  const widths = names.map((name) => textWidth(name));
  const reach = (angle) => widths.every((wide, i) => wide * Math.cos((angle * Math.PI) / 180) <= places[i] - 4);
  const angle = [least, 50, 65, 80].find((own) => own >= least && reach(own)) ?? 90;
  return { angle, deep: Math.max(...widths, 0) * Math.sin((angle * Math.PI) / 180) };
}

// Scales ---------------------------------------------------------------------------------------------

// Multiples of 1, 2 or 5 times a power of ten.
function roundTicks(least, most, wanted) {
  const raw = (most - least) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.7);
  const found = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

// 1, 2 and 5 times powers of ten, or the powers alone, or each so-manieth of them.
function logTicks(least, most, wanted) {
  const powers = (leads) => {
    const found = [];
    for (let p = Math.floor(Math.log10(least)) - 1; p <= Math.ceil(Math.log10(most)); p++) {
      for (const lead of leads) {
        const v = Number((lead * 10 ** p).toPrecision(6));
        if (v >= least * (1 - 1e-9) && v <= most * (1 + 1e-9)) found.push(v);
      }
    }
    return found;
  };
  const choices = [[1, 2, 5], [1, 3], [1]].map(powers);
  const fitting = choices.find((ticks) => ticks.length >= 2 && ticks.length <= wanted + 1);
  if (fitting) return fitting;
  if (choices[0].length < 2) return roundTicks(least, most, wanted);
  const every = Math.ceil(choices[2].length / Math.max(wanted, 1));
  return choices[2].filter((_, i) => i % every === 0);
}

// From values to places between `from` and `to`.
function scaleOf(values, { log = false, zero = false, from, to, wanted = 5, pad = 0.04 }) {
  let [least, most] = [Math.min(...values), Math.max(...values)];
  if (zero && !log) least = Math.min(least, 0);
  const way = log ? Math.log10 : (v) => v;
  if (least === most) [least, most] = log ? [least / 1.5, most * 1.5] : [least - (Math.abs(least) / 4 || 1), most + (Math.abs(most) / 4 || 1)];
  const margin = pad * (way(most) - way(least));
  const back = log ? (v) => 10 ** v : (v) => v;
  const low = zero && !log && least === 0 ? 0 : back(way(least) - margin);
  const high = back(way(most) + margin);
  const bottom = !log && least >= 0 ? Math.max(low, 0) : low;
  const place = (v) => from + ((way(v) - way(bottom)) / (way(high) - way(bottom))) * (to - from);
  return { place, least: bottom, most: high, ticks: (log ? logTicks : roundTicks)(bottom, high, wanted), from, to, log };
}

// Parts ----------------------------------------------------------------------------------------------

function picture(width, height, name) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": name,
    "font-family": figureFont, class: "figure" }, svg("title", {}, name));
}

// Horizontal grid lines with what they stand for, and the axis' name.
function upAxis(into, box, scale, format, name, { labels = true } = {}) {
  for (const v of scale.ticks) {
    into.append(svg("line", { x1: box.left, x2: box.right, y1: scale.place(v), y2: scale.place(v), stroke: "var(--grid)" }));
    if (labels) into.append(label(box.left - 8, scale.place(v) + 4, format(v), { anchor: "end" }));
  }
  if (!labels) return;
  const [x, y] = [box.outside + 10, (box.top + box.bottom) / 2];
  into.append(label(x, y, fitted(name, box.bottom - box.top + 30), { transform: `rotate(-90 ${x} ${y})` }));
}

function acrossAxis(into, box, scale, format, name) {
  let right = -Infinity;
  for (const v of scale.ticks) {
    const [x, text] = [scale.place(v), format(v)];
    into.append(svg("line", { x1: x, x2: x, y1: box.bottom, y2: box.bottom + 4, stroke: "var(--faint)" }));
    if (x - textWidth(text) / 2 < right + 6) continue;
    right = x + textWidth(text) / 2;
    into.append(label(x, box.bottom + 18, text));
  }
  into.append(svg("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, stroke: "var(--faint)" }));
  if (name) into.append(label((box.left + box.right) / 2, box.bottom + 38, fitted(name, box.right - box.left + 60)));
}

// What stands left of a vertical axis.
const besideUp = (scale, format) => Math.max(...scale.ticks.map((v) => textWidth(format(v)))) + 34;

// A name in as many lines as it needs, cut at its commas and spaces.
function folded(text, room) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? lines.at(-1) + " " + word : word;
    if (lines.length && textWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(fitted(word, room));
  }
  return lines;
}

// Keys in as many rows as they need; returns the height that they take.
function legend(into, left, top, width, entries) {
  let [x, y, deepest] = [left, top, 1];
  for (const { name, colour } of entries) {
    const lines = folded(name, width - 24);
    const needed = Math.max(...lines.map((text) => textWidth(text))) + 34;
    if (x > left && x + needed > left + width) [x, y, deepest] = [left, y + 16 * deepest + 2, 1];
    deepest = Math.max(deepest, lines.length);
    into.append(svg("rect", { x, y: y - 9, width: 11, height: 11, rx: 2, fill: `var(${colour})` }),
      ...lines.map((text, i) => label(x + 17, y + 1 + 16 * i, text, { anchor: "start", colour: "--ink" })));
    x += needed;
  }
  return y - top + 16 * deepest + 2;
}
function legendHeight(width, entries) {
  return legend(svg("g"), 0, 0, width, entries);
}

// A line that ends in two strokes: from the low to the high end of an interval.
function whisker(into, x, low, high, half) {
  into.append(svg("path", { d: `M${x} ${low}V${high}M${x - half} ${low}H${x + half}M${x - half} ${high}H${x + half}`,
    stroke: "var(--ink)", "stroke-width": 1.1, fill: "none" }));
}

// Tables whose cells show less than there is say here what they hold: rows of texts and numbers, the head first.
const tableSources = new Map();
