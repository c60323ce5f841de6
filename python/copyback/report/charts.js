"use strict";
// What the pages share: numbers, axes, and a chart with keys, cursor and keyboard. A page's own script comes after.

const data = JSON.parse(document.getElementById("data").textContent);
const live = document.getElementById("live");
const charts = [];
const css = (name) => () =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Numbers ------------------------------------------------------------------------------------

const digits = (value, count = 3) => {
  if (value === 0) return "0";
  const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en-US", {
    minimumFractionDigits: Math.min(decimals, 6), maximumFractionDigits: Math.min(decimals, 6),
  });
};
const us = (value, count = 3) => {
  if (value == null) return "–";
  if (value === 0) return "0 µs";
  const [scale, unit] =
    value >= 999.5e3 ? [1e6, "s"] : value >= 999.5 ? [1e3, "ms"] : value >= 0.9995 ? [1, "µs"] : [1e-3, "ns"];
  return digits(value / scale, count) + " " + unit;
};
const plain = (value) => (value == null ? "–" : digits(value));
const whole = (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-US"));
const percent = (value) => (value == null ? "–" : digits(value, 2) + " %");
// An axis label: no more digits than it needs.
const tick = (format) => (_, splits) =>
  splits.map((v) => (v == null ? "" : format(v)));
const short = (value) => Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
const shortUs = (value) => {
  if (value === 0) return "0";
  const [scale, unit] = value >= 1e6 ? [1e6, "s"] : value >= 1e3 ? [1e3, "ms"] : value >= 1 ? [1, "µs"] : [1e-3, "ns"];
  return short(value / scale) + " " + unit;
};

// Isolated values, with nothing on either side, would be invisible as a line.
const isolated = (u, series) => {
  const y = u.data[series];
  const found = [];
  for (let i = 0; i < y.length; i++) {
    if (y[i] != null && y[i - 1] == null && y[i + 1] == null) found.push(i);
  }
  return found;
};

const line = (label, colour, format, more = {}) => ({
  label, stroke: css(colour), width: 1.6, format, colour, spanGaps: false,
  points: { show: true, filter: isolated, size: 4, fill: css(colour), stroke: css(colour) }, ...more,
});
const bars = (label, colour, fill, format, more = {}) => ({
  label, stroke: css(fill), fill: css(fill), width: 0, format, colour, filled: true,
  paths: uPlot.paths.bars({ size: [1, Infinity], align: 1, gap: 0 }), points: { show: false }, ...more,
});

const axis = (more) => ({
  stroke: css("--soft"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
  grid: { stroke: css("--grid"), width: 1 }, ticks: { show: false }, gap: 6, ...more,
});

// Points of a chart over time from which on a window of it shows fewer, each of several intervals: their lines would be
// a black ribbon.
const mostFine = 320;

// Several values as one: each column says how, by the places `from` to `to`.
function coarsened(xs, ...ways) {
  const each = Math.ceil(xs.length / 240);
  const starts = xs.map((_, i) => i).filter((i) => i % each === 0);
  return [starts.map((i) => xs[i]), ...ways.map((way) => starts.map((i) => way(i, Math.min(i + each, xs.length))))];
}
const known = (values, from, to) => values.slice(from, to).filter((v) => v != null);
const largest = (values) => (from, to) => { const own = known(values, from, to); return own.length ? Math.max(...own) : null; };
const average = (values, weights) => (from, to) => {
  let [sum, whole] = [0, 0];
  for (let i = from; i < to; i++) {
    if (values[i] == null) continue;
    sum += values[i] * (weights ? weights[i] : 1);
    whole += weights ? weights[i] : 1;
  }
  return whole ? sum / whole : null;
};

// A colour of the palette, faint.
const shade = (colour) => () => css(colour)() + "2e";

// A chart: plot, keys that switch lines on and off and show values, cursor by keyboard. ---------

// `labels` name the axes in files, where no caption does; `bands` are shaded between two lines, told by their places and
// a colour; `pick` is given where the cursor is at a click or Enter; `coarse` has fewer columns, which are drawn while more
// than `mostFine` of the fine ones are in sight.
function chart(id, { x, y, series, columns, height, sync, at, scales = {}, name, labels = ["", ""], bands = [], pick = () => {}, coarse = null }) {
  const figure = document.getElementById(id);
  if (!figure) return;
  const plot = document.createElement("div");
  plot.className = "plot";
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-roledescription", "plot");
  plot.setAttribute("aria-label", name + ". Arrow keys read its values.");
  figure.append(plot);
  const keys = document.createElement("div");
  keys.className = "keys";
  figure.append(keys);
  const where = document.createElement("span");
  where.className = "at";
  const values = [];
  // What is drawn now.
  let now = coarse && columns[0].length > mostFine ? coarse : columns;

  const u = new uPlot({
    width: Math.max(plot.clientWidth, 200), height: height(),
    padding: [10, 28, 0, 0],
    legend: { show: false },
    cursor: {
      y: false, points: { size: 7, width: 1.5 },
      drag: { x: true, y: false, setScale: true },
      ...(sync ? { sync: { key: sync, setSeries: false } } : {}),
    },
    scales, axes: [x, ...[].concat(y)],
    series: [{}, ...series],
    bands: bands.map(({ between, colour }) => ({ series: between.map((k) => k + 1), fill: shade(colour) })),
    hooks: { setCursor: [read], setScale: [(own, key) => key === "x" && refine(own)] },
  }, [...now], plot);

  function refine(own) {
    if (!coarse) return;
    const { min, max } = own.scales.x;
    const wanted = columns[0].filter((x) => x >= min && x <= max).length > mostFine ? coarse : columns;
    if (wanted === now) return;
    // Not while the scale is being set.
    queueMicrotask(() => {
      now = wanted;
      own.setData([...now], false);
      own.redraw();
    });
  }

  function read() {
    // Behind the end, where fewer points have just taken the place of more.
    const i = u.cursor.idx < now[0].length ? u.cursor.idx : null;
    where.textContent = i == null ? "" : at(now[0][i], i);
    series.forEach((s, k) => {
      values[k].textContent = i == null || !u.series[k + 1].show ? "" : s.format((s.own ?? now[k + 1])[i]);
    });
  }

  series.forEach((s, k) => {
    const button = document.createElement("button");
    button.type = "button";
    const swatch = document.createElement("span");
    swatch.className = "sw" + (s.filled ? " fill" : "");
    swatch.style.color = `var(${s.colour})`;
    const value = document.createElement("span");
    value.className = "val";
    values.push(value);
    button.append(swatch, s.label, value);
    button.setAttribute("aria-pressed", String(s.show !== false));
    button.addEventListener("click", () => {
      const show = !u.series[k + 1].show;
      u.setSeries(k + 1, { show });
      button.setAttribute("aria-pressed", String(show));
      read();
    });
    keys.append(button);
  });
  figure.querySelector("figcaption").append(where);

  u.over.addEventListener("click", () => {
    // The end of a drag is a click, too.
    if (u.select.width === 0 && u.cursor.idx != null) pick(now[0][u.cursor.idx]);
  });
  plot.addEventListener("keydown", (event) => {
    const xs = now[0];
    const { min, max } = u.scales.x;
    let i = Math.min(u.cursor.idx ?? xs.findIndex((v) => v >= min), xs.length - 1);
    const step = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowRight") i = Math.min(i + step, xs.length - 1);
    else if (event.key === "ArrowLeft") i = Math.max(i - step, 0);
    else if (event.key === "Home") i = 0;
    else if (event.key === "End") i = xs.length - 1;
    else if (event.key === "+" || event.key === "-") {
      const centre = xs[i];
      const factor = event.key === "+" ? 0.5 : 2;
      zoom(Math.max(xs[0], centre - (centre - min) * factor), Math.min(full(), centre + (max - centre) * factor));
    } else if (event.key === "Escape") zoom(xs[0], full());
    else if (event.key === "Enter") return pick(xs[i]);
    else return;
    event.preventDefault();
    u.setCursor({ left: u.valToPos(xs[i], "x"), top: u.bbox.height / 2 / devicePixelRatio }, true, true);
    read();
    live.textContent = at(xs[i], i) + ": " + series
      .filter((_, k) => u.series[k + 1].show)
      .map((s) => `${s.label} ${s.format((s.own ?? now[series.indexOf(s) + 1])[i])}`)
      .join(", ");
  });
  const full = () => columns.end ?? columns[0][columns[0].length - 1];
  function zoom(min, max) {
    for (const other of sync ? charts.filter((c) => c.sync === sync) : [{ u }]) {
      other.u.setScale("x", { min, max });
    }
  }
  plot.addEventListener("blur", (event) => {
    // Going to this plot's keys keeps the values: hiding them would move the key under the pointer.
    if (!figure.contains(event.relatedTarget)) u.setCursor({ left: -10, top: -10 }, true, true);
  });
  charts.push({ u, plot, height, sync, series, name, labels, bands });
}

const narrow = () => matchMedia("(max-width: 560px)").matches;
const tall = () => (narrow() ? 250 : 330);
const medium = () => (narrow() ? 190 : 230);
const small = () => (narrow() ? 160 : 170);

// Whole decades, so that a log axis always has labels. A little air above and below.
const logRange = (_, min, max) => {
  if (min == null || max == null) return [1, 10];
  const low = Math.pow(10, Math.floor(Math.log10(Math.max(min, 1e-3)) + 1e-9));
  const top = Math.pow(10, Math.ceil(Math.log10(Math.max(max, 1e-2)) - 1e-9));
  const step = [2, 5, 10].map((k) => (top / 10) * k).find((v) => v >= max * 1.02) ?? top;
  const floor = [5, 2, 1].map((k) => low * k).find((v) => v <= min * 0.98) ?? low / 2;
  return [floor, Math.max(step, floor * 10)];
};
// Label 1, 2, 5 of each decade while there is room, else only 1.
const logLabels = (u, splits) => {
  const [low, high] = [u.scales.y.min, u.scales.y.max];
  const room = u.bbox.height / devicePixelRatio / Math.max(Math.log10(high / low), 0.1);
  const wanted = room > 90 ? [1, 2, 5] : [1];
  return splits.map((v) => {
    if (v == null) return null;
    const lead = Number((v / Math.pow(10, Math.floor(Math.log10(v) + 1e-9))).toPrecision(3));
    return wanted.includes(lead) ? v : null;
  });
};
const fromZero = (_, __, max) => [0, max > 0 ? max * 1.08 : 1];

// Response times over percentiles, each whole step of which has one nine more.
const marks = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7, 8, 9];
const percentile = (nines) => {
  const p = 100 * (1 - Math.pow(10, -nines));
  return Number(p.toFixed(Math.max(0, Math.floor(nines + 1e-9) - 1 + (Number.isInteger(+nines.toFixed(6)) ? 0 : 2)))) + "";
};
// Whether the label of the median has room beside that of the fastest request.
const fitsMedian = (u) => (u.bbox.width / devicePixelRatio) * marks[1] > 40 * (u.scales.x.max - u.scales.x.min);
const tails = () => ({
  labels: ["percentile of the requests", "response time"],
  at: (nines) => "p" + percentile(nines),
  scales: { x: { time: false, range: (_, min, max) => [min, max] }, y: { distr: 3, range: logRange } },
  x: axis({
    size: 30,
    splits: (u) => marks.filter((m) => m >= u.scales.x.min && m <= u.scales.x.max + 0.02 && (m !== marks[1] || fitsMedian(u))),
    values: (_, splits) => splits.map((m) => (m === marks[1] ? "50" : percentile(m)) + (narrow() ? "" : " %")),
  }),
  y: axis({ size: 64, filter: logLabels, values: tick(shortUs) }),
});

// Distributions: the share of values at or below each, over a logarithmic axis. ------------------

const share = (value) => (value == null ? "–" : digits(100 * value, 3) + " %");
// Powers of two for bytes, of ten for times; only as many labels as there is room for.
const powers = (base) => (u, _, min, max) => {
  const room = Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 74));
  const first = Math.ceil(Math.log(min) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(max) / Math.log(base) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / room));
  const found = [];
  for (let power = first; power <= last; power += step) found.push(Math.pow(base, power));
  return found;
};
const logAxis = (base, format) => ({
  scale: {
    time: false, distr: 3, range: (_, min, max) => (min === max ? [min / base, max * base] : [min, max]),
  },
  axis: axis({ size: 30, splits: powers(base), values: tick(format), filter: (_, splits) => splits }),
});

// `lines` holds shares, label and colour of each.
function cumulative(id, name, xs, lines, format, base) {
  const { scale, axis: x } = logAxis(base, format);
  chart(id, {
    name, labels: ["", "share at or below"], columns: [xs, ...lines.map(([shares]) => shares)],
    series: lines.map(([, label, colour]) => line(label, colour, share, {
      width: 1.8, stepped: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false },
    })),
    height: medium, at: format, scales: { x: scale, y: { range: () => [0, 1] } }, x,
    y: axis({ size: 54, values: tick((v) => Math.round(100 * v) + " %") }),
  });
}

// The window and the colour scheme change; text is copied. -------------------------------------------

let pending = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => {
    for (const { u, plot, height } of charts) {
      u.setSize({ width: Math.max(plot.clientWidth, 200), height: height() });
    }
  });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const { u } of charts) u.redraw(false, true);
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.querySelector(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
