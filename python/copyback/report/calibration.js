"use strict";
for (const part of data.parts) {
  for (const [operation, curves] of Object.entries(part.operations)) {
    const id = `${part.id}-${operation}`;
    const { shares, against } = curves;
    cumulative(`${id}-shares`, `Times of each ${operation}`, shares.x, [
      [shares.measured, "Measured", "--all"],
      [shares.simulated, "Simulated", "--s1"],
      ...(shares.linear ? [[shares.linear, "Linear in size", "--s2"]] : []),
    ], shortUs, 10);
    const { scale, axis: x } = logAxis(10, shortUs);
    const thin = { width: 1.1, points: { show: false } };
    chart(`${id}-against`, {
      name: `Simulated against measured times of each ${operation}`,
      columns: [against.measured, against.measured, against.p90, against.p50, against.p10],
      series: [
        line("Equal", "--faint", us, { ...thin, dash: [5, 5] }), line("p90", "--s6", us, thin),
        line("Median", "--s1", us, { points: { show: true, size: 4 } }), line("p10", "--s6", us, thin),
      ],
      height: medium, at: (v) => `${us(v)} measured`,
      scales: { x: scale, y: { distr: 3, range: logRange } }, x,
      y: axis({ size: 64, filter: logLabels, values: tick(shortUs) }),
    });
  }
}
