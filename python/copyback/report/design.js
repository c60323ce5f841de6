"use strict";
// The front of a study: the first objective across, the second up, the third as the colour.

function frontFigure(width) {
  const [across, up, third] = data.objectives;
  const all = [...data.others, ...data.points, data.base];
  const values = (place) => all.map((own) => own.at[place]);
  const isWide = (place) => { const v = values(place); return Math.min(...v) > 0 && Math.max(...v) / Math.min(...v) > 10; };
  const format = (objective) => (v) => (objective.time ? us(v) : short(Number(v.toPrecision(4))));
  const height = narrow() ? 300 : 380;
  const keys = third ? 24 : 0;
  const bottom = height - 50 - keys;
  const made = picture(width, height, `The front: ${data.objectives.map((o) => o.label).join(", ")}`);
  const y = scaleOf(values(1), { log: isWide(1), from: bottom, to: 14, wanted: 5 });
  const box = { outside: 0, left: besideUp(y, format(up)) + 12, right: width - 24, top: 14, bottom };
  const x = scaleOf(values(0), { log: isWide(0), from: box.left, to: box.right, wanted: narrow() ? 3 : 6 });
  upAxis(made, box, y, format(up), up.label);
  acrossAxis(made, box, x, format(across), across.label);
  const range = third ? [Math.min(...values(2)), Math.max(...values(2))] : null;
  const colour = (own) => (third ? `color-mix(in srgb, var(--s2) ${Math.round((100 * (own.at[2] - range[0])) / (range[1] - range[0] || 1))}%, var(--s1))` : "var(--s1)");
  const place = (own) => [x.place(own.at[0]), y.place(own.at[1])];
  const told = (own) => `${own.name}: ${data.objectives.map((o, i) => `${o.label} ${format(o)(own.at[i])}`).join(", ")}`;
  for (const own of data.others) {
    const [cx, cy] = place(own);
    made.append(svg("circle", { cx, cy, r: 3, fill: third ? colour(own) : "var(--faint)", "fill-opacity": 0.6 }, svg("title", {}, told(own))));
  }
  const [bx, by] = place(data.base);
  made.append(svg("path", { d: `M${bx - 5} ${by - 5}L${bx + 5} ${by + 5}M${bx - 5} ${by + 5}L${bx + 5} ${by - 5}`, stroke: "var(--ink)", "stroke-width": 2 }, svg("title", {}, told(data.base))));
  if (!third) {
    const steps = data.points.map(place).sort((a, b) => a[0] - b[0]);
    made.append(svg("path", { d: steps.map(([px, py], i) => (i ? `H${px}V${py}` : `M${px} ${py}`)).join(""), fill: "none", stroke: "var(--s1)", "stroke-dasharray": "4 3" }));
  }
  data.points.forEach((own, i) => {
    const [cx, cy] = place(own);
    const ring = i === data.chosen ? { stroke: "var(--ink)", "stroke-width": 2 } : {};
    made.append(svg("circle", { cx, cy, r: 6, fill: colour(own), tabindex: 0, role: "img", "aria-label": told(own), ...ring }, svg("title", {}, told(own))),
      label(cx + 9, cy - 7, String(i + 1), { anchor: "start", colour: "--ink" }));
  });
  if (third) legend(made, box.left, height - 10, width - box.left, [{ name: `${third.label} ${format(third)(range[0])}`, colour: "--s1" }, { name: format(third)(range[1]), colour: "--s2" }]);
  return made;
}

const drawnFront = document.getElementById("front-drawn");
if (drawnFront) {
  const draw = () => drawnFront.replaceChildren(frontFigure(Math.max(drawnFront.clientWidth, 320)));
  draw();
  let before = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== before) { before = innerWidth; draw(); } });
}
