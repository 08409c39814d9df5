// Adds error bands to the summary of a result, from two runs of the same system: the numbers of docs/trust.md, made here
// from recorded rows so that pages can be tried whatever the run itself was asked for.
// Usage: node add_trust.mjs FOLDER HALF OTHER SIGNAL...
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const read = (folder) => {
  const [head, ...rows] = readFileSync(join(folder, "results.csv"), "utf8").trim().split("\n").map((line) => line.split(","));
  const columns = Object.fromEntries(head.map((name, i) => [name, rows.map((cells) => Number(cells[i]))]));
  return columns;
};
const rms = (z, n) => Math.sqrt(z.slice(0, n).reduce((sum, x) => sum + x * x, 0) / n);
const range = (z) => Math.max(...z) - Math.min(...z);
function scale(z, n) {
  const mean = z.slice(0, n).reduce((sum, x) => sum + x, 0) / n;
  return Math.max(rms(z.map((x) => x - mean), n), range(z) / 4);
}

// the values of a column at the times of another result, which are among its own
function at(times, result, name) {
  let k = 0;
  return times.map((t) => {
    while (k + 1 < result.time.length && result.time[k] < t - 1e-9) k++;
    return result[name][k];
  });
}

function judge(time, y, a, b) {
  const n = y.length, r = range(y);
  let last = 0;
  y.forEach((value, k) => { if (Math.abs(value - y[n - 1]) > 0.01 * r) last = k; });
  const active = Math.min(n, Math.max(21, last + 2)), s = Math.min(scale(y, active), scale(a, active));
  const ya = y.map((value, k) => Math.abs(value - a[k])), yb = y.map((value, k) => Math.abs(value - b[k]));
  const c = y.map((_, k) => Math.max(2.5 * ya[k], 1.2 * yb[k]));
  const band = Math.max(2.5 * rms(ya, active), 1.2 * rms(yb, active)), low = Math.min(1.2 * rms(ya, active), 0.7 * rms(yb, active));
  const w = Math.max(2, Math.round(0.05 * (n - 1))), stride = Math.max(1, Math.ceil((n - 1) / 200));
  const course = { t: [], band: [] };
  for (let k = 0; k < n; k += stride) {
    course.t.push(time[k]);
    course.band.push(Math.max(...c.slice(Math.max(0, k - w), k + w + 1)));
  }
  const relative = band / s, low_relative = low / s, most = Math.max(...c);
  const [verdict, rule] = low_relative > 0.1 ? ["wrong", 2] : relative > 0.05 ? ["doubtful", 6] : ["trustworthy", 7];
  const digits = Math.max(0, 1 + Math.floor(Math.log10(Math.max(...y.map(Math.abs)) / (2 * band))));
  return { band, band_max: most, at_time: time[c.indexOf(most)], relative, low, low_relative, digits, scale: s, verdict, rule, course };
}

const [, , folder, half, other, ...names] = process.argv;
const path = join(folder, "summary.json"), summary = JSON.parse(readFileSync(path, "utf8"));
const [run, a, b] = [folder, half, other].map(read);
const signals = names.map((name) => {
  const one = judge(run.time, run[name], at(run.time, a, name), at(run.time, b, name));
  const unit = summary.columns.find((column) => column.name === name).dimension;
  const words = { 2: "off by about", 6: "may be off by up to", 7: "within" }[one.rule];
  return { name, unit, ...one, reason: `${words} ${Number(one.band_max.toPrecision(2))} ${unit}`, loop: 0, wanted: true };
});
const worst = signals.reduce((x, y) => (y.relative > x.relative ? y : x));
const units = summary.system.units.map((unit) => unit.name);
summary.trust = {
  version: 1, verdict: worst.verdict, reason: `${worst.name} ${worst.reason}`, mode: "both", left_out: "",
  companions: [{ name: "A", what: "half the steps", status: "done", usable: true, why: "", calls: 4000, wall_s: 0.01 },
    { name: "B", what: "interpolated inputs at half the step", status: "done", usable: true, why: "", calls: 16000, wall_s: 0.03 }],
  signals, loops: [{ units, verdict: worst.verdict, reason: `${worst.name} ${worst.reason}`, worst: worst.name }],
};
writeFileSync(path, JSON.stringify(summary, null, 2) + "\n");
