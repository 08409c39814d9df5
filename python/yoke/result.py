"""Results as named columns: of a run that just ended, of a file, of a sweep."""
import csv
import ctypes
import difflib
import json
import math
from collections.abc import Mapping
from pathlib import Path

from . import _library
from ._library import encode, lib, text
from .message import Messages
from .view import Signal

try:
    import numpy
except ImportError:  # plain lists then
    numpy = None


class Table(Mapping):
    """Named columns of equal length: table["name"] is a numpy array, or a list where numpy is not installed.

    Texts are lists of str. `names` are the columns in order; `rows()` goes through the table row by row.
    """

    def __init__(self, columns):
        self._columns = dict(columns)

    @property
    def names(self):
        """Names of the columns, in the order of the file."""
        return list(self._columns)

    def __getitem__(self, name):
        try:
            column = self._columns[name]
        except KeyError:
            near = difflib.get_close_matches(str(name), self._columns, 1)
            raise KeyError(f"there is no column {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")) from None
        if callable(column):  # read when it is wanted
            column = self._columns[name] = column()
        return column

    def __contains__(self, name):
        return name in self._columns

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self[next(iter(self._columns))]) if self._columns else 0

    def rows(self):
        """Goes through the rows, each as a dict."""
        for cells in zip(*(self[name] for name in self)):
            yield dict(zip(self._columns, cells))

    def __repr__(self):
        return f"<{type(self).__name__}: {len(self)} columns, {self.n_rows} rows>"


class Result(Table):
    """What a run recorded, and how far to trust it.

    result["left.x"]   one column; result.time is the time [s]; result.names lists all of them
    result.verdict     "trustworthy", "doubtful", "wrong" or "not judged"; None: interrupted before it was judged
    result.reason      why, in one sentence
    result.signals     every exchanged signal by name: verdict, reason, band_max, digits, ... (yoke.Signal)
    result.band("arm.s")   how far it may be off over time: (times, bands), in the signal's unit
    result.left_out    companions that were left out and how to have them; "" if none
    result.flows       what connections to slower units sent and delivered, as summary.json has it: from, to, sent, ...
    result.bonds       the energy ledger of each bond by name: verdict, reason, explanation, created, eps, ...
    result.summary     the run as a dict, as `yoke run` writes it to summary.json
    result.messages    notes and warnings
    result.status      Status.OK, ENDED (a unit asked to end), STOPPED (a limit) or INTERRUPTED
    result.wall_s      computing time [s]

    A result read from files has columns, and what summary.json says of it: verdict, reason, signals and bands (at most
    201 points of each); no bonds and no messages.
    """

    def __init__(self, columns, trust=None, bonds=None, summary=None, messages=(), status=None, wall_s=math.nan):
        super().__init__(columns)
        trust = trust or {}
        self.verdict, self.reason = trust.get("verdict"), trust.get("reason", "")
        self.left_out, self.signals = trust.get("left_out", ""), trust.get("signals", {})
        self._bands = trust.get("bands", {})
        self.bonds, self.summary = bonds or {}, summary
        self.messages, self.status, self.wall_s = list(messages), status, wall_s

    @property
    def flows(self):
        """Flows to slower units, a dict each: from, to, unit, averaged, sent, arrived, balance, verdict."""
        return (self.summary or {}).get("flows", [])

    def band(self, name):
        """How far a signal may be off over time: (times [s], bands), at the exchanges. KeyError where it has no band."""
        if name not in self._bands:
            near = difflib.get_close_matches(str(name), self._bands, 1)
            raise KeyError(f"{name!r} has no band" + (f"; did you mean {near[0]!r}?" if near else "")) from None
        return self._bands[name]

    @property
    def time(self):
        """Time of each row [s]."""
        return self["time"]

    def plot(self, *names, ax=None, **options):
        """Draws columns over time with matplotlib and returns the axes.

        result.plot("left.x", "right.x"); without a name all columns are drawn. Where a signal has a band, the shaded
        area shows how far it may be off. ax: axes to draw into; other options go to matplotlib's plot().
        """
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plot() needs matplotlib (Debian package python3-matplotlib)") from None
        ax = ax or pyplot.subplots()[1]
        for name in names or [n for n in self if n != "time"]:
            line = ax.plot(self.time, self[name], label=name, **options)[0]
            if name in self._bands:
                self._shade(ax, name, line.get_color())
        ax.set_xlabel("time [s]")
        ax.legend()
        return ax

    def _shade(self, ax, name, color):
        """The band round a curve, at the curve's points."""
        times, bands = self._bands[name]
        column = self[name]
        low, high, at = [], [], 0
        for t, y in zip(self.time, column):
            while at + 1 < len(times) and times[at + 1] <= t:
                at += 1
            # between two points the larger of both
            band = max(bands[at], bands[min(at + 1, len(bands) - 1)]) if times[at] < t else bands[at]
            low.append(y - band)
            high.append(y + band)
        ax.fill_between(self.time, low, high, color=color, alpha=0.2, linewidth=0)


def read_cells(path):
    """Cells of a CSV file as texts: {name: [cell, ...]}."""
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        head, *rows = csv.reader(file)
    return {name: [row[i] for row in rows] for i, name in enumerate(head)}


def read_table(path):
    """A CSV file as a Table: numbers where a column holds nothing else (empty cells are NaN), else texts."""
    columns = read_cells(path)
    for name, cells in columns.items():
        try:
            numbers = [float(cell) if cell else math.nan for cell in cells]
        except ValueError:
            continue
        if any(cells):
            columns[name] = numpy.array(numbers) if numpy else numbers
    return Table(columns)


def copy_numbers(pointer, n):
    """n doubles of the library as an array or list of our own."""
    if numpy is None or n == 0:
        return pointer[:n] if numpy is None else numpy.empty(0)
    return numpy.ctypeslib.as_array(pointer, (n,)).copy()


def read(path):
    """Reads a result: results.csv, results.h5, or a folder that holds one of them.

    >>> result = yoke.read("results/crane")         # doctest: +SKIP
    >>> result["arm.s"][-1]                         # doctest: +SKIP
    """
    path, messages, pointer, columns, texts = Path(path), Messages(), ctypes.c_void_p(), {}, []
    messages.check(lib.yoke_result_open(encode(path), messages.pointer, ctypes.byref(pointer)))
    try:
        for i in range(lib.yoke_result_n_columns(pointer)):
            column = _library.ResultColumn()
            messages.check(lib.yoke_result_get(pointer, i, ctypes.byref(column)))
            columns[text(column.name)] = copy_numbers(column.values, lib.yoke_result_n_rows(pointer))
            texts += [text(column.name)] if column.is_text else []
    finally:
        lib.yoke_result_close(ctypes.byref(pointer))
    folder = path if path.is_dir() else path.parent
    if texts:  # the library reads numbers only
        cells = read_cells(folder / "results.csv" if path.is_dir() else path)
        columns.update((name, cells[name]) for name in texts)
    summary = folder / "summary.json"
    summary = json.loads(summary.read_text()) if summary.is_file() else None
    return Result(columns, trust_of_summary(summary), summary=summary, messages=messages)


def numbers(values):
    """A list of numbers as a column; null is NaN."""
    plain = [math.nan if value is None else value for value in values]
    return numpy.array(plain, float) if numpy else plain


def trust_of_summary(summary):
    """What summary.json says of the trust in a run, as Result wants it; None: it was not judged."""
    trust = (summary or {}).get("trust")
    if trust is None:
        return None

    def number(signal, key):
        return math.nan if signal.get(key) is None else signal[key]

    signals, bands = {}, {}
    for s in trust["signals"]:
        figures = {key: number(s, key) for key in ("band", "band_max", "at_time", "low", "scale", "relative")}
        signals[s["name"]] = Signal(s["name"], s["unit"], s["verdict"], s["reason"], digits=s["digits"],
                                    wanted=s["wanted"], estimated=s.get("estimated", False), **figures)
        if "course" in s:
            bands[s["name"]] = numbers(s["course"]["t"]), numbers(s["course"]["band"])
    return {"verdict": trust["verdict"], "reason": trust["reason"], "left_out": trust["left_out"], "signals": signals,
            "bands": bands}


class MemorySink:
    """A result sink that keeps the recorded rows as bytes; columns() makes them into arrays.

    The writer's thread hands over large blocks, so that a run costs nothing extra per step.
    """

    def __init__(self):
        self._blocks, self._layout, self._stride = [], [], 0
        self.ops = _library.ResultOps(ctypes.sizeof(_library.ResultOps), _library.CONTRACT_VERSION, b"python",
                                      b"rows in memory of a Python program")
        # the table keeps references to its functions
        fields = dict(_library.ResultOps._fields_)
        for name in ("open", "write", "close"):
            setattr(self.ops, name, fields[name](getattr(self, "_" + name)))
        self.list = (ctypes.POINTER(_library.ResultOps) * 1)(ctypes.pointer(self.ops))

    def _open(self, _context, _directory, columns, n, own, _sink):
        at = 8
        for column in columns[:n]:
            self._layout.append((text(column.name), at, column.type, column.size))
            at += column.size
        own[0] = 1  # any pointer but NULL
        return 0

    def _write(self, _own, rows, n, stride, _sink):
        self._stride = stride
        self._blocks.append(ctypes.string_at(rows, n * stride))
        return 0

    def _close(self, _own, _sink):
        return 0

    def columns(self):
        """Name -> function that makes the column."""
        data = b"".join(self._blocks)
        self._blocks = [data]
        layout = [("time", 0, _library.REAL, 8)] + self._layout
        return {name: self._reader(data, at, type, size) for name, at, type, size in layout}

    def _reader(self, data, at, type, size):
        def read_column():
            stride = self._stride
            n = len(data) // stride if stride else 0
            if type == _library.STRING:
                cells = (data[i * stride + at:i * stride + at + size] for i in range(n))
                return [cell.split(b"\0", 1)[0].decode("utf-8", "replace") for cell in cells]
            code = "d" if type == _library.REAL else "q"
            if numpy:
                return numpy.ascontiguousarray(numpy.ndarray(n, code, data or bytes(8), at if n else 0, stride))
            return memoryview(data).cast(code)[at // 8::stride // 8].tolist() if n else []
        return read_column
