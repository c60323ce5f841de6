"use strict";
// A square at each point of a series, and no line.
const squares = (u, series, from, to) => {
  const path = new Path2D();
  const side = 8 * devicePixelRatio;
  for (let i = from; i <= to; i++) {
    const value = u.data[series][i];
    if (value == null) continue;
    const [x, y] = [u.valToPos(u.data[0][i], "x", true), u.valToPos(value, u.series[series].scale, true)];
    path.rect(x - side / 2, y - side / 2, side, side);
  }
  return { stroke: path, fill: path };
};

for (const figure of data.figures) {
  const format = figure.is_time ? us : whole;
  const edge = { width: 0.8, points: { show: false } };
  const dots = { points: { show: true, size: 4 } };
  chart(figure.id, {
    name: `${figure.name} over the offered rate`,
    columns: [figure.rates, figure.most, figure.least, figure.measured, figure.simulated, figure.fitted],
    series: [
      line("Highest pass", "--all", format, edge), line("Lowest pass", "--all", format, edge),
      line("Measured", "--all", format, dots), line("Simulated", "--s1", format, dots),
      line("Fitted", "--s1", format, { paths: squares, fill: css("--s1"), points: { show: false } }),
    ],
    bands: [{ between: [0, 1], colour: "--all" }],
    height: medium, at: (v) => `${whole(v)} a second`,
    labels: ["Requests a second, offered", figure.name],
    scales: { x: { time: false }, y: figure.is_time ? { distr: 3, range: logRange } : {} },
    x: axis({ values: tick(whole) }),
    y: axis(figure.is_time ? { size: 64, filter: logLabels, values: tick(shortUs) } : { size: 64, values: tick(whole) }),
  });
}
