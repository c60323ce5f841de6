"use strict";
// All loads at once: a group of bars a load, each bar the ratio of a scheme's number to the baseline's, and their
// geometric mean. Of one load a group is a measure.

// `groups` are { name, bars: [ratio of each scheme, or what is in its place], open }, the last apart if there are several loads.
function barsFigure({ groups, schemes, name, axisName, width, apart, log }) {
  const narrowest = narrow() ? 2.5 : 7;
  const inner = groups.length * (schemes.length * narrowest + 14);
  const total = Math.max(width, inner + 90);
  const slanted = groups.some((g) => textWidth(g.name) > (total - 90) / groups.length - 8);
  const names = groups.map((g) => fitted(g.name, slanted ? 220 : 1000));
  const slant = slantOf(names, names.map((_, i) => 45 + ((total - 57) / (groups.length + 0.25)) * (i + 0.5)), 35);
  const under = slanted ? slant.deep + 34 : 28;
  const entries = schemes.map((scheme, i) => ({ name: scheme.name + (scheme.isBase ? " (baseline)" : ""), colour: palette[i] }));
  const keys = legendHeight(width - 20, entries);
  const height = (narrow() ? 230 : 300) + under + keys;
  const bottom = height - under - keys;
  const isRatio = (m) => m != null && m !== "zero";
  const found = groups.flatMap((g) => g.bars).filter(isRatio);
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
    const wide = Math.min((each - 12) / schemes.length, 60);
    const from = start + (each - wide * schemes.length) / 2;
    group.bars.forEach((m, i) => {
      if (!isRatio(m)) return;
      const x = from + i * wide;
      const y = scale.place(m.ratio);
      const told = `${schemes[i].name}, ${group.name}: ${schemes[i].isBase ? "the baseline" : ratioSentence(m)}`;
      const bar = svg("rect", { x: x + 0.5, y: Math.min(y, bottom), width: Math.max(wide - 1, 1), height: Math.max(bottom - y, 0.5),
        fill: `var(${palette[i]})`, tabindex: 0, role: "img", "aria-label": told }, svg("title", {}, told));
      made.append(bar);
      if (m.low != null) {
        const high = Math.max(scale.place(Math.min(m.high, scale.most)), box.top - 8);
        whisker(made, x + wide / 2, scale.place(Math.max(m.low, scale.least)), high, Math.min(wide / 4, 5));
      }
      const written = schemes[i].isBase ? "1×" : marked(m);
      // Across the bar if it is wide enough, else up from it.
      const above = Math.max((m.high == null ? y : Math.max(scale.place(Math.min(m.high, scale.most)), box.top - 8)) - 4, 10);
      const long = textWidth(written, 11);
      const middle = x + wide / 2;
      if (long < wide - 1) made.append(label(middle, above, written, { size: 11, colour: "--ink" }));
      else if (wide > 12 && above - long > 2) made.append(label(middle + 4, above, written, { size: 11, colour: "--ink", anchor: "start", transform: `rotate(-90 ${middle + 4} ${above})` }));
    });
    const [cx, cy] = [start + each / 2, bottom + 18];
    const text = slanted ? names[place] : fitted(group.name, each - 6);
    const attributes = slanted ? { anchor: "end", transform: `rotate(${-slant.angle} ${cx} ${cy})` } : {};
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
