// Results whose "trust" is unusual, made from one with error bands: node vary_trust.mjs FOLDER OUT writes OUT/NAME/summary.json
// and results.csv for every name below.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder, out] = process.argv;
const EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--";
const text = readFileSync(join(folder, "summary.json"), "utf8"), rows = readFileSync(join(folder, "results.csv"), "utf8");

// change(summary) may return other rows
function write(name, change) {
  const summary = JSON.parse(text);
  const changed = change(summary) || rows;
  mkdirSync(join(out, name), { recursive: true });
  writeFileSync(join(out, name, "summary.json"), JSON.stringify(summary) + "\n");
  writeFileSync(join(out, name, "results.csv"), changed);
}

// a result from before there were bands, good and bad by its ledger
write("old", (summary) => {
  delete summary.trust;
  Object.assign(summary, { verdict: "trustworthy", sentence: "Bond 'piston': all is well." });
});
write("old-bad", (summary) => {
  delete summary.trust;
  Object.assign(summary, { verdict: "wrong", sentence: "Bond 'piston': the coupling is unstable." });
});

// a run whose signals nobody exchanges
write("zero", (summary) => {
  summary.trust = { version: 1, verdict: "not judged", reason: "no signal is exchanged", mode: "both", left_out: "", companions: [], signals: [], loops: [] };
});

// 2000 signals, each with a band over time
write("many", (summary) => {
  const n = 2000, t = Array.from({ length: 201 }, (_, k) => k * 0.01);
  const names = Array.from({ length: n }, (_, i) => `unit_${i}.y`);
  const model = summary.trust.signals[0];
  summary.columns = names.map((name) => ({ name, dimension: "m", real: true }));
  summary.trust.signals = names.map((name, i) => ({ ...model, name, unit: "m", relative: i / 1e5, band: i * 1e-6, band_max: i * 2e-6, verdict: "trustworthy", rule: 7, reason: "within", loop: 0,
    course: { t, band: t.map((x) => (i + 1) * 1e-6 * (1 + (Math.abs(x - 1.01) < 1e-6 ? 9 : 0))) } }));
  summary.trust.verdict = "trustworthy";
  const lines = Array.from({ length: 201 }, (_, k) => [t[k], ...names.map((_, i) => Math.sin(k / 20 + i).toFixed(6))].join(","));
  return ["time," + names.join(","), ...lines].join("\n") + "\n";
});

// names and texts that are markup
write("hostile", (summary) => {
  const trust = summary.trust, name = trust.signals[0].name;
  for (const column of summary.columns) if (column.name === name) column.name = EVIL;
  Object.assign(trust.signals[0], { name: EVIL, unit: "<b>m</b>", reason: EVIL, rule: 3, verdict: "wrong", relative: 9, growth: { latched: true, active: false, factor: 1e3, from: 1, to: 2, rate: 1.1 } });
  Object.assign(trust, { verdict: "wrong", reason: EVIL, left_out: EVIL, companions: [{ name: EVIL, what: EVIL, status: EVIL, usable: false, why: EVIL }, { name: "A", what: EVIL, usable: true }],
    loops: [{ units: [EVIL, "b"], verdict: EVIL, reason: EVIL, worst: EVIL }, { units: ["c", "d"], verdict: "trustworthy", reason: "", worst: "" }] });
  return rows.replace(name, EVIL);
});

// numbers that are missing, and members that are none of ours
write("nulls", (summary) => {
  const trust = summary.trust, [a, b, c] = trust.signals;
  Object.assign(a, { band: null, band_max: null, relative: null, digits: null, at_time: null, verdict: "not judged", rule: 5, reason: "no error estimate" });
  a.course.band = a.course.band.map(() => null);
  b.course.band = b.course.band.map((x, k) => (k % 40 < 20 ? null : x));
  Object.assign(c, { verdict: "doubtful", rule: 4, growth: { latched: true, active: true, factor: null, from: null, to: null } });
  c.course.t.pop();
  trust.verdict = "doubtful";
  trust.signals = [null, 3, "x", a, b, c, { name: 7 }];
  trust.companions = [null, { name: "B", usable: false }];
  trust.loops = [{}, { units: 3 }];
});

// grew without end: status and rule 1
write("diverged", (summary) => {
  const trust = summary.trust, one = trust.signals.find((signal) => signal.name === "arm.v");
  summary.status = "diverged";
  Object.assign(one, { verdict: "wrong", rule: 1, relative: 12, reason: "diverges: arm.v grew 1.4e+25 times within 80 exchanges", growth: { latched: true, active: true, factor: 1.4e25, from: 2.5, to: 4.25, rate: 1.05 } });
  Object.assign(trust, { verdict: "wrong", reason: one.reason });
});

// no companion was run
write("unjudged", (summary) => {
  const trust = summary.trust;
  trust.signals = trust.signals.map(({ name, unit }) => ({ name, unit, band: null, band_max: null, relative: null, verdict: "not judged", rule: 5, reason: "no error estimate: run with --trust both", loop: 0, wanted: true }));
  Object.assign(trust, { verdict: "not judged", reason: "no sign of an energy error, and no error estimate: run with --trust both", mode: "none", companions: [], left_out: "both companions, which would take 310 s; yoke run crane.yaml --trust both" });
  trust.loops = [{ units: ["arm", "oil"], verdict: "not judged", reason: "no error estimate", worst: "" }];
  summary.command = "yoke run 'a b.yaml' --trust none --quiet";
});

// two loops, B not usable, and only one signal decides
write("loops", (summary) => {
  const trust = summary.trust;
  for (const signal of trust.signals) signal.wanted = signal.name === "arm.s";
  trust.signals.find((signal) => signal.name === "arm.s").reason += "; half the step agrees, another method does not: a fast signal may be sampled too slowly (aliasing)";
  Object.assign(trust, { verdict: "doubtful", loops: [{ units: ["arm", "oil"], verdict: "doubtful", reason: "arm.s may be off by up to 2.6 mm", worst: "arm.s" }, { units: ["a", "b", "c"], verdict: "trustworthy", reason: "within 1e-3 V", worst: "a.u" }] });
  Object.assign(trust.companions[1], { usable: false, status: "diverged", why: "its growth alarm fired and that of the run did not" });
});
