"use strict";
// The ratio of a scheme's number to another's: the estimator and the words of `sweep/ratios.py` and `words/ratio.py`, as
// on the page any scheme can be the baseline. A test holds both to the same texts.

// For each seed that both have, log(own / other); "zero" if a run has zero, null if no seed is shared.
function logRatios(own, other) {
  const seeds = Object.keys(own ?? {}).filter((seed) => seed in (other ?? {}));
  if (seeds.some((seed) => own[seed] <= 0 || other[seed] <= 0)) return "zero";
  return seeds.length ? Object.fromEntries(seeds.map((seed) => [seed, Math.log(own[seed] / other[seed])])) : null;
}

// Over several loads: for each seed that every load has, the mean over the loads.
function together(each) {
  if (each.includes("zero")) return "zero";
  if (!each.length || each.includes(null)) return null;
  const seeds = Object.keys(each[0]).filter((seed) => each.every((one) => seed in one));
  return seeds.length ? Object.fromEntries(seeds.map((seed) => [seed, each.reduce((sum, one) => sum + one[seed], 0) / each.length])) : null;
}

// The geometric mean and its 95% interval. `t` has Student's quantile for each number of seeds.
function ratioOf(found) {
  if (found == null || found === "zero") return found;
  const logs = Object.values(found);
  const centre = logs.reduce((sum, v) => sum + v, 0) / logs.length;
  if (logs.length < 2) return { ratio: Math.exp(centre), low: null, high: null };
  const squares = logs.reduce((sum, v) => sum + (v - centre) ** 2, 0) / (logs.length - 1);
  const half = data.t[logs.length] * Math.sqrt(squares / logs.length);
  return { ratio: Math.exp(centre), low: Math.exp(centre - half), high: Math.exp(centre + half) };
}

const significant = (v) => {
  const decimals = Math.max(2 - Math.floor(Math.log10(v)), 0);
  const digits_ = Math.max(Math.min(decimals, 3 - (Math.floor(Math.log10(Number(v.toFixed(decimals)))) + 1)), 0);
  return v.toLocaleString("en-US", { minimumFractionDigits: digits_, maximumFractionDigits: digits_ });
};

// A multiple from 2 on, a fraction up to 1/100, else a percentage.
function said(ratio) {
  if (ratio >= 1.9995) return ratio > 1e6 ? ">1,000,000×" : significant(ratio) + "×";
  if (ratio <= 0.01) return ratio * 1e6 < 1 ? "<1/1,000,000" : "1/" + significant(1 / ratio);
  const amount = Math.abs(100 * (ratio - 1)).toFixed(1);
  return (amount === "0.0" ? "" : ratio < 1 ? "−" : "+") + amount + " %";
}

function endsSaid(low, high) {
  const [first, last] = [said(low), said(high)];
  const shared = [" %", "×"].find((unit) => first.endsWith(unit) && last.endsWith(unit)) ?? "";
  return [first.slice(0, first.length - shared.length), last];
}

const mayBeOne = (m) => m.low != null && m.low <= 1 && 1 <= m.high;
const isInDoubt = (m) => mayBeOne(m) && said(m.low) !== said(m.high);
// What a cell of a table says, and below it the interval.
const marked = (m) => (m == null ? "–" : m === "zero" ? "no ratio" : said(m.ratio) + (isInDoubt(m) ? "?" : ""));
const intervalSaid = (m) => (m == null || m === "zero" || m.low == null ? "" : endsSaid(m.low, m.high).join(" to "));
const ratioSentence = (m) => said(m.ratio) + (m.low == null ? "" : ` (95% interval ${intervalSaid(m)}${mayBeOne(m) ? ": not distinguishable" : ""})`);
