"""Descriptions of models and files, and what the command `yoke` does for Python: sweeps over all cores."""
import ctypes
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import _library
from ._library import Status, encode, expect, find_program, lib
from .message import Error, Message, Messages
from .result import read_table
from .system import set_texts


def axis_text(values):
    """Values of an axis as the command writes them: (a, b, n[, "log"]) is a range, a list its values."""
    if isinstance(values, str):
        return values
    words = values.tolist() if hasattr(values, "tolist") else values
    texts = [w if isinstance(w, str) else json.dumps(w) for w in words]
    return (":" if isinstance(values, tuple) else ",").join(texts)


def run_command(*words):
    """Runs the command and returns what it printed; its messages become an exception."""
    ended = subprocess.run([find_program(), *map(str, words)], capture_output=True, text=True)
    if ended.returncode not in (0, 3):
        status = {2: Status.BAD_INPUT, 130: Status.INTERRUPTED}.get(ended.returncode, Status.UNIT_FAILED)
        text = ended.stderr.strip() or f"yoke {words[0]} ended with status {ended.returncode}"
        raise Error(status, [Message("error", status, None, None, None, None, None, None, text, None)])
    return ended.stdout


def document(messages, function, *arguments):
    """The JSON document that a function of the library makes, as a dict."""
    made = ctypes.c_void_p()
    messages.check(function(*arguments, ctypes.byref(made)))
    try:
        return json.loads(ctypes.string_at(made.value))
    finally:
        lib.yoke_text_free(ctypes.byref(made))


def describe(what=None, set=None):
    """What there is under a name, as a dict: the document that `yoke info --json` prints.

    what   a model ("gain"), a coupling method ("mpsm"), the path of an FMU, netlist, system, SSP or shared library;
           None: the names of all models and coupling methods
    set    {"time.step": 1e-3} for a system, {"rload": 2000} for a netlist

    >>> [v["name"] for v in yoke.describe("gain")["variables"] if v["causality"] == "input"]  # doctest: +SKIP
    ['u']
    """
    messages, sets = Messages(), set_texts(set)
    settings = _library.LoadSettings(None, (ctypes.c_char_p * len(sets))(*sets), len(sets), messages.pointer)
    return document(messages, lib.yoke_describe, encode(what), ctypes.byref(settings))


def sweep(path, vary, measure, set=None, limit=(), reference=None, jobs=None, out=None, options=()):
    """Runs a system at every point of a grid with `yoke sweep` and returns the table, one row per point.

    vary      {"time.step": (1e-4, 1e-2, 5, "log"), "scheme": ["jacobi", "gauss-seidel"]}; a tuple is a range
              (from, to, number[, "log"]), a list holds the values themselves
    measure   what is computed at each point: ["end:left.x", "ter"]; docs/sweep.md lists the measures
    limit     ["maxabs:right.v<=1000"]; reference: a result to compare with; jobs: runs at a time
    out       folder that keeps the table and the journal, so that the same call resumes; None: nothing is kept
    options   further words of the command line

    The columns are the axes, then "status", "t_reached", the measures and "reason".
    """
    command = ["sweep", path, "--quiet", *options]
    for name, values in expect("vary", vary, Mapping).items():
        command += ["--vary", f"{name}={axis_text(values)}"]
    for word in set_texts(set):
        command += ["--set", word.decode()]
    for option, words in (("--measure", [measure] if isinstance(measure, str) else measure), ("--limit", limit)):
        for word in words:
            command += [option, word]
    command += ["--reference", reference] if reference else []
    command += ["--jobs", jobs] if jobs else []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(out or Path(scratch) / "sweep")
        run_command(*command, "--out", folder)
        return read_table(folder / "sweep.csv")
