"use strict";
// All loads at once: a group of bars a load, each bar a scheme's number as a multiple of the baseline's, and their
// geometric mean. Of one load a group is a measure.

// The mean of logarithms and its interval, as multiples. `t` has Student's quantile for each number of seeds.
function multipleOf(logs) {
  if (!logs.length) return null;
  const centre = logs.reduce((sum, v) => sum + v, 0) / logs.length;
  if (logs.length < 2) return { ratio: Math.exp(centre), low: null, high: null };
  const squares = logs.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (logs.length - 1);
  const half = data.t[logs.length] * Math.sqrt(squares / logs.length);
  return { ratio: Math.exp(centre), low: Math.exp(centre - half), high: Math.exp(centre + half) };
}

// For each seed that both have, log(own / other); null if that cannot be said.
function logRatios(own, other) {
  if (!own || !other) return null;
  const seeds = Object.keys(own).filter((seed) => seed in other);
  if (!seeds.length || seeds.some((seed) => own[seed] <= 0 || other[seed] <= 0)) return null;
  return Object.fromEntries(seeds.map((seed) => [seed, Math.log(own[seed] / other[seed])]));
}

// Over several loads: for each seed that every load has, the mean over the loads.
function together(each) {
  if (!each.length || each.some((one) => one == null)) return null;
  const seeds = Object.keys(each[0]).filter((seed) => each.every((one) => seed in one));
  return seeds.length ? seeds.map((seed) => each.reduce((sum, one) => sum + one[seed], 0) / each.length) : null;
}

// `groups` are { name, bars: [multiple or null of each scheme], open }, the last apart if there are several loads.
function barsFigure({ groups, schemes, name, axisName, width, apart, log }) {
  const narrowest = 7;
  const inner = groups.length * (schemes.length * narrowest + 14);
  const total = Math.max(width, inner + 90);
  const slanted = groups.some((g) => textWidth(g.name) > (total - 90) / groups.length - 8);
  const under = slanted ? Math.min(Math.max(...groups.map((g) => textWidth(g.name))) * 0.6, 90) + 34 : 28;
  const entries = schemes.map((scheme, i) => ({ name: scheme.name + (scheme.isBase ? " (baseline)" : ""), colour: palette[i] }));
  const keys = legendHeight(width - 20, entries);
  const height = (narrow() ? 230 : 300) + under + keys;
  const bottom = height - under - keys;
  const found = groups.flatMap((g) => g.bars).filter(Boolean);
  const tops = found.map((m) => Math.min(m.high ?? m.ratio, 3 * m.ratio));
  const lows = found.map((m) => Math.max(m.low ?? m.ratio, m.ratio / 3));
  const scale = scaleOf([...(log ? lows : [0]), 1, ...tops], { log, zero: true, from: bottom, to: 14, wanted: 5 });
  const factor = (v) => short(v) + "×";
  const box = { outside: 0, left: besideUp(scale, factor), right: total - 12, top: 14, bottom };
  const made = picture(total, height, name);
  upAxis(made, box, scale, factor, axisName);
  const each = (box.right - box.left) / (groups.length + (apart ? 0.25 : 0));
  groups.forEach((group, place) => {
    const start = box.left + each * (place + (apart && place === groups.length - 1 ? 0.25 : 0));
    const wide = Math.min((each - 12) / schemes.length, 38);
    const from = start + (each - wide * schemes.length) / 2;
    group.bars.forEach((m, i) => {
      if (!m) return;
      const x = from + i * wide;
      const y = scale.place(m.ratio);
      const told = `${schemes[i].name}, ${group.name}: ${digits(m.ratio)} times` +
        (m.low == null ? "" : ` (95% interval ${digits(m.low)} to ${digits(m.high)})`);
      const bar = svg("rect", { x: x + 0.5, y: Math.min(y, bottom), width: Math.max(wide - 1, 1), height: Math.max(bottom - y, 0.5),
        fill: `var(${palette[i]})`, tabindex: 0, role: "img", "aria-label": told }, svg("title", {}, told));
      made.append(bar);
      if (m.low != null) {
        const high = Math.max(scale.place(Math.min(m.high, scale.most)), box.top - 8);
        whisker(made, x + wide / 2, scale.place(Math.max(m.low, scale.least)), high, Math.min(wide / 4, 5));
      }
      const written = digits(Number(m.ratio.toPrecision(3)), m.ratio < 0.1 ? 2 : 3);
      if (textWidth(written, 11) < wide - 1) {
        const above = m.high == null ? y : Math.max(scale.place(Math.min(m.high, scale.most)), box.top - 8);
        made.append(label(x + wide / 2, Math.max(above - 4, 10), written, { size: 11, colour: "--ink" }));
      }
    });
    const [cx, cy] = [start + each / 2, bottom + 18];
    const text = fitted(group.name, slanted ? 150 : each - 6);
    const attributes = slanted ? { anchor: "end", transform: `rotate(-35 ${cx} ${cy})` } : {};
    const isMean = apart && place === groups.length - 1;
    const text_ = label(cx, cy, text, { colour: group.open ? "--accent" : "--ink", ...attributes, ...(isMean ? { "font-weight": 640 } : {}) });
    if (!group.open) return made.append(text_);
    const link = svg("a", { href: "#schemes", "aria-label": `Show ${group.name}` }, text_, svg("title", {}, `Show ${group.name}`));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      group.open();
      document.getElementById("schemes").scrollIntoView();
    });
    made.append(link);
  });
  made.append(svg("line", { x1: box.left, x2: box.right, y1: scale.place(1), y2: scale.place(1), stroke: "var(--ink)", "stroke-dasharray": "4 3" }),
    svg("line", { x1: box.left, x2: box.right, y1: bottom, y2: bottom, stroke: "var(--faint)" }));
  legend(made, 10, height - keys + 8, width - 20, entries);
  return made;
}
