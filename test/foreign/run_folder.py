#!/usr/bin/env python3
"""Runs every FMU of a folder in isolation and compares with its reference: a table of what ran, what was refused and
why, and what deviates.

    run_folder.py FOLDER        YOKE_PROGRAM names the program

Beside NAME.fmu may stand (as in the public cross-check collections):
    NAME_ref.csv   reference; first column time, then names of variables
    NAME_in.csv    inputs over time
    NAME_ref.opt   lines "StartTime,0", "StopTime,10", "StepSize,0.01"
The last line is "N run, N refused, N deviate, N failed". The exit status is 1 if one fails in a way that a user cannot
understand: a crash of the program itself, or no message.
"""
import bisect
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ["YOKE_PROGRAM"]
TOLERANCE = 0.02  # root mean square of the difference, relative to the range of the reference


def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        rows = [row for row in csv.reader(file) if row]
    names = [name.strip().strip('"') for name in rows[0]]
    columns = [[] for _ in names]
    for row in rows[1:]:
        for column, cell in zip(columns, row):
            try:
                column.append(float(cell))
            except ValueError:
                column.append({"true": 1.0, "false": 0.0}.get(cell.strip().lower(), math.nan))
    return names, columns


def read_options(path):
    options = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                parts = line.strip().split(",")
                if len(parts) == 2:
                    try:
                        options[parts[0]] = float(parts[1])
                    except ValueError:
                        pass
    return options


def nice_step(length):
    """A five-hundredth of the run, rounded down to 1, 2 or 5 times a power of ten."""
    exponent = math.floor(math.log10(length / 500))
    for digit in (5, 2, 1):
        if digit * 10.0**exponent <= length / 500 * 1.0000001:
            return f"{digit}e{exponent}"
    return f"1e{exponent}"


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def times_of(info, reference, options):
    experiment = info.get("experiment", {}) or {}
    start = options.get("StartTime", reference[1][0][0] if reference else experiment.get("start", 0) or 0)
    stop = options.get("StopTime", reference[1][0][-1] if reference else experiment.get("stop", 1) or 1)
    if not stop > start:
        stop = start + 1
    step = options.get("StepSize", 0)
    return start, stop, repr(step) if step > 0 else nice_step(stop - start)


def write_system(work, fmu, info, times, inputs, wanted):
    start, stop, step = times
    n = max(1, round((stop - start) / float(step)))
    lines = ["yoke: 1", f"time: {{start: {start!r}, stop: {start + n * float(step):.12g}, step: {step}}}",
             "quality: {find: false}", "units:",
             f"  fmu: {{fmu: {quote(fmu)}, isolate: {{timeout: 30}}}}"]
    connections = []
    if inputs is not None:
        names = [name for name in inputs[0][1:]]
        path = os.path.join(work, "inputs.csv")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time"] + [f"c{i}" for i in range(len(names))])
            last = None
            for row in zip(*inputs[1]):
                if last is None or row[0] > last:
                    writer.writerow(row)
                    last = row[0]
        lines.append(f"  source: {{model: playback, with: {{file: {quote(path)}}}}}")
        known = {v["name"] for v in info.get("variables", []) if v.get("causality") == "input"}
        connections = [(i, name) for i, name in enumerate(names) if name in known]
    if connections:
        lines.append("connections:")
        lines += [f"  - {{from: source.c{i}, to: {quote('fmu.' + name)}}}" for i, name in connections]
    if wanted:
        lines.append("record: {signals: [" + ", ".join(quote("fmu." + name) for name in wanted) + "]}")
    path = os.path.join(work, "system.yaml")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def interpolate(times, values, t):
    i = bisect.bisect_right(times, t)
    if i == 0:
        return values[0]
    if i == len(times):
        return values[-1]
    span = times[i] - times[i - 1]
    return values[i] if span <= 0 else values[i - 1] + (values[i] - values[i - 1]) * (t - times[i - 1]) / span


def deviation(results, reference):
    """The worst signal and its error."""
    names, columns = read_csv(results)
    worst = (0.0, "")
    for name, values in zip(reference[0][1:], reference[1][1:]):
        if "fmu." + name not in names:
            continue
        ours = columns[names.index("fmu." + name)]
        size = max(max(values) - min(values), 1e-6 * max(abs(v) for v in values), 1e-12)
        square = [(interpolate(columns[0], ours, t) - v) ** 2
                  for t, v in zip(reference[1][0], values) if t <= columns[0][-1] + 1e-9 and not math.isnan(v)]
        error = math.sqrt(sum(square) / max(1, len(square))) / size
        worst = max(worst, (error, name))
    return worst


def call(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, errors="replace", timeout=300,
                          check=False)


def last_message(process):
    lines = [line for line in process.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return (errors or lines or ["no message"])[0 if errors else -1]


def run_one(fmu, work):
    stem = fmu[:-4]
    shown = call("info", fmu, "--json")
    if shown.returncode != 0:
        return "refused" if shown.returncode == 2 and shown.stderr.strip() else "failed", last_message(shown)
    info = json.loads(shown.stdout)
    reference = read_csv(stem + "_ref.csv") if os.path.exists(stem + "_ref.csv") else None
    inputs = read_csv(stem + "_in.csv") if os.path.exists(stem + "_in.csv") else None
    known = {v["name"] for v in info.get("variables", [])}
    wanted = [name for name in reference[0][1:] if name in known] if reference else []
    times = times_of(info, reference, read_options(stem + "_ref.opt"))
    system = write_system(work, fmu, info, times, inputs, wanted)
    out = os.path.join(work, "out")
    run = call("run", system, "--out", out, "--quiet")
    if run.returncode == 2:
        return "refused", last_message(run)
    if run.returncode != 0:
        # a unit that fails with a message is the FMU's affair; a signal or silence is ours
        return "deviates" if run.returncode == 1 and run.stderr.strip() else "failed", last_message(run)
    if reference is None or not wanted:
        return "run", "no reference"
    error, name = deviation(os.path.join(out, "results.csv"), reference)
    return ("run" if error <= TOLERANCE else "deviates"), f"{name}: nrmse {error:.3g}"


def main():
    fmus = []
    for folder, _, files in sorted(os.walk(sys.argv[1])):
        fmus += [os.path.join(folder, name) for name in sorted(files) if name.endswith(".fmu")]
    counts = {"run": 0, "refused": 0, "deviates": 0, "failed": 0}
    for fmu in fmus:
        with tempfile.TemporaryDirectory() as work:
            try:
                verdict, why = run_one(os.path.abspath(fmu), work)
            except subprocess.TimeoutExpired:
                verdict, why = "failed", "no answer for 300 s"
        counts[verdict] += 1
        print(f"{os.path.relpath(fmu, sys.argv[1]):40} {verdict:9} {why}", flush=True)
    print(f"{counts['run']} run, {counts['refused']} refused, {counts['deviates']} deviate, {counts['failed']} failed")
    return 1 if counts["failed"] or not fmus else 0


sys.exit(main())
