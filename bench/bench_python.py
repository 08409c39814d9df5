#!/usr/bin/env python3
"""What driving a system from Python costs: one macro step, one read, one write, a whole run, a step of a Python unit.

usage: bench_python.py [--gate]    --gate: status 1 if a macro step with a read costs as much as 12 bare calls of a C
function from Python; the aim is 5 us, but what a microsecond holds depends on the machine and on what else it does
"""
import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import yoke  # noqa: E402
from yoke import _library  # noqa: E402

JACOBI = ROOT / "scenarios/linear-oscillator/jacobi.yaml"
AIM_US = 5.0
LIMIT = 12.0  # in bare calls
N = 100_000
TEXT = """
yoke: 1
inputs: start
calls: 1
time: {stop: 1e6, step: 1e-3}
units:
  a: {model: sine}
  b: {model: py.gain}
connections: [a.y -> b.u]
"""


class Gain(yoke.Unit):
    """y = 2 u"""
    inputs = ["u"]
    outputs = ["y"]

    def step(self, t, h):
        self.y = 2 * self.u


def best(measure, repeats=5):
    """The shortest of several measurements: whatever else runs on the machine only adds time."""
    return min(measure() for _ in range(repeats))


def per_call_us(call, n=N, repeats=5):
    def measure():
        begin = time.perf_counter()
        for _ in range(n):
            call()
        return (time.perf_counter() - begin) / n * 1e6
    return best(measure, repeats)


def show(what, value, unit="us"):
    print(f"{what:58} {value:10.3f} {unit}")


def bare_call():
    """A C function with one argument, called as ctypes does it: the least that Python can do"""
    call = ctypes.CDLL(None).labs
    call.argtypes, call.restype = [ctypes.c_long], ctypes.c_long
    return lambda: call(-1)


def side_by_side_us(call, other, n=N // 10, repeats=50):
    """Both in turns, so that whatever else the machine does meets both; the shortest of each."""
    pairs = [(per_call_us(call, n, 1), per_call_us(other, n, 1)) for _ in range(repeats)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def steps():
    """Macro steps of two coupled units, bonds and ledger included."""
    with yoke.System(JACOBI, set={"time.stop": 1e6}) as system:
        step, x = system.step, system.handle("left.x")

        def drive():
            step()
            return x.value

        step()
        show("macro step", per_call_us(step))
        both, bare = side_by_side_us(drive, bare_call())
        show("macro step and read through a handle", both)
        show("bare call of a C function", bare)
        show("read through a handle", per_call_us(lambda: x.value))
        show("read by name", per_call_us(lambda: system["left.x"]))
        begin, n = time.perf_counter(), 20 * N
        system.step(n)
        show("the same step without Python (step(n))", (time.perf_counter() - begin) / n * 1e6)
    with yoke.System(TEXT, units={"py.gain": Gain}) as system:
        step = system.step
        step()
        show("macro step with a unit written in Python", per_call_us(step))
    return both, bare


def whole_run():
    """A run to the end, recorded: the command writes a CSV file, Python keeps the rows."""
    settings = {"time.stop": 2000, "record.every": 10}
    words = [f"--set={name}={value}" for name, value in settings.items()]
    with tempfile.TemporaryDirectory() as folder:
        command = [_library.find_program(), "run", str(JACOBI), *words, "--quiet", "--out", folder]

        def of_command():
            begin = time.perf_counter()
            subprocess.run(command, check=True)
            return time.perf_counter() - begin

        def of_python(**given):
            begin = time.perf_counter()
            yoke.run(JACOBI, set=settings, **given)["left.x"]
            return time.perf_counter() - begin

        show("run of 2e6 steps, 2e5 rows: yoke run", best(of_command, 3), "s")
        show("the same: yoke.run(..., out=folder)", best(lambda: of_python(out=folder), 3), "s")
        show("the same: yoke.run(...), in memory", best(of_python, 3), "s")


if __name__ == "__main__":
    cost, bare = steps()
    if "--gate" not in sys.argv:
        whole_run()
    print(f"{cost:.2f} us per macro step with a read (aim {AIM_US:g} us): {cost / bare:.1f} bare calls, limit {LIMIT:g}")
    sys.exit("--gate" in sys.argv and cost >= LIMIT * bare)
