# What the Python package promises, tried on the scenarios; run by test_python.sh, with numpy and without it.
import contextlib
import doctest
import json
import logging
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import yoke

SCENARIOS = Path(os.environ["YOKE_SOURCE_DIR"]) / "scenarios"
JACOBI = SCENARIOS / "linear-oscillator/jacobi.yaml"
TYPED = SCENARIOS / "typed-signals/typed.yaml"
PROGRAM = os.environ["YOKE_PROGRAM"]

LAG = """
yoke: 1
inputs: start
calls: 1
time: {stop: 5, step: 0.01}
units:
  source: {model: step, with: {before: 0, after: 1, time: 1}}
  lag: {model: my.lag, with: {T: 0.5}}
connections: [source.y -> lag.u]
"""


def skip(what):
    """A part that cannot be checked here: tools/test counts these lines."""
    print(f"skipped: {what}")


def plain(column):
    return column.tolist() if hasattr(column, "tolist") else list(column)


def same(a, b):
    """Equal bit for bit; NaN equals NaN."""
    a, b = plain(a), plain(b)
    return len(a) == len(b) and all(x == y or (x != x and y != y) for x, y in zip(a, b))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, *words):
        out = self.folder / "command"
        done = subprocess.run([PROGRAM, "run", *map(str, words), "--quiet", "--out", str(out)], capture_output=True)
        self.assertIn(done.returncode, (0, 3), done.stderr.decode())
        return out

    def fails(self, status, call, *arguments, **settings):
        """The call raises yoke.Error with this status; returns the exception."""
        with self.assertRaises(yoke.Error) as caught:
            call(*arguments, **settings)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception


class Runs(Case):
    def test_docstring(self):
        self.assertEqual(doctest.testmod(yoke).failed, 0)
        self.assertGreater(doctest.testmod(yoke).attempted, 3)

    def test_same_bits_as_the_command(self):
        for scenario in ("linear-oscillator/jacobi.yaml", "linear-oscillator/corrected-multirate.yaml",
                         "linear-oscillator/iterative.yaml", "typed-signals/typed.yaml", "dual-mass/mpsm.yaml"):
            with self.subTest(scenario):
                want = yoke.read(self.command(SCENARIOS / scenario))
                out = self.folder / "out"
                got = yoke.run(SCENARIOS / scenario, out=out)
                self.assertEqual((out / "results.csv").read_bytes(), (self.folder / "command/results.csv").read_bytes())
                self.assertEqual(got.names, want.names)
                for name in want.names:
                    self.assertTrue(same(got[name], want[name]), name)
                self.assertEqual(got.summary["steps"], want.summary["steps"])
                self.assertEqual(got.status, yoke.Status.OK)

    def test_set(self):
        settings = {"time.step": 2e-3, "units.left.with": {"m": 2, "k": 10, "kc": 100}, "scheme": "gauss-seidel"}
        want = yoke.read(self.command(JACOBI, "--set", "time.step=2e-3", "--set", "scheme=gauss-seidel",
                                      "--set", "units.left.with={m: 2, k: 10, kc: 100}"))
        got = yoke.run(JACOBI, set=settings)
        self.assertTrue(same(got["left.x"], want["left.x"]))

    def test_verdicts(self):
        result = yoke.run(JACOBI)
        self.assertEqual(result.verdict, "wrong")
        spring = result.bonds["spring"]
        self.assertEqual((spring.verdict, spring.action_unit, spring.rate_unit), ("wrong", "left", "right"))
        self.assertAlmostEqual(spring.created, 10.8e3, delta=100)
        self.assertIn("the coupling created about 10.8 kJ", spring.explanation)
        self.assertEqual(spring.reason, spring.explanation)
        self.assertNotEqual(spring.given, 0)
        good = yoke.run(SCENARIOS / "linear-oscillator/fresh.yaml")
        self.assertEqual(good.verdict, "trustworthy")
        self.assertIn("no sign of an energy error", good.bonds["spring"].reason)

    def test_table(self):
        result = yoke.run(JACOBI)
        self.assertEqual(result.names[:2], ["time", "left.f"])
        self.assertEqual(result.n_rows, len(result.time))
        self.assertIn("left.x", result)
        first = next(result.rows())
        self.assertEqual((first["time"], first["left.v"]), (0, 100))
        with self.assertRaisesRegex(KeyError, "did you mean 'left.x'"):
            result["left.xx"]
        self.assertEqual(type(result["left.x"]).__name__, "list" if yoke.result.numpy is None else "ndarray")

    def test_types_of_columns(self):
        result = yoke.run(TYPED)
        self.assertEqual(plain(result["name.text"])[-1], "high")
        self.assertEqual(plain(result["stage.count"])[-1], 2)
        self.assertEqual(yoke.read(self.command(TYPED))["name.text"], result["name.text"])

    def test_netlist(self):
        result = yoke.run(SCENARIOS / "circuits/rlc.cir")
        out = self.command(SCENARIOS / "circuits/rlc.cir")
        want = yoke.read(out)
        self.assertEqual(result.names, want.names)
        self.assertTrue(same(result[want.names[1]], want[want.names[1]]))
        short = yoke.run(SCENARIOS / "circuits/rlc.cir", set={"time.stop": 5})
        self.assertEqual((short.time[-1], short.summary["steps"]), (5, 500))

    def test_hdf5(self):
        out = self.folder / "h5"
        try:
            got = yoke.run(JACOBI, out=out, format="hdf5")
        except yoke.Error as error:
            self.assertRegex(str(error), "(?i)hdf5")
            skip("HDF5 is not part of this build")
            return
        read = yoke.read(out / "results.h5")
        self.assertFalse((out / "results.csv").exists())
        self.assertEqual(sorted(read.names), sorted(got.names))
        self.assertTrue(all(same(read[name], got[name]) for name in got.names))
        with self.assertRaisesRegex(ValueError, "format is csv, hdf5 or mat"):
            yoke.run(JACOBI, out=out, format="xls")

    def test_progress_and_end(self):
        seen = []
        result = yoke.run(JACOBI, set={"time.stop": 1e6}, progress=lambda p: seen.append(p) or len(seen) < 2)
        self.assertEqual(result.status, yoke.Status.INTERRUPTED)
        self.assertEqual(len(seen), 2)
        self.assertEqual((seen[0].t_start, seen[0].t_stop), (0, 1e6))
        self.assertGreaterEqual(result.time[-1], seen[0].time)
        with self.assertRaises(ZeroDivisionError):
            yoke.run(JACOBI, set={"time.stop": 1e6}, progress=lambda p: 1 / 0)

    def test_keyboard_interrupt(self):
        # a script's background has it ignored
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)

        endless = LAG.replace("stop: 5", "stop: 1e9")
        for call in (yoke.System.run, lambda s: s.run_to(1e9), lambda s: s.step(10**9)):
            for text, units in ((endless, {"my.lag": Lag}), (endless.replace("my.lag", "oscillator.mass").replace(
                    "T: 0.5", "k: 1, m: 1").replace("lag.u", "lag.f"), {})):
                with self.assertRaises(KeyboardInterrupt), yoke.System(text, units=units) as system:
                    threading.Timer(0.2, interrupt).start()
                    call(system)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_cancel_from_a_thread(self):
        with yoke.System(LAG.replace("stop: 5", "stop: 1e9"), units={"my.lag": Lag}) as system:
            threading.Timer(0.2, system.cancel).start()
            self.assertEqual(system.run().status, yoke.Status.INTERRUPTED)
            threading.Timer(0.2, system.cancel).start()
            system.run_to(1e9)
            self.assertEqual(system.status, yoke.Status.INTERRUPTED)
            self.assertFalse(system.done)

    def test_pace(self):
        free = yoke.run(JACOBI, trust="none")
        with yoke.System(JACOBI) as system:
            self.assertIsNone(system.pace)
            self.assertEqual(system.state, "INIT")
            paced = system.run(trust="none", pace=1e4)
            pace = system.pace
            self.assertEqual(system.state, "SAFE")
            self.assertEqual((pace.factor, pace.n_steps), (1e4, round(paced.time[-1] / system.step_size)))
            self.assertEqual(pace.release.n, pace.n_steps)
            self.assertGreaterEqual(pace.n_missed, pace.n_late)
            self.assertIn("clock" if pace.n_late else "kept", pace.grade)
            with self.assertRaises(yoke.Error):
                system.reset_fault()
        self.assertEqual(list(free["left.x"]), list(paced["left.x"]))
        with yoke.System(JACOBI) as system:
            with self.assertRaises(ValueError):
                system.run(pace=-1)
            threading.Timer(0.2, system.emergency_stop).start()
            stopped = system.run(trust="none", pace=1)
            self.assertEqual((stopped.status, system.state), (yoke.Status.STOPPED, "FAULT"))
            self.assertLess(stopped.time[-1], 5)
            with self.assertRaises(yoke.Error):
                system.run(pace=1)
            system.reset_fault()
            self.assertEqual(system.state, "INIT")

    def test_plot(self):
        result = yoke.run(JACOBI)
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(ImportError, "python3-matplotlib"):
                result.plot("left.x")
            if "YOKE_TEST_BLOCKED" not in os.environ:
                skip("matplotlib is not installed")
            return
        matplotlib.use("Agg")
        lines = result.plot("left.x", "right.x").get_lines()
        self.assertEqual([line.get_label() for line in lines], ["left.x", "right.x"])
        self.assertEqual(lines[0].get_ydata()[-1], result["left.x"][-1])
        judged = yoke.run(JACOBI, trust="both")
        times, bands = judged.band("right.x")
        areas = judged.plot("right.x", "left.x").collections  # left.x is not exchanged: no band
        self.assertEqual(len(areas), 1)
        corners = areas[0].get_paths()[0].vertices
        self.assertAlmostEqual(corners[:, 1].max(), max(judged["right.x"] + bands[::5]), places=9)
        self.assertEqual(len(judged.plot("right.x", color="k").collections), 1)

    def test_sweep(self):
        table = yoke.sweep(JACOBI, vary={"time.step": (1e-3, 1e-2, 3, "log"), "scheme": ["jacobi", "gauss-seidel"]},
                           measure=["end:left.x", "eps"], limit=["maxabs:right.v<=1000"], set={"time.stop": 10})
        self.assertEqual(table.names, ["time.step", "scheme", "status", "t_reached", "end:left.x", "eps", "reason"])
        rows = list(table.rows())
        self.assertEqual([r["scheme"] for r in rows], ["jacobi", "gauss-seidel"] * 3)
        self.assertEqual(plain(table["time.step"]), [1e-3, 1e-3, 3.16e-3, 3.16e-3, 1e-2, 1e-2])
        self.assertEqual(rows[0]["end:left.x"], yoke.run(JACOBI)["left.x"][-1])
        self.assertTrue(math.isnan(rows[1]["eps"]))
        self.assertIn("limit", table["status"])
        error = self.fails(yoke.Status.BAD_INPUT, yoke.sweep, JACOBI, vary={"time.stp": [1, 2]}, measure="ter")
        self.assertIn("time.stp", str(error))


LOOP = """
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 0.01}
units:
  one: {model: my.lag, with: {T: 0.5}}
  two: {model: my.lag, with: {T: 0.2}, start: {y: 1}}
connections: [one.y -> two.u, two.y -> one.u]
"""


class Trust(Case):
    """Companions, bands and verdicts; TR-02 for what Python returns."""

    def test_modes(self):
        alone = yoke.run(JACOBI, trust=None)
        self.assertEqual(alone.summary["trust"]["companions"], [])
        self.assertTrue(math.isnan(alone.signals["right.x"].band))
        with self.assertRaisesRegex(KeyError, "has no band"):
            alone.band("right.x")
        for mode, names in (("none", []), ("half", ["A"]), ("both", ["A", "B"]), ("cheap", ["A", "B"]), ("auto", "AB"),
                            ("file", "AB")):
            with self.subTest(mode):
                result = yoke.run(JACOBI, trust=mode)
                self.assertEqual([c["name"] for c in result.summary["trust"]["companions"]], list(names))
                self.assertTrue(all(same(result[name], alone[name]) for name in alone))
        self.assertEqual(yoke.run(JACOBI, set={"trust.companions": "half"}).summary["trust"]["mode"], "half")
        with self.assertRaisesRegex(ValueError, "trust is one of none, file, auto, both, half, cheap; found 'x'"):
            yoke.run(JACOBI, trust="x")
        self.assertRaises(TypeError, yoke.run, JACOBI, trust=3)

    def test_signals(self):
        out = self.folder / "out"
        result = yoke.run(JACOBI, trust="both", out=out, set={"trust.signals": ["right.x"]})
        self.assertEqual((result.verdict, result.left_out), ("wrong", ""))
        self.assertIn("right.x is off by up to", result.reason)
        x = result.signals["right.x"]
        self.assertEqual((x.dim, x.verdict, x.reason, x.wanted), ("m", "wrong", result.reason, True))
        self.assertFalse(result.signals["left.f"].wanted)
        self.assertTrue(0 < x.low < x.band < x.band_max and 0 <= x.at_time <= 10 and x.digits == 1)
        self.assertAlmostEqual(x.relative, x.band / x.scale, places=12)
        times, bands = result.band("right.x")
        self.assertEqual((times[0], round(times[-1], 9), len(times)), (0, 10, len(bands)))
        self.assertAlmostEqual(max(bands), x.band_max, places=9)
        self.assertEqual(type(bands).__name__, "list" if yoke.result.numpy is None else "ndarray")
        with self.assertRaisesRegex(KeyError, "'right.xx' has no band; did you mean 'right.x'"):
            result.band("right.xx")
        # the same from the files
        again = yoke.read(out)
        self.assertEqual((again.verdict, again.reason, again.signals["right.x"]), (result.verdict, result.reason, x))
        self.assertEqual(len(again.band("right.x")[0]), 201)
        self.assertAlmostEqual(again.band("right.x")[1][-1], bands[-1], places=12)
        self.assertIsNone(yoke.Result({"time": [0]}).verdict)

    def test_interrupt_while_judging(self):
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        ends = {"interrupt": lambda: os.kill(os.getpid(), signal.SIGINT), "false": lambda: False,
                "exception": lambda: 1 / 0}
        for end, act in ends.items():
            made, calls, ended = [], [], []

            class Slow(Lag):
                def __init__(self):
                    made.append(self)
                    self._is_companion = len(made) > 2

                def step(self, t, h):
                    if self._is_companion:
                        calls.append(t)
                        time.sleep(0.01)
                    super().step(t, h)

                def terminate(self):
                    ended.append(self)

            def progress(p):
                return act() if p.share == 1 and calls else True

            with self.subTest(end), yoke.System(LOOP, units={"my.lag": Slow}) as system:
                if end == "exception":
                    with self.assertRaises(ZeroDivisionError) as caught:
                        system.run(progress=progress, trust="both", out=self.folder / end)
                    result = caught.exception.result
                else:
                    with self.assertLogs("yoke", "WARNING") if end == "interrupt" else contextlib.nullcontext():
                        result = system.run(progress=progress, trust="both", out=self.folder / end)
                self.assertIsNone(result.verdict)
                self.assertEqual((result.n_rows, result.status, result.signals), (201, yoke.Status.OK, {}))
                self.assertNotIn("trust", json.loads((self.folder / end / "summary.json").read_text()))
                self.assertIsNone(system.verdict)
                # the first companion was ended, the second not begun
                self.assertEqual((len(made), len(ended)), (4, 2))
                self.assertLess(len(calls), 400)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_python_units(self):
        busy, most, made = [], [], []

        class Alone(Lag):
            def __init__(self):
                made.append(self)

            def step(self, t, h):
                busy.append(self)
                most.append(len(busy))
                time.sleep(0)  # others may come in
                super().step(t, h)
                busy.remove(self)

        fine = {"time.step": 0.002}
        alone = yoke.run(LOOP, units={"my.lag": Alone}, set=fine)
        self.assertEqual((alone.verdict, len(made)), ("not judged", 2))
        self.assertIn("units of your own program", alone.reason)
        judged = yoke.run(LOOP, units={"my.lag": Alone}, set=fine, trust="both")
        self.assertEqual((judged.verdict, len(made), max(most)), ("trustworthy", 8, 1))
        self.assertTrue(all(same(judged[name], alone[name]) for name in alone))
        # the same in C, in a process of its own
        in_c = yoke.run(LOOP, libraries=[os.environ["YOKE_TEST_LIBRARY"]], set=fine)
        self.assertEqual(in_c.verdict, "trustworthy")
        self.assertAlmostEqual(in_c.signals["one.y"].band / judged.signals["one.y"].band, 1, places=6)

    def test_failing_companion(self):
        class Picky(Lag):
            def step(self, t, h):
                if h < 0.01:
                    raise SystemExit("not with this step") if self.name == "one" else ValueError("neither")
                super().step(t, h)

        with yoke.System(LOOP, units={"my.lag": Picky}) as system:
            result = system.run(trust="both")
            self.assertEqual((result.status, result.verdict, result.n_rows), (yoke.Status.OK, "not judged", 201))
            self.assertIn("not with this step", result.reason)

    def test_written_and_restored(self):
        with yoke.System(JACOBI) as system:
            start = system.save()
            result = system.run(trust="both")
            self.assertEqual((result.verdict, system.verdict), ("wrong", "wrong"))
            system.restore(start)
            self.assertNotEqual(system.verdict, "trustworthy")  # of the ledger, which has seen nothing yet
            again = system.run(trust="both")
            self.assertEqual((again.verdict, again.signals), (result.verdict, result.signals))
            system.restore(start)
            system.step(5)
            late = system.run(trust="both")
            self.assertIn("did not begin at its start time", late.reason)
        with yoke.System(JACOBI) as system:
            system["left.k"] = 11.0
            self.assertIn("values were written", system.run(trust="both").signals["left.f"].reason)


class Files(Case):
    def test_errors_have_file_and_line(self):
        path = self.folder / "bad.yaml"
        path.write_text("yoke: 1\ntime: {stop: 1, step: 0.1}\n"
                        "units:\n  a: {model: sinn}\n  b: {model: sine, wth: {}}\n")
        error = self.fails(yoke.Status.BAD_INPUT, yoke.run, path)
        self.assertEqual((error.file, error.line), (str(path), 4))
        self.assertGreater(error.column, 0)
        self.assertEqual([m.line for m in error.messages if m.severity == "error"], [4, 5])
        self.assertIn(f"{path}:4:", str(error))
        self.assertEqual(len(str(error).splitlines()), 2)
        error = self.fails(yoke.Status.BAD_INPUT, yoke.System, "yoke: 1\nunits: 3\n")
        self.assertEqual((error.file, error.line), ("<text>", 1))
        self.assertEqual([m.line for m in error.messages], [1, 1, 2])
        error = self.fails(yoke.Status.BAD_INPUT, yoke.run, JACOBI, set={"time.stp": 1})
        self.assertIn("time.stp", str(error))

    def test_missing_file(self):
        error = self.fails(yoke.Status.IO, yoke.run, "nowhere.yaml")
        self.assertIn("nowhere.yaml", str(error))
        error = self.fails(yoke.Status.IO, yoke.read, self.folder / "nowhere")
        self.assertIn("nowhere", str(error))

    def test_bad_result(self):
        path = self.folder / "results.csv"
        path.write_text("time,a\n0,1\n1,2,3\n")
        error = self.fails(yoke.Status.BAD_INPUT, yoke.read, path)
        self.assertEqual((error.file, error.line), (str(path), 3))

    def test_read_csv(self):
        path = self.folder / "some.csv"
        path.write_text('time,a,"b, c",d\n0,1,low,\n1,2.5,"h""igh",7\n')
        table = yoke.read(path)
        self.assertEqual(plain(table["a"]), [1, 2.5])
        self.assertEqual(table["b, c"], ["low", 'h"igh'])
        self.assertTrue(math.isnan(table["d"][0]) and table["d"][1] == 7)
        self.assertIsNone(table.summary)

    def test_describe(self):
        system = yoke.describe(JACOBI, set={"time.step": 0.002})
        self.assertEqual((system["format"], system["step"]), ("yoke-system", 0.002))
        with yoke.System(JACOBI, set={"time.step": 0.002}) as same_system:
            self.assertEqual(same_system.describe(), system)
        error = self.fails(yoke.Status.IO, yoke.describe, self.folder / "nowhere.yaml")
        self.assertIn("nowhere.yaml", str(error))

    def test_describe_names(self):
        names = yoke.describe()
        self.assertIn("oscillator.force", [m["name"] for m in names["models"]])
        self.assertIn("mpsm", [m["name"] for m in names["methods"]])
        self.assertEqual(yoke.describe("oscillator.force")["format"], "yoke-model")
        self.assertEqual(yoke.describe("mpsm")["serves"], "a cluster of units as a whole")
        error = self.fails(yoke.Status.NO_SUCH_NAME, yoke.describe, "oscillator.forse")
        self.assertEqual(error.hint, "did you mean 'oscillator.force'?")

    def test_describe_netlist(self):
        path = self.folder / "load.cir"
        path.write_text("load\n.param rload=1k\nV1 a 0 1\nR1 a 0 {rload}\n.end\n")
        circuit = yoke.describe(path, set={"rload": -2000})
        self.assertEqual((circuit["format"], circuit["elements"]), ("yoke-circuit", {"resistors": 1, "voltage_sources": 1}))
        self.assertEqual(circuit["parameters"], [{"name": "rload", "value": "-2000"}])
        self.assertIn("negative", circuit["messages"][0]["text"])
        error = self.fails(yoke.Status.NO_SUCH_NAME, yoke.describe, path, set={"rlod": 1})
        self.assertEqual((error.file, error.hint), ("--set rlod", "did you mean 'rload'?"))

    def test_describe_equals_the_command(self):
        for what in ("gain", "energy", JACOBI, TYPED):
            printed = subprocess.run([PROGRAM, "info", "--json", str(what)], capture_output=True, check=True).stdout
            self.assertEqual(yoke.describe(what), json.loads(printed))

    def test_warnings_are_logged(self):
        with self.assertLogs("yoke", logging.WARNING) as logs:
            with yoke.System(JACOBI, set={"record.signals": ["left.x", "nothing*"]}) as system:
                self.assertTrue(any(m.severity == "warning" for m in system.messages))
        self.assertTrue(logs.output)


class Systems(Case):
    def test_step_and_read(self):
        want = yoke.run(JACOBI)
        with yoke.System(JACOBI) as system:
            x, v = system.handle("left.x"), system.handle("right.v")
            self.assertEqual((system.time, x.value, v.value), (0, 0, -100))
            for row in range(1, 11):
                system.step(10)
                self.assertEqual((system.time, x.value), (want.time[row], want["left.x"][row]))
            system.run_to(5)
            self.assertEqual((system.time, x.value), (5, want["left.x"][500]))
            while not system.done:
                system.step()
            self.assertEqual((system.time, system["left.x"]), (10, want["left.x"][-1]))
            self.assertEqual(system.verdict, "wrong")
            self.assertGreater(system.step_times.n_timed, 0)
            self.fails(yoke.Status.BAD_ARG, system.step)
            self.fails(yoke.Status.BAD_ARG, system.step, 5)
            system.run_to(10)
            self.assertEqual(system["left.x"], want["left.x"][-1])

    def test_what_is_in_it(self):
        with yoke.System(JACOBI) as system:
            self.assertEqual((system.name, system.t_stop, system.step_size, system.scheme),
                             ("linear oscillator, explicit Jacobi", 10, 1e-3, "jacobi"))
            left, right = system.units
            self.assertEqual((left.name, left.type, left.kind, left.line, left.is_law),
                             ("left", "oscillator.force", "model", 17, False))
            self.assertEqual((right.file, right.step), (str(JACOBI), 1e-3))
            variables = {v.name: v for v in system.variables}
            self.assertEqual((variables["left.f"].causality, variables["left.f"].dim), ("output", "N"))
            self.assertEqual((variables["left.kc"].causality, variables["left.kc"].shape), ("parameter", ()))
            ends = {(c.source, c.target): c for c in system.connections}
            self.assertFalse(ends["right.x", "left.x_other"].is_from_bond)
            self.assertTrue(ends["left.f", "right.f"].is_from_bond)
            self.assertEqual([b.name for b in system.bonds], ["spring"])
            self.assertEqual(system.couplings[0].method, "hold")
            self.assertEqual(system.describe()["format"], "yoke-system")
        with yoke.System(SCENARIOS / "linear-oscillator/corrected.yaml") as system:
            method = system.couplings[-1]
            self.assertEqual((method.name, method.method), ("spring", "energy"))
            self.assertIn("k_i", method.settings)
        with yoke.System(TYPED) as system:
            self.assertIn("best.u[1]", [c.target for c in system.connections])
            self.assertEqual([u.name for u in system.units if u.is_law], ["name", "best", "gate"])

    def test_typed_values(self):
        with yoke.System(TYPED) as system:
            system.run_to(2)
            self.assertEqual(system["name.text"], "high")
            self.assertEqual(system["stage.count"], 2)
            self.assertIs(system["stage.toggle"], False)
            self.assertEqual(system["best.mode"], "mean")
            self.assertEqual(plain(system["best.u"]), [1, 2, 6])
            self.assertEqual(system["best.u[2]"], 6)
            self.assertEqual(system.handle("best.mode").variable.items, ("min", "max", "mean"))

    def test_write(self):
        with yoke.System(TYPED) as system:
            system["data.b"] = 30.0
            system.step(11)
            self.assertEqual((system["best.mode"], system["best.y"]), ("max", 30.0))
            system["data.b"] = 40.0 if yoke.result.numpy is None else yoke.result.numpy.float32(40)
            system.step()
            system.step()
            self.assertEqual(system["best.y"], 40.0)
            for name, value, status in (("best.mode", "min", "READ_ONLY"), ("wave.y", 1.0, "READ_ONLY"),
                                        ("data.b", math.nan, "NOT_FINITE"), ("data.b", math.inf, "NOT_FINITE")):
                error = self.fails(yoke.Status[status], system.__setitem__, name, value)
                self.assertEqual((error.unit, error.variable), tuple(name.split(".")))
            error = self.fails(yoke.Status.NO_SUCH_NAME, system.__getitem__, "data.bb")
            self.assertEqual(error.hint, "did you mean 'b'?")
            with self.assertRaisesRegex(ValueError, "holds a NUL"):
                system["data.b\0b"]
            with self.assertRaisesRegex(ValueError, "one of min, max, mean"):
                system["best.mode"] = "median"
            with self.assertRaisesRegex(TypeError, "data.b is of type real, found 'three'"):
                system["data.b"] = "three"
            system.run_to(2.5)
            self.fails(yoke.Status.BAD_ARG, system.__setitem__, "data.b", 1.0)

    def test_write_typed(self):
        text = TYPED.read_text()
        for connection in ("stage.count -> best.mode", "stage.count -> name.index"):
            text = text.replace(f"  - {connection}", "#")
        with yoke.System(text) as system:
            system["best.mode"] = "max"
            system["name.index"] = 1
            system.step(2)
            self.assertEqual((system["best.mode"], system["best.y"], system["name.text"]), ("max", 6, "middle"))
            system["best.mode"] = 0
            system["name.index"] = 0
            system.step(2)
            self.assertEqual((system["best.mode"], system["best.y"], system["name.text"]), ("min", 1, "low"))
            with self.assertRaisesRegex(ValueError, "name.index is of type integer"):
                system["name.index"] = 0.5

    def test_parameter_before_the_start(self):
        with yoke.System(JACOBI) as system:
            system["left.kc"] = 50.0
            system["left.v"] = 10.0
            system.step(100)
            got = system["left.x"]
            self.fails(yoke.Status.READ_ONLY, system.__setitem__, "left.kc", 100.0)
        want = yoke.run(JACOBI, set={"units.left.with.kc": 50, "units.left.start.v": 10})
        self.assertEqual(got, want["left.x"][10])

    def test_save_and_restore(self):
        for scenario in (JACOBI, TYPED, SCENARIOS / "dual-mass/mpsm.yaml"):
            with self.subTest(scenario.name), yoke.System(scenario) as system:
                system.step(15)
                state = system.save()
                self.assertEqual(state.time, system.time)
                names = [v.name for v in system.variables if v.causality in ("output", "state")]

                def go():
                    system.step(9)
                    return repr([system[name] for name in names])

                first = go()
                system.restore(state)
                self.assertEqual(system.time, state.time)
                self.assertEqual(go(), first)
                path = self.folder / f"{scenario.stem}.state"
                system.checkpoint(path)
                second = go()
                with yoke.System(scenario) as other:
                    other.resume(path)
                    other.step(9)
                    self.assertEqual(repr([other[name] for name in names]), second)

    def test_bad_checkpoint(self):
        path = self.folder / "state"
        with yoke.System(JACOBI) as system:
            system.step()
            system.checkpoint(path)
            self.fails(yoke.Status.BAD_ARG, system.restore, yoke.State(0, b"short"))
        with yoke.System(JACOBI, set={"time.step": 2e-3}) as system:
            self.fails(yoke.Status.BAD_INPUT, system.resume, path)
            self.fails(yoke.Status.IO, system.resume, self.folder / "nowhere")

    def test_record(self):
        with yoke.System(JACOBI) as system:
            system.run_to(1)
            system.record(self.folder / "part")
            system.run_to(2)
            part = system.stop_recording()
            self.assertEqual((part.time[0], part.time[-1]), (1, 2))
            read = yoke.read(self.folder / "part")
            self.assertTrue(same(part["left.x"], read["left.x"]))
            with self.assertRaisesRegex(ValueError, "nothing is recorded"):
                system.stop_recording()
            system.record()
            with self.assertRaisesRegex(ValueError, "records already"):
                system.run(out=self.folder / "other")
            self.assertEqual(system.run().time[0], 2)

    def test_closed(self):
        system = yoke.System(JACOBI)
        x = system.handle("left.x")
        system.close()
        system.close()
        for call in (system.step, lambda: system.run_to(1), lambda: x.value, lambda: system["left.v"], lambda: system.bonds, system.save):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()
        self.assertTrue(math.isnan(system.time))

    def test_limits(self):
        text = ("yoke: 1\ninputs: start\ntime: {stop: 10, step: 1}\nunits: {T: {model: ramp}}\n"
                "quality: {warn: {above: {T.y: 2}}, stop: {above: {T.y: 6.5}}}\n")
        with yoke.System(text) as system:
            self.assertEqual([one.n_beyond for one in system.limits], [0, 0])
            stopped = system.run(trust="none")
            self.assertEqual(stopped.status, yoke.Status.STOPPED)
            self.assertIn("T.y is 7 at t = 7 s, above the stop limit of 6.5", stopped.messages[-1].text)
            warn, stop = system.limits
            self.assertEqual((warn.signal, warn.limit, warn.is_above, warn.is_stop), ("T.y", 2, True, False))
            self.assertEqual((warn.n_beyond, warn.time, warn.value, warn.worst_time, warn.worst), (5, 3, 3, 7, 7))
            self.assertEqual((stop.n_beyond, stop.time, stop.has_ended_run), (1, 7, True))

    def test_diverged(self):
        text = ("yoke: 1\ntime: {stop: 100, step: 0.1}\nunits:\n  s: {model: state_space, start: {u: 1},\n"
                "      with: {A: [[700]], B: [[1]], C: [[1]], D: [[0]], inputs: [u]}}\n")
        error = self.fails(yoke.Status.DIVERGED, yoke.run, text)
        self.assertEqual(error.unit, "s")
        self.assertGreater(error.time, 0)
        self.assertGreater(error.result.n_rows, 1)


class Lag(yoke.Unit):
    """first-order lag, exact for a held input"""
    inputs = ["u"]
    outputs = {"y": 0.0}
    parameters = {"T": yoke.Value(1.0, "s", "time constant")}

    def step(self, t, h):
        self.y = self.u + (self.y - self.u) * math.exp(-h / self.T)


class Units(Case):
    def test_lag(self):
        result = yoke.run(LAG, units={"my.lag": Lag})
        self.assertAlmostEqual(result["lag.y"][-1], 1 - math.exp(-4 / 0.5), delta=1e-9)
        with yoke.System(LAG, units={"my.lag": Lag}) as system:
            self.assertEqual(system["lag.T"], 0.5)
            system.step(200)
            state = system.save()
            system.step(50)
            first = system["lag.y"]
            system.restore(state)
            system.step(50)
            self.assertEqual(system["lag.y"], first)
            self.assertEqual({v.name: v.dim for v in system.variables}["lag.T"], "s")

    def test_feedthrough_and_types(self):
        class Mixed(yoke.Unit):
            inputs = {"u": 0.0, "on": False, "word": "off"}
            outputs = {"y": 0.0, "n": yoke.Value(0, type="integer"), "said": ""}
            tunables = {"gain": 2.0}
            states = {"sum": 0.0}

            def start(self, t):
                self._table = [1, 2, 3]

            def step(self, t, h):
                self.sum += h * self.u
                self.n += 1

            def output(self, t):
                self.y = self.gain * self.u
                self.said = self.word.upper() if self.on else self.word

        text = ("yoke: 1\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  s: {model: sine, with: {frequency: 0.5}}\n"
                "  m: {model: mixed}\nconnections: [s.y -> m.u]\n")
        with yoke.System(text, units={"mixed": Mixed}) as system:
            system["m.on"], system["m.word"] = True, "go"
            system.step(3)
            self.assertEqual((system["m.n"], system["m.said"]), (3, "GO"))
            state = system.save()
            system["m.gain"] = 5.0
            system.step(3)
            late = system["m.y"], system["m.sum"]
            system.restore(state)
            self.assertEqual(system["m.n"], 3)
            system["m.gain"] = 5.0
            system.step(3)
            self.assertEqual((system["m.y"], system["m.sum"]), late)

    def test_exception(self):
        class Faulty(Lag):
            def step(self, t, h):
                if t >= 0.5:
                    raise ArithmeticError("no more")

        line = Faulty.step.__code__.co_firstlineno + 2
        for call in (lambda: yoke.run(LAG, units={"my.lag": Faulty}),
                     lambda: yoke.System(LAG, units={"my.lag": Faulty}).run_to(3)):
            error = self.fails(yoke.Status.UNIT_FAILED, call)
            self.assertEqual((error.unit, error.time), ("lag", 0.5))
            self.assertEqual((error.file, error.line), (__file__, line))
            self.assertIn("ArithmeticError: no more", str(error))
            self.assertIsInstance(error.__cause__, ArithmeticError)

        class Unborn(Lag):
            def start(self, t):
                raise KeyError("table")

        error = self.fails(yoke.Status.UNIT_FAILED, yoke.run, LAG, units={"my.lag": Unborn})
        self.assertEqual(error.unit, "lag")
        self.assertIn("KeyError: 'table'", str(error))

    def test_end_and_mistakes(self):
        class Short(Lag):
            def step(self, t, h):
                if t >= 1:
                    self.end()

        result = yoke.run(LAG, units={"my.lag": Short})
        self.assertEqual(result.status, yoke.Status.ENDED)
        self.assertAlmostEqual(result.time[-1], 1.01)

        class Forgetful(Lag):
            def start(self, t):
                self.count = 0

        with yoke.System(LAG, units={"my.lag": Forgetful}) as system:
            system.step()
            with self.assertRaisesRegex(yoke.Error, "'count' is not declared"):
                system.save()

        class Clash(Lag):
            inputs = ["step"]

        with self.assertRaisesRegex(ValueError, "'step' cannot be the name"):
            yoke.run(LAG, units={"my.lag": Clash})
        error = self.fails(yoke.Status.BAD_ARG, yoke.run, LAG, units={"sine": Lag})
        self.assertIn("sine", str(error))

    def test_open_input(self):
        text = LAG.replace("connections: [source.y -> lag.u]", "")
        error = self.fails(yoke.Status.BAD_INPUT, yoke.run, text, units={"my.lag": Lag})
        self.assertIn("lag.u", str(error))

    def test_threads(self):
        text = LAG.replace("step: 0.01}", "step: 0.01}\nthreads: 2").replace(
            "connections:", "  lag2: {model: my.lag}\nconnections:").replace("lag.u]", "lag.u, source.y -> lag2.u]")
        result = yoke.run(text, units={"my.lag": Lag})
        self.assertTrue(same(result["lag.y"], yoke.run(LAG, units={"my.lag": Lag})["lag.y"]))

    def test_shared_library(self):
        # the same lag in C, examples/own_library.c
        got = yoke.run(LAG, libraries=[os.environ["YOKE_TEST_LIBRARY"]])
        self.assertTrue(same(got["lag.y"], yoke.run(LAG, units={"my.lag": Lag})["lag.y"]))
        error = self.fails(yoke.Status.IO, yoke.run, LAG, libraries=[self.folder / "nowhere.so"])
        self.assertIn("nowhere.so", str(error))

    def test_unknown_status(self):
        error = self.fails(-77, yoke.run, LAG, libraries=[os.environ["YOKE_TEST_ODD_LIBRARY"]])
        self.assertEqual((error.unit, error.status.name, yoke.Status(-77)), ("lag", "UNKNOWN", -77))
        self.assertRaises(ValueError, yoke.Status, "x")


class Callbacks(Case):
    """What a system calls may not move it; what they raise comes out once, and as itself."""

    def refused(self, system):
        """Everything that answers BUSY from inside a call; returns how many did."""
        calls = [system.start, system.step, lambda: system.step(3), lambda: system.run_to(5), system.run, system.save,
                 lambda: system.checkpoint(self.folder / "x"), lambda: system.resume(self.folder / "x"), system.record,
                 system.close]
        calls += [system.stop_recording] if system._memory else []
        for call in calls:
            error = self.fails(yoke.Status.BUSY, call)
            self.assertIn("in the middle of another call", str(error))
            self.assertIsNone(error.__cause__)
        return len(calls)

    def test_busy(self):
        seen, systems = {}, []

        class Meddler(Lag):
            def start(unit, t):
                self.meddle(systems, seen, "start")

            def step(unit, t, h):
                self.meddle(systems, seen, "step")
                Lag.step(unit, t, h)

            def terminate(unit):
                self.meddle(systems, seen, "terminate")

        def progress(p):
            self.meddle(systems, seen, "progress")
            seen["T"] = systems[0]["lag.T"]

        with yoke.System(LAG.replace("stop: 5", "stop: 1e9"), units={"my.lag": Meddler}) as system:
            systems.append(system)
            threading.Timer(0.4, system.cancel).start()
            result = system.run(progress=progress)
            self.assertEqual(result.status, yoke.Status.INTERRUPTED)
            self.assertGreater(result.n_rows, 1)
            self.assertEqual(seen["T"], 0.5)
            system.step()  # at rest nothing is refused
        systems.clear()
        self.assertEqual({k: v for k, v in seen.items() if k != "T"},
                         {"start": 10, "step": 11, "progress": 11, "terminate": 10})

    def meddle(self, systems, seen, place):
        if systems and place not in seen:
            seen[place] = 0
            try:
                seen[place] = self.refused(systems[0])
            except Exception as exception:
                seen[place] = repr(exception)

    def test_cause_is_of_this_call(self):
        class Faulty(Lag):
            faults = [ZeroDivisionError("first")]

            def step(self, t, h):
                if self.faults:
                    raise self.faults.pop()
                self.y = math.inf if t > 0.5 else 0.0

        with yoke.System(LAG, units={"my.lag": Faulty}) as system:
            state = system.save()
            error = self.fails(yoke.Status.UNIT_FAILED, system.step)
            self.assertIsInstance(error.__cause__, ZeroDivisionError)
            self.assertIsNone(self.fails(yoke.Status.NO_SUCH_NAME, system.handle, "lag.z").__cause__)
            system.restore(state)
            error = self.fails(yoke.Status.DIVERGED, system.run_to, 5)
            self.assertIsNone(error.__cause__)
            self.assertNotIn("ZeroDivisionError", str(error))

    def test_interrupts_of_units(self):
        for interrupt in (KeyboardInterrupt, SystemExit):
            class Leaves(Lag):
                def step(self, t, h):
                    if t > 0.5:
                        raise interrupt("enough")

            for call in (yoke.System.run, lambda s: s.run_to(3), lambda s: s.step(100),
                         lambda s: [s.step() for _ in range(100)]):
                with self.assertRaisesRegex(interrupt, "enough"), yoke.System(LAG, units={"my.lag": Leaves}) as system:
                    call(system)

            def leave(p):
                raise interrupt("enough")

            with self.assertRaisesRegex(interrupt, "enough"):
                yoke.run(LAG.replace("stop: 5", "stop: 1e9"), units={"my.lag": Lag}, progress=leave)

    def test_terminate(self):
        class Ends(Lag):
            reason = ValueError("at the end")

            def terminate(self):
                raise self.reason

        with self.assertLogs("yoke", logging.WARNING) as logs:
            with yoke.System(LAG, units={"my.lag": Ends}) as system:
                system.step()
        line = Ends.terminate.__code__.co_firstlineno + 1
        self.assertIn(f"{__file__}:{line}: warning: unit 'lag': terminate failed: ValueError: at the end", logs.output[0])
        self.assertEqual([m.severity for m in system.messages], ["warning"])
        Ends.reason = KeyboardInterrupt("now")
        with self.assertLogs("yoke", logging.WARNING), self.assertRaisesRegex(KeyboardInterrupt, "now"):
            yoke.run(LAG, units={"my.lag": Ends})

    def test_outputs_that_do_not_fit(self):
        class Wrong(yoke.Unit):
            inputs = ["u"]
            outputs = {"on": False, "word": "", "n": yoke.Value(0, type="integer")}
            given = {}

            def step(self, t, h):
                self.__dict__.update(self.given)

        text = LAG.replace(", with: {T: 0.5}", "")
        for given, words in (({"on": 7}, "on is of type boolean, found 7"), ({"on": "no"}, "on is of type boolean"),
                             ({"word": "x" * 256}, "word has room for 255 bytes without NUL, found 256"),
                             ({"word": 3}, "word is of type string, found 3"), ({"n": 1.5}, "n is of type integer, found 1.5")):
            Wrong.given = given
            with self.subTest(given):
                error = self.fails(yoke.Status.UNIT_FAILED, yoke.run, text, units={"my.lag": Wrong})
                self.assertIn(words, str(error))
        Wrong.given = {"on": 1, "word": "x" * 255, "n": True}
        result = yoke.run(text, units={"my.lag": Wrong})
        self.assertEqual((result["lag.on"][-1], result["lag.word"][-1], result["lag.n"][-1]), (1, "x" * 255, 1))


class Arguments(Case):
    """Wrong arguments are TypeError or ValueError with words about them."""

    def check(self, kind, words, call, *arguments, **named):
        with self.subTest(words), self.assertRaisesRegex(kind, words):
            call(*arguments, **named)

    def test_system(self):
        check = self.check
        check(TypeError, "path is of type str", yoke.System, None)
        check(TypeError, "path is of type str", yoke.System, 3)
        check(TypeError, "set is of type Mapping, found 'time.step=1'", yoke.System, JACOBI, set="time.step=1")
        check(TypeError, "units is of type Mapping", yoke.System, LAG, units=[Lag])
        check(TypeError, "derived from yoke.Unit, found <", yoke.System, LAG, units={"my.lag": Lag()})
        check(TypeError, "derived from yoke.Unit, found 3", yoke.System, LAG, units={"my.lag": 3})
        check(TypeError, "the name of a unit is of type str", yoke.System, LAG, units={3: Lag})
        self.assertIn("nowhere.so", str(self.fails(yoke.Status.IO, yoke.System, LAG, libraries="nowhere.so")))
        with yoke.System(JACOBI) as system:
            check(TypeError, "the number of steps is an int, found 1.5", system.step, 1.5)
            check(TypeError, "the number of steps is an int, found 'a'", system.step, "a")
            check(ValueError, "at least 0, found -1", system.step, -1)
            system.step(0)
            self.assertEqual(system.time, 0)
            check(TypeError, "t is of type int or float, found 'x'", system.run_to, "x")
            self.fails(yoke.Status.BAD_ARG, system.run_to, math.nan)
            check(TypeError, "the name of a variable is of type str, found 3", system.__getitem__, 3)
            check(TypeError, "state is of type State", system.restore, b"bytes")
            check(TypeError, "format is of type str", system.record, format=3)
            check(TypeError, "progress is a function, found 3", system.run, progress=3)
            check(TypeError, "left.kc is of type real, found None", system.__setitem__, "left.kc", None)
            check(TypeError, "left.kc is of type real, found \\[1", system.__setitem__, "left.kc", [1, 2])
            self.fails(yoke.Status.BAD_ARG, system.checkpoint, "")
        with yoke.System(TYPED.read_text().replace("  - stage.count -> name.index", "#")) as system:
            check(TypeError, "name.index is of type integer, found 'a'", system.__setitem__, "name.index", "a")
            check(TypeError, "name.index is of type integer, found inf", system.__setitem__, "name.index", math.inf)
            check(ValueError, "name.index is of type integer, found 3689", system.__setitem__, "name.index", 2**65)
        check(TypeError, "vary is of type Mapping", yoke.sweep, JACOBI, vary=["a"], measure="ter")

    def test_units(self):
        def unit(**members):
            return {"my.lag": type("Made", (Lag,), members)}

        for kind, words, members in (
                (TypeError, "Made.inputs is of type list or tuple or dict, found 'u'", {"inputs": "u"}),
                (ValueError, "3 cannot be the name of a variable", {"outputs": [3]}),
                (ValueError, "the type of y is real, integer, boolean or string, found 'enum'",
                 {"outputs": {"y": yoke.Value(0, type="enum")}}),
                (TypeError, "y is of type real, found \\[\\]", {"outputs": {"y": []}}),
                (TypeError, "y is of type string, found 3", {"outputs": {"y": yoke.Value(3, type="string")}}),
                (TypeError, "dim of y is of type str, found 3", {"outputs": {"y": yoke.Value(0.0, 3)}}),
                (ValueError, r"Made.feedthrough lists \(output, input\), found \('y', 'w'\)",
                 {"feedthrough": [("y", "w")]})):
            self.check(kind, words, yoke.System, LAG, units=unit(**members))
        error = self.fails(yoke.Status.BAD_ARG, yoke.System, LAG, units=unit(outputs=["u"]))
        self.assertIn("the description of 'my.lag' is wrong: variable 'u' is there twice", str(error))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
