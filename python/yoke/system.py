"""A system that moves: step it, read and write its variables, save it and go back, record it."""
import contextlib
import ctypes
import json
import math
import operator
import os
import threading
import time
import weakref
from collections.abc import Mapping
from ctypes import byref, c_char_p, c_double, c_int64, c_void_p

try:  # the same functions without the enums of `signal`, which would cost 10 us per step
    from _signal import SIGINT, getsignal, signal as set_signal
except ImportError:
    from signal import SIGINT, getsignal, signal as set_signal

from . import _library
from ._library import Status, encode, expect, lib, text
from .message import Error, Message, Messages, log
from .result import MemorySink, Result, copy_numbers, numpy
from .unit import UnitTable
from .view import (Alarm, Bond, Flow, Limit, Progress, Signal, State, StepTimes, connection_view, coupling_view, pace_view, unit_view,
                   variable_view, view)


BAND_POINTS = 5001  # of a band over time, at most


def set_texts(settings):
    """{"time.step": 1e-3} -> [b"time.step=0.001"]: each value as YAML."""
    def plain(value):
        return value.tolist() if hasattr(value, "tolist") else str(value)

    expect("set", settings or {}, Mapping)
    return [f"{name}={json.dumps(value, ensure_ascii=False, default=plain)}".encode()
            for name, value in (settings or {}).items()]


class Handle:
    """A variable found once by name: `value` reads and writes it without looking the name up again.

    value is a float, int, bool, str or bytes; of an enumeration the name of the item; of an array a numpy array, or a
    list where numpy is not installed. Writing takes effect at the next exchange, before the next step.
    """
    __slots__ = ("name", "variable", "_system", "_simulation", "_handle", "_type", "_size", "_room", "_at")

    def __init__(self, system, name, handle, struct):
        self.name, self.variable = name, variable_view(struct, name)
        self._system, self._simulation, self._handle = system, system._simulation, handle
        self._type = struct.type
        self._size = {_library.STRING: struct.max_size, _library.BINARY: 8 + struct.max_size}.get(struct.type, 8)
        # a single real is read straight into a double that stays where it is
        is_plain = struct.type == _library.REAL and handle.n == 1
        self._room = c_double() if is_plain else ctypes.create_string_buffer(self._size * handle.n)
        self._at = byref(self._room) if is_plain else None

    @property
    def value(self):
        """The value at the present time."""
        if self._at is None:
            return self._read_value()
        status = lib.yoke_simulation_read(self._simulation, self._handle, self._at)
        if status < 0:
            self._system._fail(status, self.name)
        return self._room.value

    @value.setter
    def value(self, value):
        if self._at is not None:
            try:
                status = lib.yoke_simulation_write(self._simulation, self._handle, value)
            except ctypes.ArgumentError:  # neither float nor int: a number of numpy
                status = lib.yoke_simulation_write(self._simulation, self._handle, self._number(value, float))
        else:
            data = self._pack(value)
            status = lib.yoke_simulation_write_value(self._simulation, self._handle, data, len(data))
        if status < 0:
            self._system._fail(status, self.name)

    def _read_value(self):
        n, size = self._handle.n, self._size
        status = lib.yoke_simulation_read_value(self._simulation, self._handle, self._room, size * n)
        if status < 0:
            self._system._fail(status, self.name)
        raw, shape = self._room.raw, self.variable.shape
        values = [self._unpack(raw[i * size:(i + 1) * size]) for i in range(n)]
        if n == 1:
            return values[0]
        if numpy and self._type in (_library.REAL, _library.INTEGER, _library.BOOLEAN):
            return numpy.array(values).reshape(shape)
        return values if len(shape) == 1 else [values[i:i + shape[1]] for i in range(0, n, shape[1])]

    def _unpack(self, raw):
        if self._type == _library.REAL:
            return c_double.from_buffer_copy(raw).value
        if self._type == _library.STRING:
            return text(raw.split(b"\0", 1)[0])
        number = c_int64.from_buffer_copy(raw).value
        if self._type == _library.BINARY:
            return raw[8:8 + number]
        if self._type == _library.BOOLEAN:
            return bool(number)
        return self.variable.items[number] if self._type == _library.ENUMERATION else number

    def _number(self, value, kind):
        """A number as Python's own float or int; texts are no numbers."""
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{self.name} is of type {self.variable.type}, found {value!r}") from None
        if kind is int and (number != value or not -2**63 <= number < 2**63):
            raise ValueError(f"{self.name} is of type {self.variable.type}, found {value!r}")
        return number

    def _pack(self, value):
        flat = [value]
        if self._handle.n > 1:
            flat = value.ravel().tolist() if hasattr(value, "ravel") else flatten(value)
        if len(flat) != self._handle.n:
            raise ValueError(f"{self.name} has {self._handle.n} elements, found {len(flat)}")
        return b"".join(map(self._pack_one, flat))

    def _pack_one(self, value):
        if self._type == _library.REAL:
            return bytes(c_double(self._number(value, float)))
        if self._type in (_library.STRING, _library.BINARY):
            is_text = self._type == _library.STRING
            expect(self.name, value, *((str,) if is_text else (bytes, bytearray, memoryview)))
            data = value.encode() if is_text else bytes(value)
            if is_text and b"\0" in data:
                raise ValueError(f"{self.name} cannot hold a NUL, found {value!r}")
            head, room = (b"", self._size - 1) if is_text else (bytes(c_int64(len(data))), self._size - 8)
            if len(data) > room:
                raise ValueError(f"{self.name} has room for {room} bytes, found {len(data)}")
            return (head + data).ljust(self._size, b"\0")
        if self._type == _library.ENUMERATION and isinstance(value, str):
            if value not in self.variable.items:
                raise ValueError(f"{self.name} is one of {', '.join(self.variable.items)}; found {value!r}")
            value = self.variable.items.index(value)
        return bytes(c_int64(self._number(value, int)))

    def __repr__(self):
        return f"<Handle {self.name}>"


def flatten(value):
    """Nested lists as one list."""
    return [x for part in value for x in flatten(part)] if isinstance(value, (list, tuple)) else [value]


class KeepInterrupts:
    """While the library runs, Ctrl-C is kept and raised behind it: an exception cannot pass through a callback."""
    __slots__ = ("kept", "_handler")

    def __enter__(self):
        self.kept, self._handler = [], getsignal(SIGINT)
        if not callable(self._handler) or threading.current_thread() is not threading.main_thread():
            self._handler = None
        else:
            set_signal(SIGINT, self._keep)
        return self.kept

    def _keep(self, number, frame):
        try:
            self._handler(number, frame)
        except BaseException as exception:
            self.kept.append(exception)

    def __exit__(self, *_):
        if self._handler is not None:
            set_signal(SIGINT, self._handler)
        if self.kept:
            raise self.kept[0]


def destroy(simulation, system, registry, _keep):
    """Ends everything in the order in which it must end. _keep: what the library points to until then."""
    lib.yoke_simulation_destroy(byref(simulation))
    lib.yoke_system_destroy(byref(system))
    lib.yoke_registry_destroy(byref(registry))


class System:
    """A system, ready to be stepped.

    path        a system file (.yaml), an SSP, a netlist (.cir) or an FMU; or YAML text, a str of several lines
    set         settings that replace those of the file, as `yoke run --set`: {"time.step": 1e-3}
    units       models written in Python: {"my.lag": Lag}, see yoke.Unit
    libraries   shared libraries with units, coupling methods and result sinks: ["./my_unit.so"]

        with yoke.System("crane.yaml") as system:
            while not system.done:
                system["plant.u"] = 3.0         # takes effect before the next step
                system.step()
                print(system.time, system["arm.s"])

    Failures raise yoke.Error; arguments of a wrong type or value raise TypeError or ValueError. A system is used by one
    thread at a time; cancel() and writing a single number are allowed from any thread. What a system calls (progress, the
    methods of its units) may read outputs, write numbers and cancel; stepping, saving, recording or closing the same
    system from there is refused with Status.BUSY. progress may read everything.
    """

    def __init__(self, path, set=None, units=None, libraries=()):
        self.messages = Messages()
        self.status = Status.OK
        self.wall_s = 0.0
        self._simulation, self._system, registry = c_void_p(), c_void_p(), c_void_p()
        self._tables = [UnitTable(name, unit) for name, unit in expect("units", units or {}, Mapping).items()]
        libraries = [libraries] if isinstance(libraries, (str, bytes, os.PathLike)) else libraries
        self._handles, self._n_raised, self._memory, self._is_unjudged = {}, 0, None, False
        self._keep = [self.messages, self._tables]
        self._finalizer = weakref.finalize(self, destroy, self._simulation, self._system, registry, self._keep)
        self._step = lib.yoke_simulation_step
        sink = self.messages.pointer
        try:
            if self._tables or libraries:
                self._check(lib.yoke_registry_create(byref(registry)))
                for table in self._tables:
                    self._check(lib.yoke_registry_add_unit(registry, byref(table.ops), sink))
                for library in libraries:
                    self._check(lib.yoke_registry_load(registry, encode(library), sink))
            sets, out = set_texts(set), byref(self._system)
            settings = _library.LoadSettings(registry, (c_char_p * len(sets))(*sets), len(sets), sink)
            if isinstance(path, str) and "\n" in path:
                data = path.encode()
                self._check(lib.yoke_system_parse(data, len(data), b"<text>", byref(settings), out))
            else:
                path = encode(expect("path", path, str, bytes, os.PathLike))
                self._check(lib.yoke_system_load(path, byref(settings), out))
            self._check(lib.yoke_simulation_create(self._system, sink, byref(self._simulation)))
            self._info = self._get(lib.yoke_system_get_info, _library.SystemInfo, self._system)
        except BaseException:
            self.close()
            raise

    def start(self):
        """Initialises all units: the system stands at its start time. step() and run() do this by themselves."""
        self._check(lib.yoke_simulation_start(self._simulation))

    def close(self):
        """Ends recording and frees everything. `with` and the garbage collector do this too."""
        lib.yoke_simulation_destroy(byref(self._simulation))
        if self._simulation:  # it is in the middle of a call
            self._fail(Status.BUSY)
        self._finalizer()
        interrupt = self._take_exception()
        if interrupt is not None and not isinstance(interrupt, Exception):
            raise interrupt

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<System {self.name!r}: t = {self.time:g} s>" if self._finalizer.alive else "<System, closed>"

    # ---- moving on

    def step(self, n=1):
        """Makes n macro steps; fewer if a unit asks to end or a limit stops the run (see status)."""
        if n != 1:
            try:
                n = operator.index(n)
            except TypeError:
                raise TypeError(f"the number of steps is an int, found {n!r}") from None
            if n < 0:
                raise ValueError(f"the number of steps is at least 0, found {n}")
            self.run_to(self.time + (n - 0.5) * self.step_size)
        elif self._tables:
            with KeepInterrupts():
                self._moved(self._step(self._simulation))
        else:
            status = self._step(self._simulation)
            if status:
                self._moved(status)

    def run_to(self, t):
        """Makes macro steps until the time is not below t any more, or the run is over."""
        t = float(t if hasattr(t, "__float__") else expect("t", t, int, float))
        n = 64  # steps per call: doubled until a call takes 50 ms; Ctrl-C is noticed between two calls
        with KeepInterrupts() as kept:
            while not kept:
                begin = time.perf_counter()
                until = min(t, self.time + (n - 0.5) * self.step_size)
                self._moved(lib.yoke_simulation_run_to(self._simulation, until))
                if until == t or self.done or self.status == Status.INTERRUPTED:
                    break
                if time.perf_counter() - begin < 0.05:
                    n *= 2

    def run(self, out=None, format=None, progress=None, trust="file", pace=None):
        """Runs to the stop time, judges the run, and returns what was recorded as a Result.

        out: folder for files too (those that the system file asks for, else results.csv; and summary.json). format:
        "csv", "hdf5", "mat" or several with commas. progress: called about ten times a second with a yoke.Progress;
        the run ends if it returns False. A run that fails raises yoke.Error, with the rows until then in its `result`.

        trust: companions that compute the same system in another way, to see how far to trust the result:
        "file" (what the system file says, else "auto"), "auto", "both", "half", "cheap", or "none" or None. They know
        nothing of values that were written, and need a run from the start time. Ctrl-C while they are waited for, when
        the run itself is over, is no exception: the Result has no verdict (None) and all rows. Units written in Python
        are run once more only where "both", "half" or "cheap" asks for it, in new instances, after the run and not at
        the same time; what they share with one another is seen by all.

        pace: the clock releases the steps, so many simulated seconds per second; None: as the system file says; 0: as
        fast as it goes. `System.pace` then tells how the deadlines were kept.
        """
        if pace is not None and not expect("pace", pace, int, float) >= 0:
            raise ValueError(f"pace is a number of at least 0, found {pace!r}")
        companions = "none" if trust is None else expect("trust", trust, str)
        if companions not in _library.TRUST:
            raise ValueError(f"trust is one of {', '.join(_library.TRUST)}; found {trust!r}")
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is a function, found {progress!r}")
        if self._memory is None:
            self.record(out, format)
        elif out or format:
            raise ValueError("the system records already: give out and format to record()")

        def on_progress(_, struct):
            try:
                go_on = progress is None or progress(view(Progress, struct.contents)) is not False
                return go_on and not kept
            except BaseException as exception:
                kept.append(exception)
                return False

        info = _library.RunInfo()
        settings = _library.RunSettings(progress=_library.OnProgress(on_progress),
                                        trust=_library.TRUST.index(companions),
                                        pace=0 if pace is None else pace or -1)
        with KeepInterrupts() as kept:
            status = lib.yoke_simulation_run(self._simulation, byref(settings), byref(info))
            self.wall_s = info.wall_s
            if kept:
                self._end_run(settings)
        try:
            self._moved(status)
        except BaseException as error:  # a unit's KeyboardInterrupt too
            with contextlib.suppress(Error):
                error.result = self._end_run(settings)
            raise
        recorded = self._stop_recording()
        try:
            with KeepInterrupts() as kept:
                status = self._judge(settings)
        except KeyboardInterrupt:
            log.warning("interrupted while the run was judged: no verdict")
        except BaseException as error:
            error.result = self._result(recorded)
            raise
        if status < 0 and status != Status.INTERRUPTED:
            self._check(status)
        return self._result(recorded)

    def _end_run(self, settings):
        """What a run recorded that has failed or was interrupted; its companions end."""
        recorded = self._stop_recording()
        self._judge(settings)
        return self._result(recorded)

    def _judge(self, settings):
        """Waits for the companions; how their units fail is no failure of the system."""
        status = lib.yoke_simulation_judge(self._simulation, byref(settings))
        self._is_unjudged = status == Status.INTERRUPTED
        self._take_exception()
        return status

    def cancel(self):
        """Ends a run() or run_to() of another thread after its present macro step: status is then INTERRUPTED."""
        lib.yoke_simulation_cancel(self._simulation)

    @property
    def pace(self):
        """How the last paced run kept its deadlines, as a yoke.Pace; None: there was none."""
        info = self._get(lib.yoke_simulation_get_pace, _library.PaceInfo, self._simulation)
        return pace_view(info) if info.factor > 0 else None

    @property
    def state(self):
        """INIT, CALIBRATE, READY, RUN, STOPPING, SAFE or FAULT (docs/pace.md); may be asked from any thread."""
        return _library.RUN_STATES[lib.yoke_simulation_state(self._simulation)]

    def emergency_stop(self):
        """Stops a paced run from any thread: safe actions are done, the state is FAULT until reset_fault()."""
        lib.yoke_simulation_emergency_stop(self._simulation)

    def reset_fault(self):
        """Leaves FAULT."""
        self._check(lib.yoke_simulation_reset(self._simulation))

    @property
    def time(self):
        """The present simulation time [s]."""
        return lib.yoke_simulation_time(self._simulation)

    @property
    def done(self):
        """True at the stop time, and after a failure, an end or a stop."""
        return lib.yoke_simulation_is_done(self._simulation)

    @property
    def progress(self):
        """Where a run stands; may be asked from any thread."""
        return view(Progress, self._get(lib.yoke_simulation_get_progress, _library.Progress, self._simulation))

    def declare_discontinuity(self):
        """Signals have jumped for a reason the units do not know: extrapolation starts anew at the next exchange."""
        self._check(lib.yoke_simulation_declare_discontinuity(self._simulation))

    # ---- variables

    def handle(self, name):
        """The variable "unit.variable", or one element "unit.variable[i]", as a Handle."""
        known = self._handles.get(name)
        if known is None:
            expect("the name of a variable", name, str)
            handle = _library.Handle()
            self._check(lib.yoke_simulation_find(self._simulation, encode(name), byref(handle)), name)
            struct = lib.yoke_simulation_variable(self._simulation, handle).contents
            known = self._handles[name] = Handle(self, name, handle, struct)
        return known

    def __getitem__(self, name):
        return self.handle(name).value

    def __setitem__(self, name, value):
        self.handle(name).value = value

    # ---- going back

    def save(self):
        """The complete state between two steps, for restore()."""
        size = lib.yoke_simulation_image_size(self._simulation)
        if size == 0:
            statuses = [m.status for m in self.messages[self._n_raised:] if m.severity == "error"]
            self._fail(statuses[0] if statuses else Status.NO_SUPPORT)
        image = ctypes.create_string_buffer(size)
        self._check(lib.yoke_simulation_save(self._simulation, image, size))
        return State(self.time, image.raw)

    def restore(self, state):
        """Goes back to a saved state of this system; what follows repeats bit for bit."""
        expect("state", state, State)
        self._check(lib.yoke_simulation_restore(self._simulation, state.image, len(state.image)))
        self.status, self._is_unjudged = Status.OK, False

    def checkpoint(self, path):
        """Writes the state to a file from which another process may resume()."""
        self._check(lib.yoke_simulation_checkpoint(self._simulation, encode(path)))

    def resume(self, path):
        """Continues from a checkpoint of the same system with the same settings."""
        self._check(lib.yoke_simulation_resume(self._simulation, encode(path)))
        self.status, self._is_unjudged = Status.OK, False

    # ---- recording

    def record(self, out=None, format=None):
        """Begins to record: into memory, and into files of the folder `out` if it is given (formats as for run())."""
        formats = 0
        for name in expect("format", format, str).split(",") if format else ():
            if name not in _library.FORMATS:
                raise ValueError(f"format is csv, hdf5 or mat; found {name!r}")
            formats |= _library.FORMATS[name]
        memory = MemorySink()
        settings = _library.RecordSettings(encode(out), formats, memory.list, 1)
        self._check(lib.yoke_simulation_record(self._simulation, byref(settings)))
        self._keep.append(memory)
        self._memory = memory

    def stop_recording(self):
        """Ends recording and returns what was recorded as a Result."""
        return self._result(self._stop_recording())

    def _stop_recording(self):
        if self._memory is None:
            raise ValueError("nothing is recorded: call record() first")
        status = lib.yoke_simulation_record_stop(self._simulation, None)
        if status == Status.BUSY:
            self._fail(status)
        memory, self._memory = self._memory, None
        self._keep.remove(memory)
        self._check(status)
        return memory

    def _result(self, recorded):
        return Result(recorded.columns(), self._trust(), {b.name: b for b in self.bonds}, self.summary, self.messages,
                      self.status, self.wall_s)

    # ---- how far to trust it

    @property
    def verdict(self):
        """Of the last run(): "trustworthy", "doubtful", "wrong" or "not judged"; None if it was not judged to the end.
        Where single steps were made: what the energy ledger objects to so far, else "not judged"."""
        return self._trust()["verdict"]

    def _trust(self):
        """Verdict, reason, signals and bands, as Result wants them."""
        run, n = _library.RunTrust(), ctypes.c_size_t()
        if lib.yoke_simulation_get_trust(self._simulation, byref(run)) < 0:
            bond = _library.BondTrust()
            lib.yoke_simulation_get_bond(self._simulation, self._info.n_bonds, byref(bond))
            word = text(lib.yoke_verdict_text(bond.verdict))
            return {"verdict": None if self._is_unjudged else word if word in ("doubtful", "wrong") else "not judged"}
        signals, bands = {}, {}
        for i in range(run.n_signals):
            s = self._get(lib.yoke_simulation_get_signal, _library.SignalTrust, self._simulation, i)
            name = text(s.name)
            signals[name] = view(Signal, s, verdict=text(lib.yoke_verdict_text(s.verdict)), wanted=s.is_wanted,
                                 estimated=s.is_estimated)
            times, course = (c_double * BAND_POINTS)(), (c_double * BAND_POINTS)()
            if lib.yoke_simulation_get_band(self._simulation, i, times, course, BAND_POINTS, byref(n)) >= 0:
                bands[name] = copy_numbers(times, n.value), copy_numbers(course, n.value)
        return {"verdict": text(lib.yoke_verdict_text(run.verdict)), "reason": text(run.reason),
                "left_out": text(run.left_out), "signals": signals, "bands": bands}

    @property
    def flows(self):
        """Connections that carry a flow to a slower unit: what was sent and what arrived up to now."""
        flows, f = [], _library.FlowTrust()
        while lib.yoke_simulation_get_flow(self._simulation, len(flows), byref(f)) >= 0:
            flows.append(view(Flow, f, source=text(getattr(f, "from")), target=text(f.to),
                              verdict=text(lib.yoke_verdict_text(f.verdict))))
        return flows

    @property
    def bonds(self):
        """The bonds, each with its energy ledger up to now."""
        units = self._list(lib.yoke_system_get_unit, _library.UnitView, self._info.n_units)
        bonds = []
        for i, b in enumerate(self._list(lib.yoke_system_get_bond, _library.BondView, self._info.n_bonds)):
            trust = _library.BondTrust(reason=b"", explanation=b"")
            if lib.yoke_simulation_get_bond(self._simulation, i, byref(trust)) < 0:  # not started yet
                for name, kind in trust._fields_:
                    setattr(trust, name, math.nan if kind is c_double else getattr(trust, name))
            bonds.append(view(Bond, b, trust, verdict=text(lib.yoke_verdict_text(trust.verdict)),
                              action_unit=text(units[b.action_unit].name), rate_unit=text(units[b.rate_unit].name)))
        return bonds

    @property
    def alarms(self):
        """Quality limits that were exceeded, in the order in which they began."""
        bonds = self._list(lib.yoke_system_get_bond, _library.BondView, self._info.n_bonds)
        alarms, a = [], _library.AlarmView()
        while lib.yoke_simulation_get_alarm(self._simulation, len(alarms), byref(a)) >= 0:
            alarms.append(view(Alarm, a, bond=text(bonds[a.bond].name), since=getattr(a, "from"), until=a.to))
        return alarms

    @property
    def limits(self):
        """Limits of signals that the file gives (`quality`), exceeded or not."""
        limits, a = [], _library.LimitView()
        while lib.yoke_simulation_get_limit(self._simulation, len(limits), byref(a)) >= 0:
            limits.append(view(Limit, a))
        return limits

    @property
    def step_times(self):
        """Computing time of the macro steps so far."""
        return view(StepTimes, self._get(lib.yoke_simulation_get_step_times, _library.StepTimes, self._simulation))

    @property
    def summary(self):
        """How the run went so far, as a dict; `yoke run` writes the same to summary.json."""
        return self._json(lib.yoke_simulation_summary, self._simulation)

    # ---- what is in it

    name = property(lambda self: text(self._info.name), doc="Name of the system.")
    t_start = property(lambda self: self._info.t_start, doc="Start time [s].")
    t_stop = property(lambda self: self._info.t_stop, doc="Stop time [s], as whole steps reach it.")
    step_size = property(lambda self: self._info.step, doc="Macro step [s].")
    scheme = property(lambda self: text(self._info.scheme), doc='"jacobi", "gauss-seidel", "iterative-jacobi", ...')

    @property
    def units(self):
        """Units and laws, each with its variables."""
        return [unit_view(u) for u in self._list(lib.yoke_system_get_unit, _library.UnitView, self._info.n_units)]

    @property
    def variables(self):
        """All variables of all units, with their full names."""
        return [v for unit in self.units for v in unit.variables]

    @property
    def connections(self):
        """All connections, those of bonds included."""
        units = self.units
        return [connection_view(c, units) for c in self._list(
            lib.yoke_system_get_connection, _library.ConnectionView, self._info.n_connections)]

    @property
    def couplings(self):
        """The coupling methods at work, with settings and health figures."""
        couplings = []
        for i, c in enumerate(self._list(lib.yoke_system_get_coupling, _library.CouplingView, self._info.n_couplings)):
            health = (c_double * c.ops.contents.n_health)()
            has_health = lib.yoke_simulation_get_health(self._simulation, i, health, len(health)) >= 0
            couplings.append(coupling_view(c, health if has_health else ()))
        return couplings

    def describe(self):
        """The resolved system as a dict, as `yoke check --json` prints it."""
        return self._json(lib.yoke_system_describe, self._system)

    # ---- calls

    def _check(self, status, variable=None):
        return status if status >= 0 else self._fail(status, variable)

    def _take_exception(self):
        """What a unit raised since the last failed call, once."""
        raised = [table.exception for table in self._tables if table.exception is not None]
        for table in self._tables:
            table.exception = None
        return raised[0] if raised else None

    def _fail(self, status, variable=None):
        """Raises the error of a failed call, with what the library has sent since the last one."""
        if not self._finalizer.alive:
            raise ValueError("the system is closed")
        cause = None if status == Status.BUSY else self._take_exception()
        if cause is not None and not isinstance(cause, Exception):
            raise cause  # KeyboardInterrupt, SystemExit: they are no failures of the unit
        new = self.messages[self._n_raised:]
        self._n_raised = len(self.messages)
        if not any(m.severity == "error" for m in new):
            failure = lib.yoke_simulation_failure(self._simulation) if variable is None else None
            new.append(Message.of_struct(failure.contents) if failure else Message.plain(status, variable))
        raise Error(status, new) from cause

    def _moved(self, status):
        self.status = Status(status)
        if status != Status.INTERRUPTED:  # cancelled: no failure
            self._check(status)

    def _get(self, function, kind, *arguments):
        """A struct that a function fills."""
        struct = kind()
        self._check(function(*arguments, byref(struct)))
        return struct

    def _list(self, function, kind, n):
        return [self._get(function, kind, self._system, i) for i in range(n)]

    def _json(self, function, pointer):
        """The document that a function makes."""
        made = c_void_p()
        self._check(function(pointer, byref(made)))
        document = json.loads(ctypes.string_at(made.value))
        lib.yoke_text_free(byref(made))
        return document


def run(path, set=None, out=None, format=None, progress=None, units=None, libraries=(), trust="file", pace=None):
    """Runs a system to its stop time and returns a Result: named columns, verdicts, error bands, summary, messages.

    >>> result = yoke.run("crane.yaml", set={"time.step": 1e-3})        # doctest: +SKIP
    >>> result["arm.s"], result.verdict                                 # doctest: +SKIP

    path, set, units and libraries are those of yoke.System; out, format, progress, trust and pace those of System.run.
    """
    with System(path, set, units, libraries) as system:
        return system.run(out, format, progress, trust, pace)

