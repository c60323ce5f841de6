"use strict";
// A heat map: a result over two keys that are numbers, a panel for all else that differs.

const isMap = (x, y) => [x, y].every((own) => own?.isKey && own.kind !== "name") && x !== y;
const mostMapsOfTwo = 12;

function mapFigure({ schemes, keys, x, y, value, width }) {
  const cells = schemes.map((scheme) => ({ scheme, x: scheme.at[x.place], y: scheme.at[y.place], mean: estimateOf(value.of(scheme))?.mean }))
    .filter((cell) => cell.x != null && cell.y != null && typeof cell.mean === "number");
  if (!cells.length) return null;
  const others = keys.filter((key) => key !== x && key !== y && new Set(cells.map((c) => c.scheme.at[key.place])).size > 1);
  const panels = new Map();
  for (const cell of cells) {
    const named = others.filter((key) => cell.scheme.at[key.place] != null).map((key) => (key.speaks ? "" : key.name + " ") + key.format(cell.scheme.at[key.place])).join(", ");
    panels.set(named, [...(panels.get(named) ?? []), cell]);
  }
  const shown = [...panels].slice(0, mostMapsOfTwo);
  const [xs, ys] = ["x", "y"].map((side) => [...new Set(cells.map((cell) => cell[side]))].sort((a, b) => a - b));
  const means = cells.map((cell) => cell.mean);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const way = least > 0 && most > 10 * least ? Math.log : (v) => v;
  const share = (mean) => (most === least ? 0 : (way(mean) - way(least)) / (way(most) - way(least)));

  const left = Math.max(...ys.map((v) => textWidth(y.tick(v)))) + 34;
  const across = Math.max(1, Math.min(shown.length, Math.floor(width / 300), 3));
  const wide = (width - left - 16 - 14 * (across - 1)) / across;
  const high = Math.max(150, 26 * ys.length);
  const entries = [{ name: `${value.name} ${value.format(least)}`, colour: "--s1" }, { name: value.format(most), colour: "--s2" }];
  const each = high + 78;
  const body = Math.ceil(shown.length / across) * each;
  const made = picture(width, body + legendHeight(width - 20, entries) + 12, `${value.name} over ${x.name} and ${y.name} of ${cells.length} schemes`);
  const [cellWide, cellHigh] = [wide / xs.length, high / ys.length];
  const hasRoom = means.every((mean) => textWidth(value.format(mean), 11) < cellWide - 4);

  shown.forEach(([name, own], place) => {
    const [column, row] = [place % across, Math.floor(place / across)];
    const [from, top] = [left + column * (wide + 14), row * each + 26];
    if (name) made.append(label(from + wide / 2, top - 10, fitted(name, wide), { colour: "--ink", "font-weight": 620 }));
    for (const { x: at, y: up, mean } of own) {
      const [cx, cy] = [from + xs.indexOf(at) * cellWide, top + (ys.length - 1 - ys.indexOf(up)) * cellHigh];
      const told = `${name ? name + ", " : ""}${x.name} ${x.format(at)}, ${y.name} ${y.format(up)}: ${value.name} ${value.format(mean)}`;
      made.append(svg("rect", { x: cx, y: cy, width: cellWide, height: cellHigh, fill: ramp(share(mean)), tabindex: 0, role: "img", "aria-label": told }, svg("title", {}, told)));
      if (hasRoom) made.append(label(cx + cellWide / 2, cy + cellHigh / 2 + 4, value.format(mean), { size: 11, colour: "--panel" }));
    }
    const middle = (values, start, step) => ({ ticks: values, place: (v) => start + (values.indexOf(v) + 0.5) * step });
    acrossAxis(made, { left: from, right: from + wide, bottom: top + high }, middle(xs, from, cellWide), x.tick, x.name);
    if (column > 0) return;
    const at = middle(ys, top + high, -cellHigh);
    made.append(...ys.map((v) => label(from - 8, at.place(v) + 4, y.tick(v), { anchor: "end" })),
      label(10, top + high / 2, fitted(y.name, high + 30), { transform: `rotate(-90 10 ${top + high / 2})` }));
  });
  legend(made, 10, body + 10, width - 20, entries);
  return { picture: made, told: shown.length < panels.size ? [`These are the first ${shown.length} of ${panels.size} maps.`] : [] };
}
