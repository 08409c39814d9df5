// The report page: draws what the two pieces of JSON in the page say. Nothing is fetched and no library is used; every
// text goes into the page as text, never as markup.
//
//   1 helpers: elements, numbers      4 trust: bands, verdicts    7 signals to choose       10 a run from top to bottom
//   2 signals: decoding               5 graph of the system       8 timing                  11 the page: tabs, theme, print
//   3 plots: time axis, panes         6 energy of the bonds       9 alarms, settings

// What all tabs share: whether the page is on its way to paper, and the colours of the theme.
const look = { printing: false, colours: {} };

// One run, drawn into main; nav gets the names of its sections. suffix: of the ids of its JSON and its elements.
function drawRun(main, nav, suffix) {
  "use strict";

  const jsonOf = (name) => {
    const node = document.getElementById(name + suffix);
    return node ? JSON.parse(node.textContent) : null;
  };
  const series = jsonOf("series");
  const reference = jsonOf("reference"); // curves to draw beside those of the run
  const data = dataOf(jsonOf("data"));
  const circuit = data.circuit; // a netlist on its own: no units, no bonds

  // ------------------------------------------------------------------------------------------------------------
  // 0 the summary of the run, as summary.json has it, in the words of this page

  function dataOf(summary) {
    const system = summary.system, ledger = summary.ledger || { bonds: [], alarms: [], alarms_not_listed: 0 };
    const time = summary.step_time, iteration = summary.iteration;
    const ns = (name) => 1000 * time[name + "_us"];
    return {
      name: summary.name, text: system.text, file: system.file, scheme: system.scheme, exchange: system.exchange,
      step: system.step, tick: system.tick, threads: system.threads, verdict: summary.verdict, sentence: summary.sentence,
      trust: summary.trust ? trustOf(summary.trust) : null, flows: Array.isArray(summary.flows) ? summary.flows.filter((one) => one && typeof one === "object") : [],
      served: Array.isArray(summary.served) ? summary.served.filter((one) => one && Array.isArray(one.by)) : [],
      fallbacks: summary.fallbacks && Array.isArray(summary.fallbacks.list) ? summary.fallbacks.list.filter((one) => one && typeof one.text === "string") : [],
      command: summary.command || "", settings: summary.file_text || "", settings_size: summary.file_size || 0, messages: summary.messages,
      versions: { yoke: summary.yoke, commit: summary.commit, build: summary.build },
      run: {
        status: summary.status, is_failed: summary.status === "failed", is_diverged: summary.status === "diverged", t_stop: system.stop, t_reached: summary.t_reached, n_steps: summary.steps,
        wall_s: summary.wall_s, real_time_factor: summary.real_time_factor,
        n_rows: summary.recorded.rows, n_lost: summary.recorded.lost, n_waits: summary.recorded.waits,
        ...(iteration && { iterations: iteration.mean, iterations_most: iteration.max, n_not_converged: iteration.steps_not_converged }),
      },
      step_ns: { n: time.n_timed, min: ns("min"), median: ns("median"), p90: ns("p90"), p99: ns("p99"), p999: ns("p999"), max: ns("max"), classes: time.classes_ns },
      units: system.units.map((unit) => ({ ...unit, is_law: unit.law, is_fresh: unit.fresh, n_inputs: unit.inputs, n_outputs: unit.outputs })),
      links: system.connections.map((link) => ({
        from: link.from_unit, to: link.to_unit, every: link.exchange, order: link.order, bond: link.bond,
        output: link.from.slice(system.units[link.from_unit].name.length + 1), input: link.to.slice(system.units[link.to_unit].name.length + 1),
      })),
      graph_bonds: system.bonds.map((bond) => ({ name: bond.name, is_found: bond.found, ends: bond.ends, action: pairOf(bond, "action"), rate: pairOf(bond, "rate") })),
      bonds: ledger.bonds.map((bond, i) => bondOfLedger(bond, system.bonds[i])),
      alarms: ledger.alarms.map((alarm) => ({ ...alarm, t: alarm.from, t_end: alarm.to })), n_more_alarms: ledger.alarms_not_listed,
      limits: (Array.isArray(summary.limits) ? summary.limits : []).filter((one) => one && typeof one === "object").map((one) => ({ ...one, signal: String(one.signal), dim: one.dimension ? " " + one.dimension : "" })),
      circuit: summary.circuit ? circuitOf(summary.circuit) : null, pace: summary.pace && typeof summary.pace === "object" ? summary.pace : null,
      ports: summary.ports && typeof summary.ports === "object" ? summary.ports : null,
      twin: summary.twin && typeof summary.twin === "object" ? twinOf(summary.twin) : null,
    };
  }
  function twinOf(twin) {
    const list = (value) => (Array.isArray(value) ? value.filter((one) => one && typeof one === "object").map((one) => ({ ...one, name: String(one.name), dim: String(one.dim || "") })) : []);
    const tuning = twin.tuning && typeof twin.tuning === "object" ? { ...twin.tuning, unknowns: list(twin.tuning.unknowns), sentence: String(twin.tuning.sentence || "") } : null;
    return { unit: String(twin.unit), verdict: String(twin.verdict), sentence: String(twin.sentence || ""), unknowns: list(twin.unknowns), outputs: list(twin.outputs), sensors: list(twin.sensors), columns: list(twin.data && twin.data.columns), tuning };
  }
  // members that are missing or of another kind leave their part of the page empty
  function trustOf(trust) {
    const list = (value) => (Array.isArray(value) ? value.filter((one) => one && typeof one === "object") : []);
    return {
      ...trust, verdict: trust.verdict || "not judged", reason: trust.reason || "", left_out: trust.left_out || "", times: trust.times || [], companions: list(trust.companions),
      signals: list(trust.signals).map((one) => ({ ...one, name: String(one.name), unit: one.unit || "", is_wanted: one.wanted !== false, growth: one.growth && one.growth.latched !== false ? one.growth : null })),
      loops: list(trust.loops).map((one) => ({ ...one, units: Array.isArray(one.units) ? one.units.map(String) : [] })),
    };
  }
  // one direction of a bond: from where to where, and what was recorded of it at both ends
  function pairOf(bond, key) {
    const to = bond[key + "_to"];
    return { names: bond[key].map((from, i) => (to[i] ? from + " \u2192 " + to[i] : from)), sent: bond[key + "_sent"], received: bond[key + "_received"] };
  }
  function bondOfLedger(bond, shape) {
    const mu = {
      "automatic": "from feedthrough, rates, orders and exchange", "given": "given in the system file", "feedthrough on both sides": "unknown: feedthrough on both sides",
      "implicit": "unknown: a unit has an implicit solver", "gauss-seidel": "unknown under Gauss-Seidel", "iterative": "unknown: the exchange is iterated",
      "models": "unknown: the inputs come from models of the units", "means": "unknown: the inputs are means over calls", "no power": "none: the product is no power",
    };
    return {
      ...bond, is_heat: shape.heat, interval: shape.exchange, mu_origin: mu[bond.mu_from], n_samples: bond.samples, residual: bond.dE, n_warnings: bond.warnings, n_stops: bond.stops,
      ter: bond.ter === undefined ? undefined : {
        total: bond.ter, net: bond.net, throughput: bond.throughput, relative: bond.rter, relative_worst: bond.rter_worst, flow: bond.flow_part, effort: bond.effort_part, n_bad: bond.bad_samples,
      },
    };
  }
  function circuitOf(one) {
    return {
      title: one.title, formulation: one.formulation, method: one.method, step: one.step, fixed_iterations: one.fixed_iterations,
      n: one.sizes.n, n_states: one.sizes.p, n_solved: one.sizes.solved, n_factors: one.sizes.factors || 0, n_bytes: one.sizes.bytes, is_linear: one.sizes.linear, is_constant: one.sizes.constant,
      n_steps: one.steps, n_stages: one.stages, iterations: one.iterations_mean, max_iterations: one.iterations_worst, n_unconverged: one.unconverged,
      n_refactors: one.refactors, n_repivots: one.repivots, n_switchings: one.switchings,
    };
  }

  // ------------------------------------------------------------------------------------------------------------
  // 1 helpers

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "text") node.textContent = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }
  const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

  const isNumber = (x) => typeof x === "number" && isFinite(x);

  // significant digits, without the zeros that say nothing
  function digits(x, n) {
    if (!isNumber(x)) return "\u2013";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e6 || size < 1e-4) return x.toExponential(n - 1).replace(/\.?0+e/, "e").replace("e+", "e").replace("-", "\u2212");
    return String(Number(x.toPrecision(n))).replace("-", "\u2212");
  }
  function percent(x) { return isNumber(x) ? digits(100 * x, 3) + " %" : "\u2013"; }

  // 12300 J -> 12.3 kJ
  function scaled(x, dim) {
    if (!isNumber(x)) return "\u2013";
    const prefixes = ["n", "\u00b5", "m", "", "k", "M", "G", "T"];
    if (x === 0) return "0 " + dim;
    let i = Math.floor(Math.log10(Math.abs(x) * (1 + 1e-9)) / 3);
    if (i < -3 || i > 4) return digits(x, 3) + " " + dim;
    return digits(x / Math.pow(10, 3 * i), 3) + " " + prefixes[i + 3] + dim;
  }
  const seconds = (x) => scaled(x, "s");

  // 0.0026 m -> 2.6 mm where a person would write a prefix; otherwise the unit as it is. No prefix before m^2 or kg.
  const SMALL = ["m", "s", "N", "Pa", "J", "W", "V", "A", "Hz", "rad", "K", "C", "F", "H", "Ohm", "bar"], LARGE = ["N", "Pa", "J", "W", "V", "A", "Hz", "Ohm"];
  function amount(x, dim, n) {
    if (!isNumber(x)) return "\u2013";
    const head = (/^([A-Za-z]+)(?:[*.\u00b7/].*)?$/.exec(dim) || [])[1], size = Math.abs(x);
    const power = size > 0 && size < 0.1 && SMALL.includes(head) ? Math.max(-9, 3 * Math.floor(Math.log10(size * (10 + 1e-8)) / 3))
      : size >= 1e4 && size < 1e12 && LARGE.includes(head) ? 3 * Math.floor(Math.log10(size) / 3) : 0;
    const prefix = { "-9": "n", "-6": "\u00b5", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G" }[power];
    return (digits(x / Math.pow(10, power), n || 3) + " " + prefix + dimension(dim)).trim();
  }
  const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  function dimension(dim) {
    return dim === "" || dim === "1" ? "" : dim.replace(/\*/g, "\u00b7");
  }

  const KINDS = { "consistent": "ok", "inconsistent": "wrong", "diverged": "wrong", "trustworthy": "ok", "doubtful": "doubt", "wrong": "wrong", "not judged": "none" };
  const kindOf = (verdict) => KINDS[verdict] || "none";

  // shape as well as colour: disc with a tick, triangle, octagon with a cross, dashed ring
  function icon(kind, size) {
    const shape = {
      ok: [["circle", { cx: 12, cy: 12, r: 10, fill: "currentColor" }], ["path", { d: "M7 12.5l3.4 3.4L17 9", class: "cut" }]],
      doubt: [["path", { d: "M12 2.5L22.5 21H1.5z", fill: "currentColor", stroke: "currentColor", "stroke-width": 1.5, "stroke-linejoin": "round" }],
        ["path", { d: "M12 9v6M12 17.6v.9", class: "cut" }]],
      wrong: [["path", { d: "M8 2h8l6 6v8l-6 6H8l-6-6V8z", fill: "currentColor" }], ["path", { d: "M8.3 8.3l7.4 7.4M15.7 8.3l-7.4 7.4", class: "cut" }]],
      none: [["circle", { cx: 12, cy: 12, r: 9, fill: "none", stroke: "currentColor", "stroke-width": 2.2, "stroke-dasharray": "4 3" }],
        ["path", { d: "M8 12h8", fill: "none", stroke: "currentColor", "stroke-width": 2.2 }]],
    }[kind];
    const node = svg("svg", { viewBox: "0 0 24 24", width: size, height: size, class: "icon", "aria-hidden": "true" });
    for (const [name, attributes] of shape) {
      if (attributes.class === "cut") Object.assign(attributes, { fill: "none", stroke: "var(--panel)", "stroke-width": 2.4, "stroke-linecap": "round" });
      node.append(svg(name, attributes));
    }
    return node;
  }
  function chip(verdict) {
    const kind = kindOf(verdict);
    return el("span", { class: "chip v-" + kind }, icon(kind, 16), verdict);
  }

  function section(id, title, ...children) {
    const node = el("section", { id: id + suffix, "aria-label": title }, el("h2", { text: title }), ...children);
    main.append(node);
    nav.append(el("a", { href: "#" + id + suffix, text: title }));
    return node;
  }

  // ------------------------------------------------------------------------------------------------------------
  // 2 signals: base 64 of little-endian numbers, see report_series.c

  function bytesOf(text) {
    const raw = atob(text || "");
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes.buffer;
  }
  const numbersOf = (text) => new Float64Array(bytesOf(text));
  // the columns of a result, each with the times it was recorded at
  function columnsOf(from) {
    const source = { edges: numbersOf(from.edges), gaps: from.gaps, n_classes: from.n_classes };
    for (const signal of from.columns) signal.source = source;
    return from.columns;
  }
  const signals = columnsOf(series);
  const signalOf = new Map(signals.map((signal) => [signal.name, signal]));
  const edges = numbersOf(series.edges);
  const referenceOf = new Map(reference ? columnsOf(reference).map((signal) => [signal.name, signal]) : []);
  const differenceOf = new Map(reference ? reference.signals.map((one) => [one.name, one]) : []);

  // times with gaps (lost rows) between them: a break is a NaN
  function withGaps(gaps, t, v) {
    if (gaps.length === 0) return { t, v };
    const times = [], values = [];
    let g = 0;
    for (let i = 0; i < t.length; i++) {
      if (g < gaps.length && t[i] >= gaps[g + 1]) {
        times.push(gaps[g + 1]);
        values.push(NaN);
        while (g < gaps.length && t[i] >= gaps[g + 1]) g += 2;
      }
      times.push(t[i]);
      values.push(v[i]);
    }
    return { t: Float64Array.from(times), v: Float64Array.from(values) };
  }

  function decodeClasses(signal, v) {
    const p = new Uint16Array(bytesOf(signal.p));
    const t = [], values = [], { edges, gaps, n_classes } = signal.source;
    for (let k = 0; k < n_classes; k++) {
      const start = edges[k], width = edges[k + 1] - start;
      for (let j = 0; j < 2; j++) {
        t.push(start + width * (p[2 * k + j] & 32767) / 32767);
        values.push(v[2 * k + j]);
      }
      if (p[2 * k + 1] & 32768) { // a value is missing somewhere in this class
        t.push(t[t.length - 1]);
        values.push(NaN);
      }
    }
    return withGaps(gaps, t, values);
  }

  // {t, v} of a signal, decoded when it is first drawn
  function points(signal) {
    if (signal.points) return signal.points;
    const v = numbersOf(signal.v), { edges, gaps } = signal.source;
    const n = edges.length;
    if (v.length === 1 && n > 1) signal.points = withGaps(gaps, [edges[0], edges[n - 1]], [v[0], v[0]]);
    else if (signal.p !== undefined) signal.points = decodeClasses(signal, v);
    else signal.points = withGaps(gaps, edges, v);
    return signal.points;
  }

  // index of the last time not behind x, -1 if there is none
  function lastBefore(t, x) {
    let a = -1, b = t.length;
    while (b - a > 1) {
      const m = (a + b) >> 1;
      if (t[m] <= x) a = m; else b = m;
    }
    return a;
  }

  // the recorded value at or before x; between the two when decimated they are as near as a class is wide
  function valueAt(signal, x) {
    const { t, v } = points(signal);
    let i = lastBefore(t, x);
    if (!signal.is_step && i + 1 < t.length && (i < 0 || t[i + 1] - x < x - t[i])) i++;
    return i < 0 ? NaN : v[i];
  }
  function valueText(signal, x, factor) {
    const value = valueAt(signal, x);
    if (signal.items && signal.items[value] !== undefined) return signal.items[value];
    return isNumber(value) ? digits(value * factor, 6) : "no value";
  }

  // the value on the straight line between two points
  function between(t, v, x) {
    const i = lastBefore(t, x);
    if (i < 0) return v[0];
    if (i + 1 >= t.length) return v[t.length - 1];
    return v[i] + (v[i + 1] - v[i]) * (x - t[i]) / (t[i + 1] - t[i]);
  }

  // the standard deviation of an estimate of a twin
  function deviationOf(name) {
    const unit = data.units.find((one) => name.startsWith(one.name + ".") && signalOf.has(one.name + ".nis"));
    return unit && signalOf.get(unit.name + ".sd." + name.slice(unit.name.length + 1));
  }

  // {t, v, b}: a signal, and how far it may be off at these times: its error band, or two standard deviations of an estimate; null
  // where neither is known
  function bandOf(signal) {
    if (signal.band !== undefined) return signal.band;
    const deviation = deviationOf(signal.name);
    if (deviation) {
      const { t, v } = points(signal), sd = points(deviation);
      signal.band = t.length < 2 ? null : { t, v, b: t.map((x) => 2 * between(sd.t, sd.v, x)) };
      return signal.band;
    }
    const course = (judged.get(signal.name) || {}).course;
    signal.band = null;
    if (!course) return null;
    const bt = numbersOf(data.trust.times[course.times]), b = numbersOf(course.band), { t, v } = points(signal);
    if (bt.length < 2 || b.length !== bt.length || t.length === 0 || signal.is_step) return null;
    // few rows: the times of the band in between them as well
    const grid = t.length >= bt.length ? t : Float64Array.from(new Set([...t, ...bt.filter((x) => x >= t[0] && x <= t[t.length - 1])])).sort();
    signal.band = { t: grid, v: grid === t ? v : grid.map((x) => between(t, v, x)), b: grid.map((x) => between(bt, b, x)) };
    return signal.band;
  }

  // ------------------------------------------------------------------------------------------------------------
  // 3 plots

  const LEFT = 62, RIGHT = 10, AXIS = 22;

  // One time range and one cursor for all plots of the page.
  const view = {
    full: [edges.length ? edges[0] : 0, edges.length ? edges[edges.length - 1] : 1],
    lo: 0, hi: 1, cursor: NaN, charts: [], timer: 0,
    set(lo, hi) {
      const [a, b] = this.full;
      const span = Math.min(b - a, Math.max(hi - lo, (b - a) * 1e-7));
      lo = Math.min(Math.max(lo, a), b - span);
      this.lo = lo;
      this.hi = lo + span;
      this.refresh();
    },
    zoom(at, factor) { this.set(at - (at - this.lo) * factor, at + (this.hi - at) * factor); },
    reset() { this.set(this.full[0], this.full[1]); },
    isZoomed() { return this.hi - this.lo < (this.full[1] - this.full[0]) * 0.999999; },
    setCursor(t) {
      this.cursor = t;
      for (const chart of this.charts) chart.showCursor();
    },
    refresh() {
      if (this.timer) return;
      this.timer = requestAnimationFrame(() => {
        this.timer = 0;
        for (const chart of this.charts) chart.draw();
      });
    },
  };
  if (!(view.full[1] > view.full[0])) view.full[1] = view.full[0] + 1;
  view.lo = view.full[0];
  view.hi = view.full[1];

  // about n round values that cover lo..hi
  function niceTicks(lo, hi, n) {
    const raw = (hi - lo) / Math.max(1, n);
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.9999);
    const ticks = [];
    for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + 1e-9 * step && ticks.length < 100; i++) ticks.push(i * step);
    return { step, ticks };
  }

  // labels with as many decimals as the step needs, and a common power of ten where they would be long
  function tickLabels(scale) {
    const most = Math.max(...scale.ticks.map(Math.abs), 0);
    let power = most > 0 ? Math.floor(Math.log10(most * (1 + 1e-12))) : 0;
    power = power >= 5 || power <= -4 ? 3 * Math.floor(power / 3) : 0;
    const unit = Math.pow(10, power);
    const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(scale.step / unit * (1 + 1e-9)))));
    return { power, texts: scale.ticks.map((x) => (x / unit).toFixed(decimals).replace(/^-(0\.?0*)$/, "$1").replace("-", "\u2212")) };
  }
  const SUPER = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };
  const powerText = (n) => (n === 0 ? "" : "\u00d710" + String(n).replace(/./g, (c) => SUPER[c]));

  // panes: [{title, dim, height, lines: [{signal, dash}], limits: [{y, text, level}], alarms: [...]}]
  class Chart {
    constructor(host, label) {
      this.panes = [];
      this.width = 0;
      this.time = el("span", { class: "num", "aria-live": "polite" });
      this.resetButton = el("button", { type: "button", class: "quiet", text: "Whole run", onclick: () => view.reset() });
      this.cursor = el("div", { class: "cursor", hidden: true });
      this.select = el("div", { class: "select", hidden: true });
      this.body = el("div");
      this.node = el("div", {
        class: "chart", tabindex: 0, role: "group",
        "aria-label": label + ". Arrow keys move the cursor, with Shift the range; plus and minus zoom; 0 shows the whole run.",
      }, el("div", { class: "chart-head" }, this.time, el("span", { class: "spring" }),
        el("span", { class: "small hint-keys", text: "drag to zoom \u00b7 double click for all" }), this.resetButton),
      this.body, this.cursor, this.select);
      host.append(this.node);
      this.listen();
      view.charts.push(this);
    }

    setPanes(panes) {
      this.panes = panes;
      this.body.textContent = "";
      panes.forEach((pane, k) => {
        pane.canvas = el("canvas", { role: "img", "aria-label": pane.title + " over time" });
        pane.factor = pane.factor || 1;
        pane.canvas.dataset.factor = pane.factor;
        const swatch = (kind, colour) => {
          const i = el("i", { class: kind });
          i.style.setProperty("--c", colour);
          return i;
        };
        pane.keys = pane.lines.map((line) => {
          line.value = el("span", { class: "num" });
          line.range = el("span", { class: "num muted range" });
          return el("span", { class: "key" }, line.isReference ? swatch("thin", "var(--ink)") : swatch(line.dash ? "dash" : null, "var(--s" + (line.colour % 8) + ")"),
            line.name, line.value, line.band ? line.range : "", line.note ? el("small", { class: "true-error", text: line.note }) : "");
        });
        const banded = pane.lines.find((line) => line.band);
        if (banded) pane.keys.push(el("span", { class: "key-band" }, swatch("area", "var(--s" + (banded.colour % 8) + ")"), deviationOf(banded.signal.name) ? "2 standard deviations" : "error band"));
        pane.isLast = k === panes.length - 1;
        pane.note = el("span", { class: "muted" });
        this.body.append(el("div", { class: "pane" }, el("div", { class: "pane-head" }, el("b", { text: pane.title }), ...pane.keys, pane.note), pane.canvas));
      });
      this.draw();
    }

    remove() {
      view.charts.splice(view.charts.indexOf(this), 1);
      this.node.remove();
    }

    x(t) { return LEFT + (t - view.lo) / (view.hi - view.lo) * (this.width - LEFT - RIGHT); }
    t(x) { return view.lo + (x - LEFT) / (this.width - LEFT - RIGHT) * (view.hi - view.lo); }

    draw() {
      if (this.panes.length === 0 || (this.node.offsetParent === null && !look.printing)) return;
      this.width = look.printing ? 640 : this.body.clientWidth;
      if (this.width < 40) return;
      this.node.dataset.lo = view.lo;
      this.node.dataset.hi = view.hi;
      this.resetButton.hidden = !view.isZoomed();
      for (const pane of this.panes) drawPane(this, pane);
      this.showCursor();
    }

    showCursor() {
      const t = view.cursor;
      const isVisible = t >= view.lo && t <= view.hi;
      this.cursor.hidden = !isVisible;
      this.time.textContent = isVisible ? "t = " + digits(t, 7) + " s" : "t from " + digits(view.lo, 5) + " to " + digits(view.hi, 5) + " s";
      if (isVisible) this.cursor.style.left = this.x(t) + "px";
      for (const pane of this.panes) {
        for (const line of pane.lines) {
          line.value.textContent = isVisible ? valueText(line.signal, t, pane.factor) : "";
          line.range.textContent = isVisible && line.band ? "\u00b1 " + digits(between(line.band.t, line.band.b, t) * pane.factor, 2) : "";
        }
      }
    }

    listen() {
      const node = this.body;
      const pointers = new Map();
      let start = null, pinch = null;
      const at = (event) => event.clientX - this.body.getBoundingClientRect().left;

      const down = (event) => {
        if (event.target.tagName !== "CANVAS" || (event.pointerType === "mouse" && event.button !== 0)) return;
        pointers.set(event.pointerId, at(event));
        node.setPointerCapture(event.pointerId);
        start = { x: at(event), lo: view.lo, hi: view.hi, isPan: event.shiftKey || event.pointerType === "touch" };
        pinch = pointers.size === 2 ? { xs: [...pointers.values()], lo: view.lo, hi: view.hi } : null;
      };
      const move = (event) => {
        const x = at(event);
        if (pointers.has(event.pointerId)) pointers.set(event.pointerId, x);
        if (pinch && pointers.size === 2) this.pinch(pinch, [...pointers.values()]);
        else if (start && start.isPan && view.isZoomed()) {
          const shift = (start.x - x) / (this.width - LEFT - RIGHT) * (start.hi - start.lo);
          view.set(start.lo + shift, start.hi + shift);
        } else if (start && !start.isPan) this.showSelection(start.x, x);
        if (event.target.tagName === "CANVAS" || start) view.setCursor(Math.min(Math.max(this.t(x), view.lo), view.hi));
      };
      const up = (event) => {
        const x = at(event);
        pointers.delete(event.pointerId);
        this.select.hidden = true;
        if (start && !start.isPan && Math.abs(x - start.x) > 5) view.set(this.t(Math.min(x, start.x)), this.t(Math.max(x, start.x)));
        start = null;
        if (pointers.size < 2) pinch = null;
      };
      node.addEventListener("pointerdown", down);
      node.addEventListener("pointermove", move);
      node.addEventListener("pointerup", up);
      node.addEventListener("pointercancel", up);
      node.addEventListener("pointerleave", () => { if (!start) view.setCursor(NaN); });
      node.addEventListener("dblclick", () => view.reset());
      // the wheel scrolls the page until the plot has been clicked or reached with Tab
      node.addEventListener("wheel", (event) => {
        if (event.target.tagName !== "CANVAS" || !(event.ctrlKey || this.node.contains(document.activeElement))) return;
        event.preventDefault();
        view.zoom(this.t(at(event)), Math.exp(Math.sign(event.deltaY) * 0.2));
      }, { passive: false });
      this.node.addEventListener("keydown", (event) => this.key(event));
    }

    // the two times under the fingers stay under them
    pinch(from, xs) {
      const plot = this.width - LEFT - RIGHT;
      const time = (x) => from.lo + (x - LEFT) / plot * (from.hi - from.lo);
      const [a, b] = from.xs[0] < from.xs[1] ? [0, 1] : [1, 0];
      const ta = time(from.xs[a]), tb = time(from.xs[b]);
      const width = Math.max(20, xs[b] - xs[a]);
      const rate = (tb - ta) / width;
      if (!(rate > 0)) return;
      const lo = ta - (xs[a] - LEFT) * rate;
      view.set(lo, lo + plot * rate);
    }

    showSelection(a, b) {
      this.select.hidden = false;
      this.select.style.left = Math.max(LEFT, Math.min(a, b)) + "px";
      this.select.style.width = Math.max(0, Math.min(Math.max(a, b), this.width - RIGHT) - Math.max(LEFT, Math.min(a, b))) + "px";
    }

    key(event) {
      if (event.target !== this.node || event.altKey || event.metaKey || event.ctrlKey) return;
      const span = view.hi - view.lo;
      const middle = isFinite(view.cursor) ? view.cursor : (view.lo + view.hi) / 2;
      const sign = event.key === "ArrowLeft" ? -1 : 1;
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        if (event.shiftKey) view.set(view.lo + sign * span / 8, view.hi + sign * span / 8);
        else view.setCursor(Math.min(Math.max(middle + sign * span / 100, view.lo), view.hi));
      } else if (event.key === "+" || event.key === "=") view.zoom(middle, 0.7);
      else if (event.key === "-") view.zoom(middle, 1 / 0.7);
      else if (event.key === "0" || event.key === "Escape") view.reset();
      else return;
      event.preventDefault();
    }
  }

  // smallest and largest value in sight
  function yRange(pane) {
    let lo = Infinity, hi = -Infinity;
    for (const line of pane.lines) {
      const { t, v } = points(line.signal);
      const from = Math.max(0, lastBefore(t, view.lo)), to = Math.min(t.length - 1, lastBefore(t, view.hi) + 1);
      for (let i = from; i <= to; i++) {
        if (v[i] < lo) lo = v[i];
        if (v[i] > hi) hi = v[i];
      }
    }
    if (!(lo <= hi)) return [0, 1];
    [lo, hi] = withBands(pane, lo, hi);
    // a limit that is near belongs into the picture; one that is far would flatten it
    for (const limit of pane.limits || []) if (hi > 0.25 * limit.y) hi = Math.max(hi, limit.y);
    if (pane.isFromZero) lo = Math.min(lo, 0);
    const flat = Math.max(Math.abs(lo), Math.abs(hi)) * 1e-9;
    if (hi - lo <= flat) {
      const room = Math.abs(hi) > 0 ? Math.abs(hi) * 0.1 : 1;
      return [lo - room, hi + room];
    }
    const room = (hi - lo) * 0.06;
    return [pane.isFromZero && lo === 0 ? 0 : lo - room, hi + room];
  }

  // The bands belong into the picture as long as they do not flatten the curves: up to their own height above and below.
  function withBands(pane, lo, hi) {
    let low = lo, high = hi;
    for (const { band } of pane.lines) {
      if (!band) continue;
      const from = Math.max(0, lastBefore(band.t, view.lo)), to = Math.min(band.t.length - 1, lastBefore(band.t, view.hi) + 1);
      for (let i = from; i <= to; i++) {
        if (band.v[i] - band.b[i] < low) low = band.v[i] - band.b[i];
        if (band.v[i] + band.b[i] > high) high = band.v[i] + band.b[i];
      }
    }
    const room = hi > lo ? hi - lo : Infinity;
    const [a, b] = [Math.max(low, lo - room), Math.min(high, hi + room)];
    return isFinite(a) && isFinite(b) ? [a, b] : [lo, hi];
  }

  function drawPane(chart, pane) {
    const ratio = look.printing ? 3 : window.devicePixelRatio || 1;
    const width = chart.width, height = pane.height + (pane.isLast ? AXIS : 6);
    const canvas = pane.canvas;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = look.printing ? "auto" : height + "px";
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
    const [lo, hi] = yRange(pane);
    const y = (value) => 4 + (hi - value) / (hi - lo) * (pane.height - 8);
    const box = { x0: LEFT, x1: width - RIGHT, y0: 2, y1: pane.height - 2 };
    pane.y = [lo, hi];
    drawAxes(c, chart, pane, box, y);
    c.save();
    c.beginPath();
    c.rect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
    c.clip();
    drawAlarms(c, chart, pane, box);
    for (const limit of pane.limits || []) drawLimit(c, limit, box, y);
    for (const line of pane.lines) if (line.band) drawBand(c, chart, line, y);
    for (const line of pane.lines) drawLine(c, chart, line, y);
    c.restore();
    drawFarLimits(c, pane, box, hi);
  }

  function drawAxes(c, chart, pane, box, y) {
    const vertical = niceTicks(pane.y[0] * pane.factor, pane.y[1] * pane.factor, Math.max(2, pane.height / 30));
    const labels = tickLabels(vertical);
    c.lineWidth = 1;
    c.strokeStyle = look.colours.grid;
    c.fillStyle = look.colours.muted;
    c.textAlign = "right";
    c.textBaseline = "middle";
    vertical.ticks.forEach((value, i) => {
      const at = Math.round(y(value / pane.factor)) + 0.5;
      if (at < box.y0 || at > box.y1) return;
      c.beginPath();
      c.moveTo(box.x0, at);
      c.lineTo(box.x1, at);
      c.stroke();
      c.fillText(labels.texts[i], box.x0 - 6, Math.max(at, 7));
    });
    pane.note.textContent = labels.power === 0 ? "" : "axis " + powerText(labels.power);
    const horizontal = niceTicks(view.lo, view.hi, Math.max(2, (box.x1 - box.x0) / 95));
    const times = horizontal.ticks.map((t) => {
      const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(horizontal.step * (1 + 1e-9)))));
      return t.toFixed(decimals).replace("-", "\u2212");
    });
    c.textAlign = "center";
    c.textBaseline = "top";
    horizontal.ticks.forEach((t, i) => {
      const at = Math.round(chart.x(t)) + 0.5;
      c.beginPath();
      c.moveTo(at, box.y0);
      c.lineTo(at, box.y1);
      c.stroke();
      const text = times[i] + (i === horizontal.ticks.length - 1 ? " s" : "");
      if (pane.isLast) c.fillText(text, Math.min(at, chart.width - c.measureText(text).width / 2 - 1), pane.height + 4);
    });
    c.strokeStyle = look.colours.axis;
    c.strokeRect(box.x0 + 0.5, box.y0 + 0.5, box.x1 - box.x0 - 1, box.y1 - box.y0 - 1);
  }

  // a line where an alarm begins, and where it belongs a bar for as long as it lasts
  function drawAlarms(c, chart, pane, box) {
    for (const alarm of pane.alarms || []) {
      const a = chart.x(alarm.t), b = chart.x(isNumber(alarm.t_end) ? alarm.t_end : view.full[1]);
      if (b < box.x0 || a > box.x1) continue;
      const colour = alarm.level === "stop" ? "wrong" : "doubt";
      c.strokeStyle = c.fillStyle = look.colours[colour];
      c.lineWidth = 1;
      c.setLineDash([2, 3]);
      c.beginPath();
      c.moveTo(a, box.y0);
      c.lineTo(a, box.y1);
      c.stroke();
      c.setLineDash([]);
      if (!(pane.indicators || []).includes(alarm.indicator)) continue;
      c.fillRect(a, box.y0, Math.max(1.5, b - a), 3.5);
      c.beginPath(); // a flag at its start
      c.moveTo(a - 5, box.y0);
      c.lineTo(a + 5, box.y0);
      c.lineTo(a, box.y0 + 9);
      c.fill();
    }
  }

  function drawLimit(c, limit, box, y) {
    const at = y(limit.y);
    if (at < box.y0) return;
    c.strokeStyle = look.colours[limit.level === "stop" ? "wrong" : "doubt"];
    c.fillStyle = c.strokeStyle;
    c.lineWidth = 1.3;
    c.setLineDash([6, 4]);
    c.beginPath();
    c.moveTo(box.x0, at);
    c.lineTo(box.x1, at);
    c.stroke();
    c.setLineDash([]);
    c.textAlign = "left";
    c.textBaseline = at - box.y0 > 16 ? "bottom" : "top";
    c.fillText(limit.text, box.x0 + 6, at + (c.textBaseline === "top" ? 2 : -2));
  }

  function drawFarLimits(c, pane, box, hi) {
    const far = (pane.limits || []).filter((limit) => limit.y > hi);
    if (far.length === 0) return;
    c.fillStyle = look.colours.muted;
    c.textAlign = "right";
    c.textBaseline = "top";
    c.fillText("\u2191 " + far.map((limit) => limit.text).join(", "), box.x1 - 6, box.y0 + 3);
  }

  // The area between value - band and value + band. Many points per pixel: of each column the widest. It ends where a
  // value or the band is missing.
  function drawBand(c, chart, line, y) {
    const { t, v, b } = line.band;
    const from = Math.max(0, lastBefore(t, view.lo)), to = Math.min(t.length - 1, lastBefore(t, view.hi) + 1);
    const isDense = (to - from) > 4 * chart.width;
    const pixel = (value) => Math.min(Math.max(y(value), -1e4), 1e4);
    let edge = [];
    const flush = () => {
      c.beginPath();
      edge.forEach((one) => c.lineTo(one.x, one.top));
      edge.reverse().forEach((one) => c.lineTo(one.x, one.bottom));
      c.fill();
      edge = [];
    };
    c.fillStyle = look.colours.series[line.colour % 8];
    c.globalAlpha = 0.2;
    for (let i = from; i <= to; i++) {
      if (!isFinite(v[i]) || !isFinite(b[i])) { flush(); continue; }
      const x = chart.x(t[i]), top = pixel(v[i] + b[i]), bottom = pixel(v[i] - b[i]), last = edge[edge.length - 1];
      if (isDense && last && Math.floor(last.x) === Math.floor(x)) {
        last.top = Math.min(last.top, top);
        last.bottom = Math.max(last.bottom, bottom);
      } else edge.push({ x, top, bottom });
    }
    flush();
    c.globalAlpha = 1;
  }

  // Many points per pixel: of each column the first, smallest, largest and last value make the same picture.
  function drawLine(c, chart, line, y) {
    const { t, v } = points(line.signal);
    const from = Math.max(0, lastBefore(t, view.lo)), to = Math.min(t.length - 1, lastBefore(t, view.hi) + 1);
    const isDense = (to - from) > 4 * chart.width;
    c.strokeStyle = line.isReference ? look.colours.ink : look.colours.series[line.colour % 8];
    c.lineWidth = line.isReference ? 0.8 : line.dash ? 1.3 : 1.5;
    c.setLineDash(line.dash ? [5, 4] : []);
    c.lineJoin = "round";
    c.beginPath();
    let isDown = false, lastY = 0, column = NaN, low = 0, high = 0;
    for (let i = from; i <= to; i++) {
      if (!isFinite(v[i])) { isDown = false; column = NaN; continue; }
      const px = chart.x(t[i]), py = y(v[i]);
      if (isDense && isDown && Math.floor(px) === column) {
        if (py < low || py > high) c.lineTo(px, py);
        low = Math.min(low, py);
        high = Math.max(high, py);
      } else if (!isDown) c.moveTo(px, py);
      else {
        if (line.signal.is_step) c.lineTo(px, lastY);
        c.lineTo(px, py);
      }
      if (Math.floor(px) !== column) { column = Math.floor(px); low = high = py; }
      isDown = true;
      lastY = py;
    }
    c.stroke();
    c.setLineDash([]);
    if (to - from < 40 && t.length > 2 && !line.dash && !line.isReference) drawDots(c, chart, t, v, from, to, y, c.strokeStyle);
  }

  function drawDots(c, chart, t, v, from, to, y, colour) {
    c.fillStyle = colour;
    for (let i = from; i <= to; i++) {
      if (!isFinite(v[i])) continue;
      c.beginPath();
      c.arc(chart.x(t[i]), y(v[i]), 2.4, 0, 7);
      c.fill();
    }
  }

  // ------------------------------------------------------------------------------------------------------------
  // 4 trust: what summary.json says about the error of every signal; nothing is judged here

  const judged = new Map(data.trust ? data.trust.signals.map((one) => [one.name, one]) : []);
  const hasBands = [...judged.values()].some((one) => isNumber(one.band));
  const MAX_ROWS = window.innerWidth > 520 ? 12 : 5; // a row is a block of lines on a phone
  const ORDER = { "wrong": 0, "doubtful": 1, "not judged": 2, "trustworthy": 3 };

  // worst first, those that decide before the others, those at rest last
  function trustRows() {
    const rank = (one) => (one.rule === 0 ? 4 : ORDER[one.verdict] ?? 2);
    const size = (one) => (isNumber(one.relative) ? one.relative : one.verdict === "wrong" ? Infinity : -1);
    return [...judged.values()].sort((a, b) => b.is_wanted - a.is_wanted || rank(a) - rank(b) || (size(a) === size(b) ? 0 : size(b) - size(a)));
  }

  function growthText(one) {
    const { factor, from, to } = one.growth;
    return one.name + " grew " + (isNumber(factor) ? digits(factor, 2) + " times" : "without bound") + (isNumber(from) && isNumber(to) ? ` between ${digits(from, 4)} s and ${digits(to, 4)} s` : "");
  }
  // of those that grew the one that matters: still growing at the end, then the largest factor
  function mostGrown() {
    const size = (one) => (isNumber(one.growth.factor) ? one.growth.factor : Infinity);
    return [...judged.values()].filter((one) => one.growth).sort((a, b) => Boolean(b.growth.active) - Boolean(a.growth.active) || (size(a) === size(b) ? 0 : size(b) - size(a)))[0];
  }

  function share({ relative }) {
    if (!isNumber(relative)) return "";
    const text = relative < 1e-5 ? "less than 0.001 % of" : relative < 2 ? digits(100 * relative, 2) + " % of" : digits(relative, 2) + " times";
    return ` (rms ${text} its movement)`;
  }
  const isExactIn = (one) => one.exact || one.band === 0; // the same in all companions
  function errorText(one) {
    const error = amount(one.band_max, one.unit, 2);
    if (isExactIn(one)) return one.name + (one.estimated ? " is free of coupling errors" : " is the same in all companion runs");
    if (one.rule === 2) return `${one.name} is off by up to ${error}${share(one)}`;
    if (one.rule === 7) return `${one.name} is within ${error}${share(one)}` + (one.digits > 0 ? `, ${one.digits} ${one.digits === 1 ? "digit" : "digits"}` : "");
    return `${one.name} may be off by up to ${error}${share(one)}` + (one.growth ? "; it grew " + growthText(one).slice(one.name.length + 6) : "");
  }

  // what the reason of a signal says beyond the size of the error, such as aliasing: its second half, or all where there is no
  // error to print
  function remarkOf(one) {
    const reason = one.reason || "", isSized = [1, 2, 4, 6, 7].includes(one.rule) && (isNumber(one.band_max) || one.growth);
    return isSized ? reason.split("; ").slice(1).join("; ") : reason;
  }

  // the command that adds error bands to this run
  function bandsCommand() {
    const quoted = (text) => (/[\s'"\\$`*?[\]{}()<>|&;!#~]/.test(text) ? `'${text}'` : text);
    return (data.command.startsWith("yoke run ") ? data.command.replace(/ --trust[= ]\S+/g, "") : "yoke run " + quoted(data.file || "FILE")) + " --trust both";
  }
  const commandLine = () => el("p", { class: "command" }, "Run it with error bands: ", el("code", { text: bandsCommand() }));

  // What stands first on the page: how far the run can be trusted. {title, kind, text, more}
  function lead() {
    const trust = data.trust, grown = mostGrown(), twin = data.twin;
    const line = (text) => el("p", { class: "small", text });
    const remark = (one) => (one && remarkOf(one) !== "" ? [line(sentence(remarkOf(one)))] : []);
    if (data.run.is_failed) return { title: "failed", kind: "wrong", text: data.sentence, more: grown ? [line(sentence("Before that " + growthText(grown)))] : [] };
    if (data.run.is_diverged) {
      return { title: "diverged", kind: "wrong", text: grown ? growthText(grown) : (trust && trust.reason) || data.sentence, more: hasBands ? remark(grown) : [...remark(grown), commandLine()] };
    }
    if (twin) return { title: twin.verdict === "starting" ? "not judged" : twin.verdict, kind: kindOf(twin.verdict), text: twin.sentence.replace(/^[a-z ]+: /, ""), more: [] };
    if (!trust) {
      // only the ledger watched: what it found counts, what it did not find says nothing
      const isBad = data.verdict === "wrong" || data.verdict === "doubtful";
      return { title: isBad ? data.verdict : "not judged", kind: isBad ? kindOf(data.verdict) : "none", text: "This result has no error bands: the errors of its signals are unknown.", more: circuit ? [] : [isBad && line("The energy ledger: " + data.sentence), commandLine()] };
    }
    const first = trustRows()[0], kind = kindOf(trust.verdict);
    if (first && first.verdict === trust.verdict && isNumber(first.band)) {
      if (first.rule === 1 && first.growth) return { title: trust.verdict, kind, text: growthText(first), more: remark(first) };
      if ([2, 4, 6, 7].includes(first.rule)) {
        const text = (first.rule === 7 && judged.size > 1 ? "The largest error: " : "") + errorText(first);
        return { title: trust.verdict, kind, text, more: remark(first) };
      }
    }
    return { title: trust.verdict, kind, text: trust.reason || "No error estimate", more: !hasBands && first && first.rule !== 0 ? [commandLine()] : [] };
  }

  // "true error 1.97 mm, band 2.55 mm" of a signal that the reference has
  function trueError(name) {
    const difference = differenceOf.get(name), one = judged.get(name), unit = one ? one.unit : signalOf.get(name).dim;
    if (!difference || !isNumber(difference.max)) return "";
    return "true error " + amount(difference.max, unit) + (one && isNumber(one.band_max) ? ", band " + amount(one.band_max, unit) : ", no band");
  }
  function referenceText(rows, others) {
    const both = rows.filter((one) => isNumber(one.band_max) && differenceOf.has(one.name) && isNumber(differenceOf.get(one.name).max));
    const outside = both.filter((one) => differenceOf.get(one.name).max > one.band_max);
    const first = both[0] || rows.find((one) => trueError(one.name) !== "");
    const rest = others.filter((one) => isNumber(differenceOf.get(one.name).max)).slice(0, 20).map((one) => `${one.name} ${amount(differenceOf.get(one.name).max, one.unit)}`);
    if (!first) return "";
    const count = both.length === 0 ? "" : outside.length === 0 ? (both.length === 1 ? " It lies within its band." : ` All ${both.length} signals lie within their bands.`)
      : ` Outside ${outside.length === 1 ? "its band" : "their bands"}: ${outside.slice(0, 10).map((one) => one.name).join(", ")}${outside.length > 10 ? ", ..." : ""}.`;
    return `Compared with the reference ${reference.path}: ${first.name}, ${trueError(first.name)}.${count}` + (rest.length > 0 ? ` True errors of signals without a band: ${rest.join(", ")}.` : "");
  }

  function trustTable(rows) {
    const hasTruth = rows.some((one) => trueError(one.name) !== "");
    const heads = ["signal", ...(hasBands ? ["error up to", "at", "rms band", "digits", "rms of movement"] : []), ...(hasTruth ? ["true error"] : []), "verdict"];
    // a remark that all signals share stands on top of the page
    const isShared = rows.length > 1 && rows.every((one) => remarkOf(one) === remarkOf(rows[0])) && !rows.some((one) => one.growth);
    const isText = (head) => head === "signal" || head === "verdict";
    const cell = (head, ...content) => el("td", { class: isText(head) ? null : "num", "data-label": head }, ...content);
    const line = (one) => {
      const isExact = isExactIn(one), truth = differenceOf.get(one.name), isDrawn = signalOf.has(one.name) && series.n_rows > 0;
      const remark = isShared ? "" : remarkOf(one) || (one.growth ? growthText(one).slice(one.name.length + 1) : "");
      const values = { "error up to": isExact ? "exact" : amount(one.band_max, one.unit), "at": isNumber(one.at_time) && !isExact ? digits(one.at_time, 4) + " s" : "\u2013", "rms band": isExact ? "exact" : amount(one.band, one.unit),
        "digits": !isNumber(one.band) ? "\u2013" : one.digits > 0 ? String(one.digits) : "none", "rms of movement": percent(one.relative), "true error": truth ? amount(truth.max, one.unit) : "\u2013" };
      return el("tr", { class: isDrawn ? "go" : null, "data-signal": one.name, onclick: () => { if (isDrawn) showSignal(one.name); } },
        cell("signal", isDrawn ? el("button", { type: "button", class: "name", title: "show its curve", text: one.name }) : el("span", { class: "name", text: one.name }),
          !one.is_wanted && el("small", { text: " does not decide" }), remark && el("small", { class: "remark", text: remark })),
        ...heads.filter((head) => !isText(head)).map((head) => cell(head, values[head])), cell("verdict", one.verdict ? chip(one.verdict) : el("small", { text: "not judged" })));
    };
    const body = el("tbody", {}, ...rows.slice(0, MAX_ROWS).map(line));
    const more = rows.length > MAX_ROWS && el("button", { type: "button", class: "quiet", text: `Show all ${grouped(rows.length)} signals`, onclick: () => {
      body.append(...rows.slice(MAX_ROWS).map(line));
      more.remove();
    } });
    return el("div", {}, el("div", { class: "scroll" }, el("table", { class: "trust" }, el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { text, scope: "col", class: isText(text) ? null : "num" })))), body)),
      more && el("p", { class: "more" }, more, el("span", { class: "muted", text: ` The worst ${MAX_ROWS} are listed.` })));
  }

  function loopTable(loops) {
    return el("div", { class: "scroll" }, el("h3", { text: `${loops.length} loops` }), el("table", { class: "trust loops" },
      el("thead", {}, el("tr", {}, ...["units", "worst signal", "why", "verdict"].map((text) => el("th", { text, scope: "col" })))),
      el("tbody", {}, ...loops.slice(0, 200).map((loop) => el("tr", {},
        el("td", { "data-label": "units", text: loop.units.slice(0, 12).join(", ") + (loop.units.length > 12 ? ` and ${loop.units.length - 12} more` : "") }),
        el("td", { "data-label": "worst signal", text: loop.worst || "\u2013" }), el("td", { "data-label": "why", text: loop.reason || "" }), el("td", { "data-label": "verdict" }, chip(loop.verdict || "not judged")))))));
  }

  // what connections to slower units have sent and delivered
  function flowTable(flows) {
    const heads = ["flow", "sent", "arrived", "did not arrive", "missed up to", "verdict"], isText = (head) => head === "flow" || head === "verdict";
    return el("div", { class: "scroll" }, el("h3", { text: "Flows to slower units" }), el("table", { class: "trust flows" },
      el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { text, scope: "col", class: isText(text) ? null : "num" })))),
      el("tbody", {}, ...flows.slice(0, 200).map((flow) => el("tr", {},
        el("td", { "data-label": "flow" }, el("span", { class: "name", text: `${flow.from} \u2192 ${flow.to}` }), el("small", { text: flow.averaged ? " averaged" : " samples" })),
        el("td", { class: "num", "data-label": "sent", text: amount(flow.sent, flow.unit || "") }), el("td", { class: "num", "data-label": "arrived", text: amount(flow.arrived, flow.unit || "") }),
        el("td", { class: "num", "data-label": "did not arrive", text: percent(flow.balance) }), el("td", { class: "num", "data-label": "missed up to", title: "sent between its calls, from companion runs that call more often, or the part that the calls do not resolve", text: isNumber(flow.missed) ? percent(Math.max(flow.missed, isNumber(flow.unsettled) && flow.missed === 0 ? flow.unsettled : 0)) : "\u2013" }), el("td", { "data-label": "verdict" }, chip(flow.verdict || "not judged")))))));
  }

  // what served the signals that name no method, for which share of their exchanges, and why
  function servedTable(served, fallbacks) {
    const kinds = [...new Set(served.flatMap((one) => one.by.map((way) => String(way.what))))];
    const sharesOf = (one) => {
      const counts = kinds.map((kind) => one.by.filter((way) => way.what === kind && isNumber(way.exchanges)).reduce((sum, way) => sum + way.exchanges, 0));
      const all = counts.reduce((sum, n) => sum + n, 0);
      return counts.map((n) => (all > 0 ? n / all : 0));
    };
    // ways of the first few exchanges need no reason
    const whyOf = (one) => {
      const shares = sharesOf(one), whys = one.by.filter((way) => way.why && shares[kinds.indexOf(way.what)] > 0.01);
      return whys.map((way) => (whys.length > 1 ? `${way.what}: ${way.why}` : way.why)).join("; ");
    };
    return el("div", { class: "scroll" }, el("h3", { text: "Method used for each signal" }), el("table", { class: "trust served" },
      el("thead", {}, el("tr", {}, el("th", { text: "signal", scope: "col" }), ...kinds.map((text) => el("th", { text, scope: "col", class: "num" })), el("th", { text: "why", scope: "col" }))),
      el("tbody", {}, ...served.slice(0, 200).map((one) => el("tr", {},
        el("td", { "data-label": "signal" }, el("span", { class: "name", text: `${one.from} \u2192 ${one.to}` }), el("small", { text: ` ${one.method || ""}` })),
        ...sharesOf(one).map((share, i) => el("td", { class: "num", "data-label": kinds[i], text: share > 0 ? percent(share) : "\u2013" })),
        el("td", { "data-label": "why", text: whyOf(one) }))))),
      ...(served.length > 200 ? [el("p", { class: "muted", text: `The first 200 of ${served.length} are listed.` })] : []),
      ...(fallbacks.length > 0 ? [el("p", { class: "fallbacks", text: `Growing loops fell back to zero-order hold ${fallbacks.length} time${fallbacks.length > 1 ? "s" : ""}, first at t = ${digits(fallbacks[0].t, 4)} s: the messages above name each.` })] : []));
  }

  // what the run was compared with, and what could not be used
  function companionTexts() {
    const list = data.trust.companions, used = list.filter((one) => one.usable), others = list.filter((one) => !one.usable);
    const calls = used.reduce((sum, one) => sum + (isNumber(one.calls) ? one.calls : 0), 0);
    const texts = used.length === 0 ? [] : [`Compared with: ${used.map((one) => one.what || one.name).join("; ")}${calls > 0 ? ` (${grouped(calls)} more calls of units)` : ""}.`];
    const online = data.trust.online;
    if (online) texts.push(`Estimated from the run itself, without companions: ${grouped(online.samples)} samples per exchange.`);
    return [...texts, ...others.map((one) => `Not used: ${one.what || one.name}${one.status && one.status !== "done" ? ", " + one.status : ""}${one.why ? ": " + one.why : ""}.`), ...(data.trust.left_out ? [sentence("left out: " + data.trust.left_out)] : [])];
  }

  function addTrust() {
    const trust = data.trust, rows = trustRows();
    // signals of the reference that are not judged: a line below, or the table itself where nothing is
    const others = [...differenceOf.keys()].filter((name) => !judged.has(name)).map((name) => ({ name, unit: signalOf.get(name).dim, is_wanted: true }));
    const all = rows.length > 0 ? rows : others;
    if (!trust && all.length === 0) return;
    const hint = hasBands && el("p", { class: "hint", text: "Error up to: largest difference to expect from an exact coupling, and when. Rms band: the same on average. Of its movement: the rms band as a share of how much the signal moves; up to 5 % is trustworthy, unless the system file sets another limit. "
      + "Errors inside the units that do not depend on the step, and errors of the models, are not in the bands." });
    section("trust", "Trust", el("div", { class: "panel" },
      all.length > 0 ? trustTable(all) : el("p", { text: "No signal is exchanged between units: there is nothing to judge." }),
      all.length > 0 && reference ? el("p", { class: "reference", text: referenceText(all, rows.length > 0 ? others : []) }) : "",
      ...(trust ? companionTexts().map((text) => el("p", { class: "companions", text })) : []), hint, data.served.length > 0 && servedTable(data.served, data.fallbacks), data.flows.length > 0 && flowTable(data.flows), trust && trust.loops.length > 1 && loopTable(trust.loops)));
  }

  // ------------------------------------------------------------------------------------------------------------
  // 5 graph: layers by distance from one end, so that every line joins neighbours; boxes first, then lines between sides

  const PITCH = 27; // between two lines at a box
  const ruler = document.createElement("canvas").getContext("2d");
  function textWidth(text, size, weight) {
    ruler.font = (weight || 400) + " " + size + "px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";
    return ruler.measureText(text).width;
  }
  const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + "\u2026" : text);

  // what is drawn between two units: each bond, and per direction all connections outside bonds as one arrow
  function graphEdges() {
    const list = [];
    data.graph_bonds.forEach((bond) => {
      const [a, b] = bond.ends;
      if (a >= 0 && b >= 0 && a !== b) list.push({ a, b, bond, label: cut(bond.name, 16) });
    });
    const arrows = new Map();
    for (const link of data.links) {
      if (link.bond >= 0 && list.some((edge) => edge.bond === data.graph_bonds[link.bond])) continue;
      if (link.from === link.to) continue;
      const key = link.from + ">" + link.to;
      if (!arrows.has(key)) arrows.set(key, { a: link.from, b: link.to, links: [] });
      arrows.get(key).links.push(link);
    }
    for (const edge of arrows.values()) {
      edge.label = edge.links.length === 1 ? cut(edge.links[0].output, 18) : edge.links.length + " signals";
      list.push(edge);
    }
    return list;
  }

  function distances(start, near) {
    const distance = new Map([[start, 0]]);
    const queue = [start];
    for (const node of queue) {
      for (const next of near[node]) {
        if (!distance.has(next)) {
          distance.set(next, distance.get(node) + 1);
          queue.push(next);
        }
      }
    }
    return { distance, queue };
  }
  function farthest({ distance, queue }) {
    let best = queue[0];
    for (const node of queue) {
      const d = distance.get(node) - distance.get(best);
      if (d > 0 || (d === 0 && node < best)) best = node;
    }
    return best;
  }

  // connected parts, each as layers in which neighbours stand near each other
  function graphLayers(n, edges_) {
    const near = Array.from({ length: n }, () => new Set());
    for (const { a, b } of edges_) { near[a].add(b); near[b].add(a); }
    const seen = new Set();
    const parts = [];
    for (let i = 0; i < n; i++) {
      if (seen.has(i)) continue;
      const one = farthest(distances(i, near)), other = farthest(distances(one, near));
      const { distance, queue } = distances(Math.min(one, other), near);
      const layers = [];
      for (const node of queue.slice().sort((x, y) => x - y)) {
        seen.add(node);
        (layers[distance.get(node)] = layers[distance.get(node)] || []).push(node);
      }
      for (let sweep = 0; sweep < 8; sweep++) order(layers, near, sweep % 2 === 1);
      parts.push(layers);
    }
    return parts;
  }
  function order(layers, near, isBack) {
    const place = new Map();
    const note = (layer) => layer.forEach((node, i) => place.set(node, i - (layer.length - 1) / 2));
    layers.forEach(note);
    for (let k = 0; k < layers.length; k++) {
      const layer = layers[isBack ? layers.length - 1 - k : k];
      const mean = (node) => {
        const others = [...near[node]].filter((x) => !layer.includes(x)).map((x) => place.get(x));
        return others.length ? others.reduce((x, y) => x + y, 0) / others.length : place.get(node);
      };
      const means = new Map(layer.map((node) => [node, mean(node)]));
      layer.sort((x, y) => means.get(x) - means.get(y) || x - y);
      note(layer);
    }
  }

  // boxes high enough for the lines on their busier side
  function graphBoxes(edges_, parts) {
    const layerOf = new Map();
    for (const layers of parts) layers.forEach((layer, k) => layer.forEach((i) => layerOf.set(i, k)));
    return data.units.map((unit, i) => {
      const sides = [0, 0, 0];
      for (const { a, b } of edges_) {
        if (a === i || b === i) sides[1 + layerOf.get(a === i ? b : a) - layerOf.get(i)]++;
      }
      const sub = cut(unit.is_law ? unit.model + " (law)" : unit.model, 26), name = cut(unit.name, 22);
      return {
        unit, name, sub, step: unit.is_law ? "at every exchange" : "step " + seconds(unit.step),
        w: Math.max(118, textWidth(name, 14, 600) + 30, textWidth(sub, 11.5) + 28),
        h: Math.max(66, Math.max(sides[0], sides[2]) * PITCH + 12), x: 0, y: 0,
      };
    });
  }

  // Layers side by side, from left to right and back in the next row, as many as the page is wide; or one below the other
  // where there is room for one only.
  function placeLayers(layers, boxes, edges_, gutter, room) {
    const joined = new Set(edges_.flatMap(({ a, b }) => [a + "," + b, b + "," + a]));
    const gap = (layer, k) => (k + 1 >= layer.length ? 0 : joined.has(layer[k] + "," + layer[k + 1]) ? 66 : 30);
    const wide = Math.max(...layers.flat().map((i) => boxes[i].w));
    let per = Math.max(1, Math.floor((room / 0.8 + gutter) / (wide + gutter)));
    if (per < 2 && layers.length > 1) return placeDown(layers, boxes);
    // a row ends only where few lines go on to the next one; otherwise it is better small or to be scrolled
    const across = (k) => edges_.filter(({ a, b }) => (layers[k - 1].includes(a) && layers[k].includes(b)) || (layers[k - 1].includes(b) && layers[k].includes(a))).length;
    for (let k = per; k < layers.length; k += per) {
      if (across(k) > 2) { per = layers.length; break; }
    }
    const n = Math.min(per, layers.length);
    gutter = n > 1 ? Math.max(gutter, Math.min(230, (room - n * wide) / (n - 1) - 8)) : gutter;
    let top = 0, width = 0;
    for (let first = 0, row = 0; first < layers.length; first += per, row++) {
      const slice = layers.slice(first, first + per);
      const height = (layer) => layer.reduce((sum, i, k) => sum + boxes[i].h + gap(layer, k), 0);
      const tall = Math.max(...slice.map(height));
      slice.forEach((layer, k) => {
        const column = row % 2 ? per - 1 - k : k;
        let y = top + (tall - height(layer)) / 2;
        layer.forEach((i, m) => {
          Object.assign(boxes[i], { x: column * (wide + gutter) + (wide - boxes[i].w) / 2, y, column, row });
          y += boxes[i].h + gap(layer, m);
        });
        width = Math.max(width, column * (wide + gutter) + wide);
      });
      top += tall + 66;
    }
    return { width, height: top - 66 };
  }
  function placeDown(layers, boxes) {
    const length = (layer) => layer.reduce((sum, i) => sum + boxes[i].w + 24, -24);
    const width = Math.max(...layers.map(length));
    let y = 0;
    layers.forEach((layer, row) => {
      let x = (width - length(layer)) / 2;
      const tall = Math.max(...layer.map((i) => boxes[i].h));
      for (const i of layer) {
        Object.assign(boxes[i], { x, y, h: tall, column: 0, row, isDown: true });
        x += boxes[i].w + 24;
      }
      y += tall + 84;
    });
    return { width, height: y - 84 };
  }

  // the sides at which a line leaves and arrives
  function chooseSides(edge, boxes) {
    const a = boxes[edge.a], b = boxes[edge.b];
    if (a.isDown ? a.row === b.row : a.column !== b.column) return a.x < b.x ? ["right", "left"] : ["left", "right"];
    const [upper, lower] = a.y < b.y ? [a, b] : [b, a];
    const isFree = !boxes.some((c) => c !== a && c !== b && c.y > upper.y && c.y < lower.y && c.x < upper.x + upper.w && c.x + c.w > upper.x);
    if (!isFree && !a.isDown) return ["right", "right"];
    return a.y < b.y ? ["bottom", "top"] : ["top", "bottom"];
  }

  const NORMAL = { left: [-1, 0], right: [1, 0], top: [0, -1], bottom: [0, 1] };

  // spreads the lines over the sides of the boxes, in the order of where they go
  function assignPorts(edges_, boxes) {
    const sides = new Map();
    edges_.forEach((edge, k) => {
      const [sa, sb] = chooseSides(edge, boxes);
      [[edge.a, sa, edge.b, "from"], [edge.b, sb, edge.a, "to"]].forEach(([i, side, other, end]) => {
        const key = i + side;
        if (!sides.has(key)) sides.set(key, []);
        const o = boxes[other];
        const along = side === "left" || side === "right" ? o.y + o.h / 2 : o.x + o.w / 2;
        sides.get(key).push({ edge, end, i, side, along, k });
      });
    });
    for (const list of sides.values()) {
      list.sort((p, q) => p.along - q.along || p.k - q.k);
      list.forEach((port, n) => {
        const box = boxes[port.i];
        const isUpright = port.side === "left" || port.side === "right";
        const pitch = Math.min(isUpright ? PITCH : 84, ((isUpright ? box.h : box.w) - 10) / list.length);
        const shift = (n - (list.length - 1) / 2) * pitch;
        const [nx, ny] = NORMAL[port.side];
        port.edge[port.end] = {
          x: box.x + box.w / 2 + nx * box.w / 2 + (isUpright ? 0 : shift),
          y: box.y + box.h / 2 + ny * box.h / 2 + (isUpright ? shift : 0), nx, ny,
        };
      });
    }
  }

  function edgePath({ from, to }) {
    const isAround = from.nx * to.nx + from.ny * to.ny > 0;
    const reach = isAround ? 84 : Math.max(26, Math.hypot(to.x - from.x, to.y - from.y) * 0.36);
    const p = [from.x, from.y, from.x + from.nx * reach, from.y + from.ny * reach, to.x + to.nx * reach, to.y + to.ny * reach, to.x, to.y];
    const at = (i) => (p[i] + 3 * p[i + 2] + 3 * p[i + 4] + p[i + 6]) / 8;
    const n = p.map((x) => Math.round(10 * x) / 10);
    return { d: `M${n[0]} ${n[1]}C${n[2]} ${n[3]} ${n[4]} ${n[5]} ${n[6]} ${n[7]}`, x: at(0), y: at(1) };
  }

  function shapeOf(name) { return data.graph_bonds.find((bond) => bond.name === name); }
  function bondOf(name) { return data.bonds.find((bond) => bond.name === name); }

  // the verdict on the loop that a bond is part of; without one what the ledger says
  function wordOf(shape) {
    const names = shape.ends.map((i) => i >= 0 && data.units[i].name), ledger = bondOf(shape.name);
    const loop = data.trust && data.trust.loops.find((one) => names.every((name) => one.units.includes(name)));
    return loop ? loop.verdict : !data.trust && ledger ? ledger.verdict : "not judged";
  }

  // the line and, to be drawn over all lines, the label
  function drawBond(edge) {
    const entry = bondOf(edge.bond.name);
    const verdict = wordOf(edge.bond);
    const kind = kindOf(verdict);
    const path = edgePath(edge);
    const w = textWidth(edge.label, 13, 600) + 40;
    const show = () => { if (entry) openBond(entry.name, true); };
    const mark = icon(kind, 15);
    mark.setAttribute("x", path.x - w / 2 + 9);
    mark.setAttribute("y", path.y - 7.5);
    const title = () => svg("title", { text: `${edge.bond.name}: ${verdict}\naction ${edge.bond.action.names.join(", ")}\nrate ${edge.bond.rate.names.join(", ")}${edge.bond.is_found ? "\nfound from the dimensions" : ""}` });
    const line = svg("g", { class: "bond v-" + kind, onclick: show }, title(),
      svg("path", { d: path.d, class: "outer" }), svg("path", { d: path.d, class: "inner" }), svg("path", { d: path.d, class: "hit" }));
    const label = svg("g", {
      class: "bond v-" + kind, tabindex: 0, role: "button", "data-bond": edge.bond.name,
      "aria-label": `bond ${edge.bond.name}, ${verdict}: show its plots`, onclick: show,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(); } },
    }, title(), svg("rect", { x: path.x - w / 2, y: path.y - 12, width: w, height: 24, rx: 12 }), mark,
    svg("text", { x: path.x - w / 2 + 29, y: path.y + 4.5, text: edge.label }));
    return { line, label };
  }

  function drawLink(edge) {
    const path = edgePath(edge);
    const names = edge.links.map((link) => `${link.output} \u2192 ${link.input}, every ${seconds(link.every)}${link.order ? ", order " + link.order : ""}`);
    return svg("g", { class: "link" }, svg("title", { text: names.slice(0, 30).join("\n") }),
      svg("path", { d: path.d, "marker-end": `url(#arrow${suffix})` }),
      data.units.length <= 16 && svg("text", { x: path.x, y: path.y + 14, "text-anchor": "middle", text: edge.label }));
  }

  function drawBox(box) {
    const x = box.x + box.w / 2, y = box.y + box.h / 2;
    return svg("g", { class: box.unit.is_law ? "law" : "unit" },
      svg("title", { text: `${box.unit.name}: ${box.unit.model}${box.unit.text ? "\n" + box.unit.text : ""}\n${box.unit.n_inputs} inputs, ${box.unit.n_outputs} outputs${box.unit.is_fresh ? "\nfresh: outputs read again at exchange points" : ""}` }),
      svg("rect", { class: "box", x: box.x, y: box.y, width: box.w, height: box.h, rx: box.unit.is_law ? Math.min(box.h / 2, 33) : 6 }),
      svg("text", { class: "unit-name", x, y: y - 11, "text-anchor": "middle", text: box.name }),
      svg("text", { class: "sub", x, y: y + 6, "text-anchor": "middle", text: box.sub }),
      svg("text", { class: "sub", x, y: y + 22, "text-anchor": "middle", text: box.step }));
  }

  // the parts in rows, single units beside each other
  function layGraph(room) {
    const list = graphEdges();
    const parts = graphLayers(data.units.length, list);
    const boxes = graphBoxes(list, parts);
    const gutter = Math.max(70, ...list.map((edge) => (edge.bond ? textWidth(edge.label, 13, 600) + 96 : textWidth(edge.label, 11.5) + 46)));
    let x = 0, y = 0, tall = 0, width = 0;
    for (const layers of parts) {
      const size = placeLayers(layers, boxes, list, gutter, room);
      if (x > 0 && x + size.width > room) { y += tall + 40; x = 0; tall = 0; }
      for (const i of layers.flat()) { boxes[i].x += x; boxes[i].y += y; }
      x += size.width + 40;
      width = Math.max(width, x - 40);
      tall = Math.max(tall, size.height);
    }
    assignPorts(list, boxes);
    return { list, boxes, width, height: y + tall };
  }

  function drawGraph(host) {
    const room = Math.max(300, host.clientWidth - 8);
    const { list, boxes, width, height } = layGraph(room);
    const margin = 8, bulge = list.some((edge) => edge.from.nx * edge.to.nx > 0) ? 90 : 0;
    const w = width + 2 * margin + bulge, h = height + 2 * margin;
    const small = Math.min(1, room / w) < 0.55 ? w * 0.55 : null; // scrolls rather than being too small to read
    const picture = svg("svg", { viewBox: `${-margin} ${-margin} ${w} ${h}`, width: small || w, role: "group", "aria-label": "Graph of the system" },
      svg("defs", {}, svg("marker", { id: "arrow" + suffix, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto" },
        svg("path", { d: "M0 1L10 5L0 9z", class: "arrow" }))));
    if (small) picture.style.maxWidth = "none";
    list.filter((edge) => !edge.bond).forEach((edge) => picture.append(drawLink(edge)));
    const bonds = list.filter((edge) => edge.bond).map(drawBond);
    bonds.forEach(({ line }) => picture.append(line));
    boxes.forEach((box) => picture.append(drawBox(box)));
    bonds.forEach(({ label }) => picture.append(label));
    host.textContent = "";
    host.append(picture);
  }

  // beyond what can be drawn legibly
  function unitTable() {
    const counts = data.units.map(() => [0, 0]);
    for (const link of data.links) { counts[link.from][1]++; counts[link.to][0]++; }
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...["unit", "model", "step", "connections in", "out"].map((text) => el("th", { text })))),
      el("tbody", {}, ...data.units.slice(0, 2000).map((unit, i) => el("tr", {}, el("td", { text: unit.name }), el("td", { text: unit.model }),
        el("td", { text: unit.is_law ? "law" : seconds(unit.step) }), el("td", { text: counts[i][0] }), el("td", { text: counts[i][1] }))))));
  }

  function addSystem() {
    const host = el("div", { class: "graph" });
    const keys = el("div", { class: "legend" }, ...Object.entries(KINDS).map(([word, kind]) => el("span", { class: "v-" + kind }, icon(kind, 14), (data.trust ? "loop, " : "bond, ") + word)),
      el("span", { text: "\u2192 connection" }), data.units.some((unit) => unit.is_law) && el("span", { text: "rounded, dashed: law" }));
    if (data.units.length > 60) {
      const list = unitTable();
      section("system", "System", el("div", { class: "panel" }, el("p", { text: `${data.units.length} units, ${data.links.length} connections, ${data.graph_bonds.length} bonds: too many for a drawing.` }),
        el("details", {}, el("summary", { text: "List of units" }), list)));
      return null;
    }
    section("system", "System", el("div", { class: "panel" }, data.text && el("p", { class: "muted", text: data.text }), host, data.graph_bonds.length > 0 && keys));
    return host;
  }

  // a netlist on its own: its solver in the place of units and bonds
  function addCircuit() {
    const line = (name, value) => el("tr", {}, el("th", { text: name }), el("td", { text: value }));
    const many = (n, word) => grouped(n) + " " + word + (n === 1 ? "" : "s");
    const matrix = circuit.is_constant ? "linear, one matrix for the whole run" : circuit.is_linear ? "linear, the matrix changes" : "not linear";
    const rows = [
      line("solver", `formulation ${circuit.formulation}, method ${circuit.method}`),
      line("steps", `${grouped(circuit.n_steps)} of ${seconds(circuit.step)}`),
      line("equations", `${many(circuit.n, "unknown")}, ${many(circuit.n_states, "state")}; ${matrix}`),
      line("solved", `${many(circuit.n_solved, "unknown")}, ${many(circuit.n_factors, "number")} in the factors, ${grouped(circuit.n_bytes / 1024)} kB`),
      circuit.max_iterations > 0 && line("iterations", `${digits(circuit.iterations, 3)} per stage, at most ${grouped(circuit.max_iterations)}` + (circuit.fixed_iterations > 0 ? "; a fixed number" : "")),
      circuit.n_unconverged > 0 && line("not converged", `${many(circuit.n_unconverged, "stage")} of ${grouped(circuit.n_stages)}`),
      line("matrix", many(circuit.n_refactors, "refactorisation") + (circuit.n_repivots > 0 ? `, new pivots chosen ${grouped(circuit.n_repivots)} times` : "")),
      circuit.n_switchings > 0 && line("switches", many(circuit.n_switchings, "switching"))];
    section("circuit", "Circuit", el("div", { class: "panel" }, el("table", { class: "settings" }, el("tbody", {}, ...rows.filter((one) => one)))));
  }

  // ------------------------------------------------------------------------------------------------------------
  // 6 energy of the bonds

  const cards = new Map();
  const RANK = { "wrong": 3, "doubtful": 2, "trustworthy": 1, "not judged": 0 };

  function paneTitle(text, dim) { return text + (dimension(dim) ? " [" + dimension(dim) + "]" : ""); }

  // what was sent as full lines, what was received dashed in the same colours
  function pairLines(pair) {
    const lines = (names, dash) => names.slice(0, 8).map((name, colour) => ({ signal: signalOf.get(name), name, colour, dash }));
    return [...lines(pair.sent, false), ...lines(pair.received, true)].filter((line) => line.signal);
  }

  function bondPanes(bond) {
    const shape = shapeOf(bond.name);
    const alarms = (data.alarms || []).filter((alarm) => alarm.bond === bond.name);
    const panes = [];
    const add = (title, lines, extra) => {
      if (lines.length) panes.push(Object.assign({ title: paneTitle(title, lines[0].signal.dim), lines, height: 104, alarms }, extra));
    };
    const column = (...values) => values.map((value, colour) => ({ signal: signalOf.get("bond." + bond.name + "." + value), name: value === "ter" ? "TER" : value, colour, dash: false })).filter((line) => line.signal);
    if (shape) {
      add("action", pairLines(shape.action), { height: 136 });
      add("rate", pairLines(shape.rate), { height: 136 });
    }
    add("residual power", column("dP"), {});
    add("accumulated energy", column("dE", ...(bond.ter ? ["ter"] : [])), { height: 118, indicators: ["eps", "rter"] });
    const limits = [];
    for (const level of ["warn", "stop"]) {
      if (isNumber(bond[level].rho)) limits.push({ y: bond[level].rho, text: level + " " + digits(bond[level].rho, 3), level });
    }
    add("residual relative to the peaks", column("rho"), { limits, isFromZero: true, indicators: ["rho"] });
    return panes;
  }

  function row(name, value, note) {
    return el("tr", {}, el("th", { text: name }), el("td", {}, el("span", { class: "num", text: value }), note && el("span", { class: "muted note", text: note })));
  }
  function part(title, meaning, ...rows) {
    return el("div", { class: "part" }, el("h4", { text: title }), meaning && el("p", { class: "meaning", text: meaning }), el("table", { class: "figures" }, el("tbody", {}, ...rows.filter((one) => one))));
  }

  function methodParts(bond) {
    if (bond.methods.length === 0) return [part("Method", "", row("inputs", "held", "between exchanges"))];
    return bond.methods.map((method) => {
      const rows = Object.entries(method.health).map(([name, value]) => row(name.replace(/_/g, " "), digits(value, 4)));
      return part("Method", "", row(method.method, "", "into " + method.unit), ...rows);
    });
  }

  // TER, rho and eps, each with what it tells where it stands
  function terPart(bond) {
    const ter = bond.ter, title = "TER, the mismatch between the two ends";
    if (!ter) return part(title, "", row("TER", "\u2013", "only one direction is connected: no inputs to compare"));
    const sum = ter.flow + ter.effort;
    const share = sum > 0 ? ter.flow / sum : 0.5;
    const bar = el("div", { class: "split", role: "img", "aria-label": `rate ${percent(share)}, action ${percent(1 - share)}` }, el("i"), el("i"));
    bar.firstChild.style.width = 100 * share + "%";
    bar.lastChild.style.width = 100 * (1 - share) + "%";
    return part(title, "The total energy residual (TER) accumulates the power mismatch between the two ends of the bond.",
      row("TER", scaled(ter.total, "J"), "of " + scaled(ter.throughput, "J") + " transferred"),
      row("relative", percent(ter.relative), "worst window " + percent(ter.relative_worst)), row("net", scaled(ter.net, "J"), "with its sign"),
      el("tr", {}, el("th", { text: "defect in" }), el("td", {}, bar, el("span", { class: "muted note", text: `rate ${percent(share)}, action ${percent(1 - share)}` }))),
      ter.n_bad > 0 && row("left out", grouped(ter.n_bad), "samples"));
  }

  function energyPart(bond) {
    if (bond.is_heat) return part("Heat", "What arrived is compared with what was sent.", row("passed", scaled(bond.passed, "J")), row("difference", scaled(bond.residual, "J"), "arrived minus sent"));
    return part("\u03b5, the drift of energy", "\u03b5 is the energy residual of one window of time, as a share of the energy exchanged: a slow drift.",
      row("\u03b5", percent(bond.eps), !isNumber(bond.eps) ? "needs \u03bc" : isNumber(bond.t_eps_worst) ? `worst window ${percent(bond.eps_worst)} at ${digits(bond.t_eps_worst, 4)} s` : null),
      row("exchanged", scaled(bond.energy, "J"), "reference energy"), row("dE", scaled(bond.residual, "J"), "sum of the residual power, by " + bond.convention),
      row("\u03bc", digits(bond.mu, 4), bond.mu_origin), row("\u03bc dE", scaled(bond.created, "J"), !isNumber(bond.created) ? null : !bond.proven ? "not shown to be created by the coupling" : bond.created < 0 ? "removed by the coupling" : "created by the coupling"),
      row("given", scaled(bond.given, "J"), "to the unit that receives the action"));
  }

  function rhoPart(bond) {
    return part("\u03c1, the speed of the exchange", "\u03c1 is the residual power over the product of the peaks: about the angle by which the signals turn within one exchange.",
      row("\u03c1 mean", digits(bond.rho_mean, 3)), row("\u03c1 worst", digits(bond.rho_worst, 3), isNumber(bond.t_rho_worst) ? `at ${digits(bond.t_rho_worst, 4)} s` : null),
      row("\u03c1 > 0.25", percent(bond.rho_share), "of the samples"), row("exchange", seconds(bond.interval), grouped(bond.n_samples) + " samples"));
  }

  function figures(bond) {
    const parts = bond.is_heat ? [energyPart(bond)] : [terPart(bond), rhoPart(bond), energyPart(bond)];
    parts.push(...methodParts(bond), part("Alarms", "", row("warnings", bond.n_warnings), row("stops", bond.n_stops)));
    return el("div", { class: "parts" }, ...parts);
  }

  // a sentence that may begin with the name of a signal, which stays as it is
  function sentenceOf(text) {
    const isName = judged.has(text.split(" ")[0]);
    return isName ? text.charAt(0) + sentence(text).slice(1) : sentence(text);
  }
  function sentence(text) { return text ? text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : ""; }

  function bondCard(bond) {
    // where there are error bands they decide, and the ledger only explains
    const kind = hasBands ? "none" : kindOf(bond.verdict);
    const shape = shapeOf(bond.name);
    const ends = shape && shape.ends.every((i) => i >= 0) ? shape.ends.map((i) => data.units[i].name).join(" \u2194 ") : "";
    const turn = el("span", { class: "turn", text: "plots and figures" });
    const body = el("div", { class: "bond-body", hidden: true, id: "bond-" + cards.size + suffix });
    const head = el("button", { type: "button", class: "bond-head", "aria-expanded": "false", "aria-controls": body.id, onclick: () => toggleBond(bond.name) },
      hasBands ? "" : chip(bond.verdict), el("h3", {}, bond.name, el("span", { class: "ends", text: ends })), turn, el("span", { class: "reason", text: sentence(bond.explanation || bond.reason) }));
    const card = el("article", { class: "panel bond-card v-" + kind + (hasBands ? " plain" : ""), "data-bond": bond.name }, head, body);
    cards.set(bond.name, { bond, card, head, body, chart: null });
    return card;
  }

  function fillBond(entry) {
    if (entry.chart) return;
    const host = el("div");
    entry.body.append(host, figures(entry.bond));
    entry.chart = new Chart(host, "Plots of bond " + entry.bond.name);
    entry.chart.node.dataset.bond = entry.bond.name;
    const panes = bondPanes(entry.bond);
    if (panes.length === 0) host.append(el("p", { class: "muted", text: "None of the signals of this bond was recorded; see record.signals of the system file." }));
    entry.chart.setPanes(panes);
  }
  function markChosen() {
    for (const node of main.querySelectorAll(".graph .bond[data-bond]")) {
      const entry = cards.get(node.getAttribute("data-bond"));
      node.classList.toggle("chosen", Boolean(entry && !entry.body.hidden));
    }
  }
  function openBond(name, isScrolled) {
    const entry = cards.get(name);
    if (!entry) return;
    entry.body.hidden = false;
    entry.head.setAttribute("aria-expanded", "true");
    fillBond(entry);
    entry.chart.draw();
    markChosen();
    if (isScrolled) {
      entry.card.scrollIntoView({ block: "start" });
      entry.head.focus({ preventScroll: true });
    }
  }
  function toggleBond(name) {
    const entry = cards.get(name);
    if (entry.body.hidden) { openBond(name, false); return; }
    entry.body.hidden = true;
    entry.head.setAttribute("aria-expanded", "false");
    markChosen();
  }

  function addBonds() {
    const title = "Energy of the bonds";
    if (data.bonds.length === 0) {
      section("bonds", title, el("div", { class: "panel" }, el("p", { text: "The system has no bonds, so the energy of its coupling is not checked. A bond names a pair of variables whose product is a power:" }),
        el("pre", { text: "bonds:\n  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}" })));
      return;
    }
    const sorted = data.bonds.slice().sort((a, b) => (RANK[b.verdict] || 0) - (RANK[a.verdict] || 0));
    section("bonds", title, el("p", { class: "muted", text: "The energy ledger compares the power at the two ends of each bond. "
      + (hasBands ? "It shows where an error comes from; the error bands above give its size." : "It detects a bad coupling but not the error of a signal; only error bands give that.") }), ...sorted.map(bondCard));
    openBond(sorted[0].name, false);
  }

  // ------------------------------------------------------------------------------------------------------------
  // 7 signals to choose

  const MAX_LINES = 24, MAX_LISTED = 600;
  const chosen = new Set();
  let showSignal = () => {}; // draws one signal alone

  // of a circuit by dimension: names of subcircuits have dots, too
  const QUANTITIES = { V: "voltages", A: "currents", K: "temperatures", W: "powers and heat flows" };
  function groupOf(signal) {
    if (circuit) return QUANTITIES[signal.dim] || "others";
    const parts = signal.name.split(".");
    return parts[0] === "bond" && parts.length > 2 ? "bond " + parts.slice(1, -1).join(".") : parts[0];
  }

  // one pane per dimension, in the order in which signals were chosen; whole numbers and states apart
  function signalPanes() {
    const panes = new Map();
    for (const signal of chosen) {
      const key = (signal.is_step ? "step " : "") + signal.dim + (signal.items ? signal.name : "");
      if (!panes.has(key)) panes.set(key, { signal, lines: [], height: 170 });
      const pane = panes.get(key);
      pane.lines.push({ signal, name: signal.name, colour: pane.lines.length, dash: pane.lines.length >= 8, band: bandOf(signal) });
    }
    return [...panes.values()].map(({ signal, lines, height }) => {
      const { factor, dim } = axisUnit(signal.dim, lines);
      const title = dim ? (circuit ? groupOf(signal) + " " : "") + "[" + dim + "]" : signal.is_step ? "state" : "no dimension";
      return { title, height, factor, lines: lines.flatMap((line) => [line, ...referenceLine(line)]) };
    });
  }

  // lengths and speeds of some millimetres in millimetres
  function axisUnit(dim, lines) {
    const span = Math.max(0, ...lines.map(({ signal }) => signal.max - signal.min).filter(isNumber));
    const power = /^m(?![A-Za-z0-9^])/.test(dim) && span > 0 && span < 0.1 ? (span < 1e-4 ? 6 : 3) : 0;
    return { factor: Math.pow(10, power), dim: (power === 0 ? "" : power === 3 ? "m" : "\u00b5") + dimension(dim) };
  }
  function referenceLine(line) {
    const signal = referenceOf.get(line.signal.name);
    return signal ? [{ signal, name: line.signal.name + ", reference", isReference: true, note: trueError(line.signal.name) }] : [];
  }

  // one of each unit; of a circuit four of each dimension
  function firstChoice() {
    const most = circuit ? 4 : 1, seen = new Map();
    // the worst of those that are judged, those that decide first
    for (const row of trustRows()) if (signalOf.has(row.name) && row.rule !== 0 && chosen.size < 3) chosen.add(signalOf.get(row.name));
    if (chosen.size > 0) return;
    for (const signal of signals) {
      const isPlain = !signal.name.startsWith("bond.") && signal.max > signal.min;
      const n = seen.get(groupOf(signal)) || 0;
      if (isPlain && n < most && chosen.size < 4 * most) {
        seen.set(groupOf(signal), n + 1);
        chosen.add(signal);
      }
    }
    if (chosen.size === 0 && signals.length > 0) chosen.add(signals[0]);
  }

  function addSignals() {
    if (signals.length === 0 || series.n_rows === 0) {
      section("signals", "Signals", el("div", { class: "panel" }, el("p", { text: series.n_rows === 0 ? "The result file has no rows: nothing was recorded." : "No signal was recorded that can be drawn." })));
      return;
    }
    firstChoice();
    const search = el("input", { type: "search", placeholder: "Search signals", "aria-label": "Search signals", oninput: () => showList() });
    const list = el("div", { class: "list" });
    const plots = el("div");
    const chart = new Chart(plots, "Signals");
    chart.node.id = "signal-chart" + suffix;
    const note = el("p", { class: "hint" });
    const redraw = () => chart.setPanes(signalPanes());

    function item(signal) {
      const box = el("input", { type: "checkbox", onchange: () => {
        if (box.checked && chosen.size >= MAX_LINES) { box.checked = false; return; }
        if (box.checked) chosen.add(signal); else chosen.delete(signal);
        redraw();
      } });
      box.checked = chosen.has(signal);
      const name = circuit ? signal.name : signal.name.slice(signal.name.indexOf(".") + 1);
      const range = signal.min === undefined ? "no value" : signal.min === signal.max ? "= " + digits(signal.min, 4) : dimension(signal.dim);
      return el("label", { "data-signal": signal.name, title: `${signal.name}: ${digits(signal.min, 6)} to ${digits(signal.max, 6)} ${dimension(signal.dim)}${signal.n_bad ? ", " + signal.n_bad + " values missing" : ""}` },
        box, el("span", { text: groupOf(signal).startsWith("bond ") ? signal.name.split(".").pop() : name }), el("small", { text: range }));
    }
    function showList() {
      const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      const matching = signals.filter((signal) => words.every((word) => signal.name.toLowerCase().includes(word)));
      if (circuit) {
        const rank = [...new Set(signals.map(groupOf))];
        matching.sort((a, b) => rank.indexOf(groupOf(a)) - rank.indexOf(groupOf(b)));
      }
      list.textContent = "";
      let group = null;
      for (const signal of matching.slice(0, MAX_LISTED)) {
        if (groupOf(signal) !== group) {
          group = groupOf(signal);
          list.append(el("h4", { text: group }));
        }
        list.append(item(signal));
      }
      if (matching.length > MAX_LISTED) list.append(el("p", { class: "hint", text: `and ${matching.length - MAX_LISTED} more: narrow the search` }));
      if (matching.length === 0) list.append(el("p", { class: "hint", text: "No signal has this name." }));
    }
    showSignal = (name) => {
      chosen.clear();
      chosen.add(signalOf.get(name));
      showList();
      redraw();
      chart.node.scrollIntoView({ block: "center" });
      chart.node.focus({ preventScroll: true });
    };
    const clear = el("button", { type: "button", class: "quiet", text: "Clear", onclick: () => { chosen.clear(); showList(); redraw(); } });
    showList();
    note.textContent = (series.n_classes > 0
      ? `Decimated for this page: ${grouped(series.n_rows)} rows to ${grouped(2 * series.n_classes)} points per signal, the smallest and the largest value of every ${digits(series.n_rows / series.n_classes, 2)} rows; no peak is lost.`
      : `All ${grouped(series.n_rows)} rows are shown.`)
      + (series.gaps.length > 0 ? ` Rows were lost in ${series.gaps.length / 2} places; the lines break there.` : "")
      + (series.skipped.length > 0 ? ` Not drawn, because they are texts: ${series.skipped.slice(0, 20).join(", ")}.` : "")
      + " The wheel zooms once a plot has been clicked; two fingers zoom on a touch screen.";
    section("signals", "Signals", el("div", { class: "panel" }, el("div", { class: "signals" },
      el("div", { class: "picker" }, search, list, el("p", { class: "hint" }, clear)), el("div", {}, plots, note))));
    redraw();
  }

  // estimates of a twin over a record: what it found, and how
  function addTwin() {
    const twin = data.twin;
    if (!twin) return;
    const number = (text) => el("td", { class: "num", text }), dim = (one) => " " + dimension(one.dim);
    const valued = (value, sd, one) => number(isNumber(value) ? digits(value, 6) + " \u00b1 " + digits(sd, 2) + dim(one) : "\u2013");
    const table = (head, rows) => rows.length > 0 && el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { text, class: i > 0 ? "num" : null })))), el("tbody", {}, ...rows)));
    const row = (one, ...cells) => el("tr", {}, el("th", { text: one.name }), ...cells);
    const estimates = [...twin.unknowns, ...twin.outputs.filter((one) => one.sd !== 0)];
    const gaps = twin.columns.filter((one) => one.missing > 0).map((one) => `${one.name}: ${grouped(one.missing)} values are missing, in ${grouped(one.gaps)} ${one.gaps === 1 ? "gap" : "gaps"}.`);
    const plots = el("div"), node = el("div", { class: "panel" },
      table(["at the end", "estimate", "held at a bound"], estimates.map((one) => row(one, valued(one.value, one.sd, one), number(one.bound_hits > 0 ? grouped(one.bound_hits) + "\u00d7" : "\u2013")))),
      table(["sensor", "rms innovation", "expected", "readings"], twin.sensors.map((one) => row(one, number(digits(one.rms, 3) + dim(one)), number(digits(one.expected, 3) + dim(one)), number(grouped(one.readings))))),
      twin.tuning && table(["tuned", "guess", "filter", "least squares"], twin.tuning.unknowns.map((one) => row(one, number(digits(one.start, 6) + dim(one)), valued(one.filter, one.filter_sd, one), valued(one.fit, one.fit_sd, one)))),
      twin.tuning && el("p", { text: sentenceOf(twin.tuning.sentence) }), ...gaps.map((text) => el("p", { class: "hint", text })), plots,
      el("p", { class: "hint", text: "Areas are two standard deviations to both sides. An innovation is what was read less what the filter expected; that of a sound model is noise about zero." }));
    section("twin", "Estimates", node);
    const lineOf = (name, i) => ({ signal: signalOf.get(twin.unit + "." + name), name, colour: i, dash: i >= 8 });
    const panes = [];
    const add = (title, names, height) => {
      const lines = names.map(lineOf).filter((line) => line.signal).map((line) => ({ ...line, band: bandOf(line.signal) }));
      if (lines.length > 0) panes.push({ title: paneTitle(title, lines[0].signal.dim), height, lines });
    };
    for (const unit of new Set(twin.outputs.map((one) => one.dim))) add(unit === "K" ? "temperatures" : "estimates", twin.outputs.filter((one) => one.dim === unit && one.sd !== 0).slice(0, 8).map((one) => one.name), 190);
    for (const one of twin.unknowns.slice(0, 6)) add(one.name, [one.name], 120);
    add("innovations", twin.sensors.slice(0, 8).map((one) => "innovation." + one.name), 120);
    if (panes.length > 0) new Chart(plots, "Estimates").setPanes(panes);
  }

  // ------------------------------------------------------------------------------------------------------------
  // 8 timing: both axes logarithmic, so that one late step in a million is seen

  function histogram() {
    const h = data.step_ns, W = 720, H = 210, left = 46, bottom = 26, top = 22;
    const lo = Math.log10(Math.max(1, h.classes[0])) - 0.02, hi = Math.log10(Math.max(h.max, h.classes[h.classes.length - 2])) + 0.04;
    let most = 1;
    for (let i = 2; i < h.classes.length; i += 3) most = Math.max(most, h.classes[i]);
    const decades = Math.max(1, Math.ceil(Math.log10(most + 1) - 1e-9));
    const x = (ns) => left + (Math.log10(Math.max(1, ns)) - lo) / (hi - lo) * (W - left - 12);
    const y = (count) => count <= 0 ? H - bottom : H - bottom - (Math.log10(count) + 0.3) / (decades + 0.3) * (H - bottom - top);
    const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "histogram", width: "100%", role: "img", "aria-label": "Histogram of step times" });
    for (let d = 0; d <= decades; d++) {
      picture.append(svg("line", { class: "line", x1: left, x2: W - 12, y1: y(Math.pow(10, d)), y2: y(Math.pow(10, d)) }),
        svg("text", { x: left - 6, y: y(Math.pow(10, d)) + 4, "text-anchor": "end", text: d < 4 ? Math.pow(10, d) : "10" + powerText(d).slice(3) }));
    }
    const span = hi - lo;
    for (let e = Math.floor(lo); e <= Math.ceil(hi); e++) {
      for (const m of span < 1.2 ? [1, 1.5, 2, 3, 5, 7] : span < 3.5 ? [1, 2, 5] : [1]) {
        const ns = m * Math.pow(10, e);
        if (Math.log10(ns) < lo || Math.log10(ns) > hi) continue;
        picture.append(svg("line", { class: "line", x1: x(ns), x2: x(ns), y1: top, y2: H - bottom }),
          svg("text", { x: x(ns), y: H - 8, "text-anchor": "middle", text: seconds(ns * 1e-9) }));
      }
    }
    for (let i = 0; i < h.classes.length; i += 3) {
      const a = x(h.classes[i]), b = x(h.classes[i + 1]);
      picture.append(svg("rect", { x: a, y: y(h.classes[i + 2]), width: Math.max(1, b - a - 0.6), height: H - bottom - y(h.classes[i + 2]) },
        svg("title", { text: `${seconds(h.classes[i] * 1e-9)} to ${seconds(h.classes[i + 1] * 1e-9)}: ${grouped(h.classes[i + 2])}` })));
    }
    let end = -Infinity;
    for (const [name, text] of [["median", "median"], ["p99", "99 %"], ["max", "max"]]) {
      const at = x(h[name]), isLeft = at > W - 60;
      picture.append(svg("line", { class: "mark", x1: at, x2: at, y1: top - 4, y2: H - bottom }));
      if (at > end) picture.append(svg("text", { class: "mark-text", x: at + (isLeft ? -3 : 3), y: top - 8, "text-anchor": isLeft ? "end" : "start", text }));
      end = at + text.length * 7 + 6;
    }
    return picture;
  }

  function addTiming() {
    const h = data.step_ns, run = data.run;
    const line = (name, value) => el("tr", {}, el("th", { text: name }), el("td", { class: "num", text: value }));
    const ns = (x) => seconds(x * 1e-9);
    const rows = [line("steps", grouped(run.n_steps)), line("timed", grouped(h.n))];
    if (h.n > 0) rows.push(line("shortest", ns(h.min)), line("median", ns(h.median)), line("90 %", ns(h.p90)), line("99 %", ns(h.p99)), line("99.9 %", ns(h.p999)), line("longest", ns(h.max)));
    rows.push(line("rows recorded", grouped(run.n_rows)), line("rows lost", grouped(run.n_lost)), line("waits for the writer", grouped(run.n_waits)));
    if (run.iterations !== undefined) rows.push(line("iterations per step", digits(run.iterations, 3)), line("most iterations", run.iterations_most), line("not converged", grouped(run.n_not_converged)));
    section("timing", "Step times", el("div", { class: "panel two" },
      h.classes.length > 0 ? el("div", {}, histogram(), el("p", { class: "hint", text: (circuit ? "Wall-clock time from row to row, " : "Wall-clock time of a macro step of ") + seconds(data.step) + "; both axes are logarithmic." })) : el("p", { class: "muted", text: "No step was timed." }),
      el("table", {}, el("tbody", {}, ...rows))));
  }

  // a run by the clock: how it kept its deadlines
  function addPace() {
    const pace = data.pace;
    if (!pace) return;
    const line = (name, value) => el("tr", {}, el("th", { text: name }), el("td", { class: "num", text: value }));
    const us = (x) => (isNumber(x) ? seconds(x * 1e-6) : "");
    const count = (name) => (isNumber(pace[name]) ? grouped(pace[name]) : "");
    const granted = pace.system || {};
    const times = [["release, behind its grid time", pace.release], ["computing, whole step", pace.step_time],
      ...(Array.isArray(pace.units) ? pace.units : []).filter((unit) => unit && unit.step_time).map((unit) =>
        ["computing, " + unit.name + (unit.over_budget > 0 ? ` (over its budget of ${us(unit.budget_us)} in ${grouped(unit.over_budget)} steps)` : "") + (isNumber(unit.n_late) ? ` (own thread, late at ${grouped(unit.n_late)} of ${grouped(unit.n_due)} exchanges)` : ""), unit.step_time])].filter((one) => one[1]);
    const head = ["", "median", "99 %", "99.9 %", "longest"];
    section("pace", "Deadlines", el("div", { class: "panel" }, el("p", { text: sentenceOf(String(pace.text || "")) }),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { text, class: i > 0 ? "num" : null })))),
        el("tbody", {}, ...times.map(([name, h]) => el("tr", {}, el("th", { text: name }), ...["p50_us", "p99_us", "p999_us", "max_us"].map((key) => el("td", { class: "num", text: us(h[key]) }))))))),
      el("table", {}, el("tbody", {}, line("late steps", count("late") + " of " + count("releases")), line("most of them in a row", count("longest_run")), line("longest behind a deadline", us(pace.longest_late_us)),
        line("missed slots", count("missed_slots")), line("slots behind the clock at the end", count("slots_behind")), line("state at the end", String(pace.state || "")),
        line("SCHED_FIFO", String(granted.sched_fifo || "")), line("memory locked", String(granted.memory_locked || "")), line("own processor", String(granted.processor || ""))))));
  }

  // what went through the ports: one column for each
  function addPorts() {
    const ports = Object.entries(data.ports || {}).filter(([, port]) => port && typeof port === "object");
    if (ports.length === 0) return;
    const count = (name) => (port) => (isNumber(port[name]) ? grouped(port[name]) : "");
    const time = (name, key) => (port) => (port[name] && isNumber(port[name][key]) ? seconds(port[name][key]) : "");
    const rows = [["other end", (port) => String(port.peer || "")], ["datagrams sent", count("sent")], ["received", count("received")],
      ["exchanges without an answer in time", count("lost")], ["answers that never came", count("missing")], ["too late", count("stale")], ["twice", count("duplicate")],
      ["damaged or none of ours", count("refused")], ["from another address", count("foreign")], ["lost for want of reading", count("overflow")], ["values held back by limits", count("clipped")],
      ["round trip, median", time("round_trip_s", "median")], ["99 %", time("round_trip_s", "p99")], ["longest", time("round_trip_s", "max")],
      ["jitter of answers, median", time("jitter_s", "median")], ["99 %", time("jitter_s", "p99")], ["longest", time("jitter_s", "max")]];
    section("ports", "Ports", el("div", { class: "panel" }, el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", {}), ...ports.map(([name]) => el("th", { text: name, class: "num" })))),
      el("tbody", {}, ...rows.map(([name, value]) => el("tr", {}, el("th", { text: name }), ...ports.map(([, port]) => el("td", { class: "num", text: value(port) })))))))));
  }

  // ------------------------------------------------------------------------------------------------------------
  // 9 alarms, settings, overview

  // limits of signals that were exceeded, in the order in which they were
  function limitsTable(limits) {
    const head = ["time", "level", "signal", "value", "limit", "furthest", "at", "macro steps beyond"];
    const of = (value, limit) => el("td", { class: "num", text: digits(value, 6) + limit.dim });
    const at = (t) => el("td", { class: "num", text: digits(t, 6) + " s" });
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, class: ["level", "signal"].includes(text) ? null : "num" })))),
      el("tbody", {}, ...limits.map((limit) => el("tr", { title: limit.text }, at(limit.time),
        el("td", {}, el("span", { class: "chip v-" + (limit.level === "stop" ? "wrong" : "doubt") }, icon(limit.level === "stop" ? "wrong" : "doubt", 14), limit.level)),
        el("td", { text: limit.signal }), of(limit.value, limit), el("td", { class: "num", text: limit.side + " " + digits(limit.limit, 6) + limit.dim }), of(limit.worst, limit), at(limit.worst_time),
        el("td", { class: "num", text: limit.steps_beyond }))))));
  }

  function addAlarms() {
    const alarms = data.alarms || [], n_shown = 200;
    const exceeded = data.limits.filter((limit) => limit.steps_beyond > 0).sort((a, b) => a.time - b.time);
    if (data.bonds.length === 0 && data.limits.length === 0) return;
    const head = ["from", "to", "level", "bond", "indicator", "value", "limit", "worst"];
    const go = (alarm) => {
      const end = isNumber(alarm.t_end) ? alarm.t_end : view.full[1];
      openBond(alarm.bond, true);
      const room = Math.max((end - alarm.t) * 0.5, (view.full[1] - view.full[0]) * 0.01);
      view.set(alarm.t - room, end + room);
    };
    const table = () => el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, class: ["from", "to", "value", "limit", "worst"].includes(text) ? "num" : null })))),
      el("tbody", {}, ...alarms.map((alarm) => el("tr", { class: "go", tabindex: 0, title: alarm.text, onclick: () => go(alarm), onkeydown: (event) => { if (event.key === "Enter") go(alarm); } },
        el("td", { class: "num", text: digits(alarm.t, 6) + " s" }), el("td", { class: "num", text: isNumber(alarm.t_end) ? digits(alarm.t_end, 6) + " s" : "end" }),
        el("td", {}, el("span", { class: "chip v-" + (alarm.level === "stop" ? "wrong" : "doubt") }, icon(alarm.level === "stop" ? "wrong" : "doubt", 14), alarm.level)),
        el("td", { text: alarm.bond }), el("td", { text: alarm.indicator }), el("td", { class: "num", text: digits(alarm.value, 3) }), el("td", { class: "num", text: digits(alarm.limit, 3) }), el("td", { class: "num", text: digits(alarm.worst, 3) }))))));
    section("alarms", "Alarms", el("div", { class: "panel" }, alarms.length + exceeded.length === 0 && el("p", { text: "No limit was exceeded." }),
      exceeded.length > 0 && limitsTable(exceeded.slice(0, n_shown)), exceeded.length > n_shown && el("p", { class: "hint", text: `${exceeded.length - n_shown} more limits of signals were exceeded.` }),
      alarms.length > 0 && table(),
      data.n_more_alarms > 0 && el("p", { class: "hint", text: `${data.n_more_alarms} more were counted but not kept.` })));
  }

  function addSettings() {
    const line = (name, value) => value !== "" && el("tr", {}, el("th", { text: name }), el("td", { text: value }));
    const conventions = [...new Set(data.bonds.map((bond) => bond.convention))];
    const residual = { "samples": "samples: dP = B\u2096\u00b7A\u2096\u208a\u2081 \u2212 B\u2096\u208a\u2081\u00b7A\u2096 of action B and rate A at exchange points", "partner held": "partner held: action rebuilt by a law with the partner's old and new samples" };
    const table = el("table", { class: "settings" }, el("tbody", {}, ...[
      line(circuit ? "netlist" : "system file", data.file), line("command", data.command), !circuit && line("scheme", data.scheme),
      !circuit && line("exchange", data.exchange === "fresh" ? "fresh: feedthrough outputs are read again with the new inputs" : "stale: outputs as returned by the last step"),
      circuit ? line("rows every", seconds(data.step)) : line("step", seconds(data.step) + ", tick " + seconds(data.tick)), !circuit && line("threads", String(data.threads)),
      line("residuals", conventions.map((name) => residual[name] || name).join("; ")), line("Yoke", data.versions.yoke + ", commit " + data.versions.commit), line("build", data.versions.build)].filter((one) => one)));
    section("settings", "Settings", el("div", { class: "panel" }, table,
      data.settings !== "" ? el("details", { class: "file", id: "file" + suffix }, el("summary", { text: circuit ? "Netlist" : "System file" }), el("pre", { text: data.settings }))
        : data.settings_size > 0 && el("p", { class: "hint", text: `The ${circuit ? "netlist" : "system file"} has ${grouped(data.settings_size)} characters and is not repeated here.` })));
  }

  // why it ended early and what the units said, worst first
  function messagePanel() {
    const ranks = ["error", "warning", "note"], marks = { error: "wrong", warning: "doubt", note: "none" };
    const joined = (parts, between) => parts.filter((part) => part).join(between);
    const words = (one) => joined([joined([one.file, one.line, one.column], ":"),
      joined([one.unit && `unit '${one.unit}'`, isNumber(one.time) && `at t = ${digits(one.time, 12)} s`], " "), one.text], ": ") + (one.hint ? "; " + one.hint : "");
    return el("div", { class: "panel messages" }, ...ranks.flatMap((rank) => data.messages.filter((one) => one.severity === rank)).map((one) =>
      el("p", {}, el("span", { class: "chip v-" + marks[one.severity] }, icon(marks[one.severity], 14), one.severity), " " + words(one))));
  }

  function titleOf() { return data.name + ": " + (circuit && !data.run.is_failed ? data.run.status : lead().title); }

  // the name, then whether the run can be trusted
  function addOverview() {
    const run = data.run, first = lead(), kind = first.kind;
    const about = `${sentence(run.status).slice(0, -1)}: ${digits(run.t_reached, 6)} s of ${digits(run.t_stop, 6)} s in ${grouped(circuit ? circuit.n_steps : run.n_steps)} steps of ${seconds(circuit ? circuit.step : data.step)}.`;
    const banner = () => el("div", { class: "banner v-" + kind, id: "verdict" + suffix }, icon(kind, 34),
      el("div", {}, el("b", { text: first.title }), el("span", { text: sentenceOf(first.text) }), ...first.more));
    main.append(el("h1", { text: (circuit && circuit.title) || data.name }), el("p", { class: "muted about", text: (circuit && circuit.title ? data.name + ". " : "") + about }),
      circuit && !run.is_failed && !data.trust ? "" : banner(), (data.messages || []).length > 0 ? messagePanel() : "");
  }

  function addFacts() {
    const run = data.run;
    const fact = (name, value, small) => el("div", {}, el("dt", { text: name }), el("dd", {}, value, small && el("small", { text: " " + small })));
    const columns = signals.length + series.skipped.length;
    main.append(el("dl", { class: "facts" }, fact("status", run.status), fact("time reached", digits(run.t_reached, 6) + " s", "of " + digits(run.t_stop, 6) + " s"),
      fact("steps", grouped(circuit ? circuit.n_steps : run.n_steps), "of " + seconds(circuit ? circuit.step : data.step)), fact("took", seconds(run.wall_s)),
      fact("real-time factor", digits(run.real_time_factor, 3) + "\u00d7"), fact("recorded", grouped(run.n_rows), "rows of " + grouped(columns) + (columns === 1 ? " signal" : " signals")),
      fact("Yoke", data.versions.yoke, data.versions.commit)));
  }

  // on paper: every bond open (up to a dozen), the system file too
  let opened = [];
  function openForPrint() {
    opened = [...cards.values()].filter((entry) => entry.body.hidden).slice(0, 12);
    for (const entry of opened) openBond(entry.bond.name, false);
    const file = main.querySelector(".file");
    if (file) { file.dataset.was = file.open ? "1" : ""; file.open = true; }
  }
  function closeAfterPrint() {
    for (const entry of opened) toggleBond(entry.bond.name);
    const file = main.querySelector(".file");
    if (file) file.open = file.dataset.was === "1";
  }

  // ------------------------------------------------------------------------------------------------------------
  // 10 a run from top to bottom

  addOverview();
  if (!circuit || data.trust) addTrust();
  addTwin();
  addSignals();
  const graph = circuit ? null : addSystem();
  if (circuit) addCircuit();
  addFacts();
  if (!circuit) addBonds();
  addAlarms();
  addTiming();
  addPace();
  addPorts();
  addSettings();
  main.append(el("footer", { text: `Made by yoke ${data.versions.yoke} (${data.versions.commit}). This page is complete in itself: it loads nothing from anywhere.` }));

  function redraw() { for (const chart of view.charts) chart.draw(); }
  function layout() {
    if (graph) drawGraph(graph);
    markChosen();
    redraw();
  }
  layout();
  return { title: titleOf(), layout, redraw, openForPrint, closeAfterPrint };
}

// --------------------------------------------------------------------------------------------------------------
// 11 the page: tabs, theme, print

(function () {
  "use strict";

  const SUFFIXES = ["", "-before"], NAMES = ["this run", "before"];
  const tabs = SUFFIXES.filter((suffix) => document.getElementById("data" + suffix)).map((suffix, i) => ({ suffix, name: NAMES[i], run: null }));
  let shown = null;

  function make(name, attributes, text) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // a tab is drawn when it is first shown: what is hidden has no size
  function show(tab) {
    for (const other of tabs) {
      other.panel.hidden = other.nav.hidden = other !== tab;
      if (other.button) {
        other.button.setAttribute("aria-selected", String(other === tab));
        other.button.tabIndex = other === tab ? 0 : -1;
      }
    }
    shown = tab;
    if (tab.run) tab.run.layout();
    else tab.run = drawRun(tab.panel, tab.nav, tab.suffix);
    document.title = tab.run.title + (tab.suffix === "" ? "" : " (before)");
  }

  function addTabs() {
    const main = document.getElementById("main"), nav = document.getElementById("nav"), list = document.getElementById("tabs");
    for (const tab of tabs) {
      tab.panel = make("div", { class: "tab", id: "run" + tab.suffix });
      tab.nav = make("span", { class: "tab-nav" });
      main.append(tab.panel);
      nav.append(tab.nav);
      if (tabs.length < 2) continue;
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("aria-labelledby", "tab" + tab.suffix);
      tab.button = make("button", { type: "button", role: "tab", id: "tab" + tab.suffix, "aria-controls": tab.panel.id }, tab.name);
      tab.button.addEventListener("click", () => show(tab));
      list.append(tab.button);
    }
    if (tabs.length < 2) return;
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Runs");
    list.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length];
      show(next);
      next.button.focus();
    });
  }

  let theme = "auto";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function applyTheme() {
    const isDark = !look.printing && (theme === "dark" || (theme === "auto" && dark.matches));
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    document.getElementById("theme").textContent = "Theme: " + theme;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    look.colours = { series: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => colour("s" + i)) };
    for (const name of ["ink", "muted", "grid", "axis", "panel", "doubt", "wrong", "doubt-bg", "wrong-bg"]) look.colours[name] = colour(name);
    if (shown) shown.run.redraw();
  }
  function addTheme() {
    try { theme = localStorage.getItem("yoke-theme") || "auto"; } catch (error) { theme = "auto"; }
    document.getElementById("theme").addEventListener("click", () => {
      theme = { auto: dark.matches ? "light" : "dark", light: dark.matches ? "dark" : "auto", dark: dark.matches ? "auto" : "light" }[theme] || "auto";
      try { localStorage.setItem("yoke-theme", theme); } catch (error) { /* not remembered */ }
      applyTheme();
    });
    dark.addEventListener("change", applyTheme);
  }

  // on paper: the tab that is shown, light, lines drawn fine enough
  function addPrint() {
    window.addEventListener("beforeprint", () => {
      look.printing = true;
      shown.run.openForPrint();
      applyTheme();
    });
    window.addEventListener("afterprint", () => {
      look.printing = false;
      shown.run.closeAfterPrint();
      applyTheme();
    });
  }

  addTheme();
  applyTheme();
  addTabs();
  show(tabs[0]);
  addPrint();
  let lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    if (look.printing || window.innerWidth === lastWidth) return;
    lastWidth = window.innerWidth;
    shown.run.layout();
  });
})();
