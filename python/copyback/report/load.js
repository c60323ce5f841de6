"use strict";
for (const figure of data.figures) {
  const format = figure.is_time ? us : whole;
  const edge = { width: 0.8, points: { show: false } };
  const small = { points: { show: true, size: 4 } };
  const large = { width: 0, dots: true, points: { show: true, size: 9, fill: css("--s1"), stroke: css("--panel"), width: 1 } };
  chart(figure.id, {
    name: `${figure.name} over the offered rate`,
    columns: [figure.rates, figure.most, figure.least, figure.measured, figure.simulated, figure.fitted],
    series: [
      line("Highest pass", "--all", format, edge), line("Lowest pass", "--all", format, edge),
      line("Measured", "--all", format, small), line("Simulated", "--s1", format, small),
      line("Fitted", "--s1", format, large),
    ],
    bands: [{ between: [0, 1], colour: "--all" }],
    height: medium, at: (v) => `${whole(v)} a second`,
    labels: ["Requests a second, offered", figure.name],
    scales: { x: { time: false }, y: figure.is_time ? { distr: 3, range: logRange } : {} },
    x: axis({ values: tick(whole) }),
    y: axis(figure.is_time ? { size: 64, filter: logLabels, values: tick(shortUs) } : { size: 64, values: tick(whole) }),
  });
}
