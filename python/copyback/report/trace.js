"use strict";
{
  const sizes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const bytes = (value) => {
    if (value == null) return "–";
    let scale = 0;
    while (value >= 1023.5 && scale < sizes.length - 1) {
      value /= 1024;
      scale += 1;
    }
    return Number(value.toPrecision(3)).toLocaleString("en-US") + " " + sizes[scale];
  };
  const colours = { read: "--read", write: "--write", trim: "--gc", flush: "--calm", all: "--all" };
  const names = { read: "Read", write: "Write", trim: "Trim", flush: "Flush", all: "All" };

  // Distributions: the share of values at or below each, over a logarithmic axis. ----------------

  function distribution(id, name, curves, format, base) {
    if (!curves || !curves.x.length) return;
    const kinds = Object.keys(names).filter((kind) => curves[kind]);
    const lines = kinds.map((kind) => [curves[kind], names[kind], colours[kind]]);
    cumulative(id, name, curves.x, lines, format, base);
  }

  distribution("sizes", "Sizes of requests", data.sizes, bytes, 2);
  distribution("gaps", "Time between arrivals", data.gaps, shortUs, 10);
  distribution("distances", "Bytes written between two writes of a page", data.distances, bytes, 2);
  distribution("measured", "Measured response times", data.measured, shortUs, 10);

  // Over time, or over requests in a closed loop. --------------------------------------------------

  const t = data.series;
  if (t.place.length) {
    const [scale, unit] = !data.timed ? [1, ""]
      : t.end > 3 * 86400 ? [86400, "d"] : t.end > 3 * 3600 ? [3600, "h"] : t.end > 300 ? [60, "min"]
      : t.end > 1 ? [1, "s"] : t.end > 1e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
    const columns = (...values) => Object.assign([t.place.map((v) => v / scale), ...values], { end: t.end / scale });
    const time = { time: false, range: (_, min, max) => [min, max === min ? max + 1 : max] };
    const x = () => axis({ size: 30, values: tick((v) => (short(v) + " " + unit).trim()), space: 70 });
    const at = (v) => (plain(v) + " " + unit).trim();
    const over = (id, name, lines, y) => chart(id, {
      name, columns: columns(...lines.map((one) => one[0])), series: lines.map((one) => one[1]),
      height: medium, sync: "time", at, scales: { x: time, y: { range: fromZero } }, x: x(), y,
    });
    const thin = { width: 1.1 };
    over("rate", "Requests a second over time", [
      [t.requests_s, line("All", "--all", plain, thin)], [t.reads_s, line("Reads", "--read", plain, thin)],
    ], axis({ size: 64, values: tick(short) }));
    over("bandwidth", "Bandwidth over time", [
      [t.read_mib_s, line("Read", "--read", (v) => plain(v) + " MiB/s", thin)],
      [t.write_mib_s, line("Write", "--write", (v) => plain(v) + " MiB/s", thin)],
    ], axis({ size: 64, values: tick(short) }));
    // In the unit that fits, so that the axis has round numbers.
    const most = Math.max(...t.touched, 1);
    const power = Math.min(Math.floor(Math.log2(most) / 10), 5);
    const inUnit = (values) => values.map((v) => v / Math.pow(1024, power));
    const sized = (v) => plain(v) + " " + sizes[power];
    over("footprint", "Different pages touched and written so far", [
      [inUnit(t.touched), line("Touched", "--all", sized)], [inUnit(t.written), line("Written", "--write", sized)],
    ], axis({ size: 72, values: tick((v) => short(v) + " " + sizes[power]) }));
  }
}
