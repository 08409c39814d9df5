"""Units written in Python, and the table of operations through which the library calls them."""
import ctypes
import itertools
import math
import struct
import traceback
from dataclasses import dataclass

from . import _library
from ._library import Status, expect, text

_STRING_SIZE = 256  # bytes of a text variable, NUL included
_STARTS = {"real": 0.0, "integer": 0, "boolean": False, "string": ""}  # types of variables and their start values


@dataclass(frozen=True)
class Value:
    """A variable of a unit with more than a start value: Value(0.0, "N", "force of the spring").

    start: None for an input that must be connected; dim: physical unit; text: one line for people; type: "real",
    "integer", "boolean" or "string" where the start value does not show it (numbers are real).
    """
    start: object = None
    dim: str = ""
    text: str = ""
    type: str = ""


class Unit:
    """Base class of a unit written in Python. Give its class to System or run: units={"my.lag": Lag}.

        class Lag(yoke.Unit):
            inputs = ["u"]                      # must be connected; {"u": 0.0} may stay open
            outputs = {"y": 0.0}                # name and start value
            parameters = {"T": yoke.Value(1.0, "s", "time constant")}

            def step(self, t, h):
                self.y += h * (self.u - self.y) / self.T

    Variables are attributes. inputs, outputs, parameters (fixed at the start), tunables (may change at any time) and
    states are lists of names or dicts {name: start value or yoke.Value}. Numbers are real; True and False make a
    boolean, a str makes a text. `name` is the unit's name in the system, `directory` the folder of the system file.

    An exception in one of the methods ends the run with yoke.Error, which names the unit, the time, and the line;
    KeyboardInterrupt and SystemExit come out of run() and step() as they are. One in terminate is a warning of the system.
    A boolean output that is neither True nor False (0, 1) and a text of more than 255 bytes are such exceptions.
    save() and restore() of the system carry the declared variables. Another attribute that changes must be declared in
    `states`; one that stays constant begins with an underscore.
    """
    inputs = outputs = parameters = tunables = states = ()
    feedthrough = None
    name = directory = ""

    def start(self, t):
        """Called once before the first step: parameters and start values are set, inputs are not yet."""

    def step(self, t, h):
        """Advances from t to t + h [s] with the inputs as they are."""
        raise NotImplementedError("a unit needs a method step(self, t, h)")

    def output(self, t):
        """Computes the outputs from states and inputs at t. Only for outputs that follow an input at once (direct
        feedthrough); `feedthrough = [("y", "u")]` lists which output follows which input, without it all do."""

    def terminate(self):
        """Called once at the end."""

    def end(self):
        """Asks to end the run after this step."""
        self._end = True


def _declared(unit, kind):
    """(name, Value) of each variable of one kind."""
    group = expect(f"{unit.__name__}.{kind}", getattr(unit, kind), list, tuple, dict)
    for name in group:
        if not isinstance(name, str) or hasattr(Unit, name) or not name.isidentifier():
            raise ValueError(f"{unit.__name__}.{kind}: {name!r} cannot be the name of a variable")
        value = group[name] if isinstance(group, dict) else Value()
        yield name, value if isinstance(value, Value) else Value(value)


def _type_of(value, name):
    if value.type:
        if value.type not in _STARTS:
            raise ValueError(f"the type of {name} is real, integer, boolean or string, found {value.type!r}")
        return _library.TYPES.index(value.type)
    return {bool: _library.BOOLEAN, str: _library.STRING}.get(type(value.start), _library.REAL)


class UnitTable:
    """The operations of one Python class. ops is what the registry gets; exception is what a unit raised last."""

    def __init__(self, name, unit):
        expect("the name of a unit", name, str)
        if not isinstance(unit, type) or not issubclass(unit, Unit):
            raise TypeError(f"the unit {name!r} is a class derived from yoke.Unit, found {unit!r}")
        self.unit, self.exception = unit, None
        self._instances, self._keys = {}, itertools.count(1)
        self._variables, self._starts = [], {}  # (name, type); start values
        kinds = {"inputs": 0, "outputs": 1, "parameters": 2, "tunables": 3, "states": 4}
        structs, reals = [], {0: [], 1: []}
        for kind, causality in kinds.items():
            for variable, value in _declared(unit, kind):
                type_ = _type_of(value, variable)
                start = _STARTS[_library.TYPES[type_]] if value.start is None else value.start
                _pack(variable, start, type_)  # refuses what does not fit
                structs.append(self._struct(variable, value, type_, causality))
                self._variables.append((variable, type_))
                self._starts[variable] = start
                if type_ == _library.REAL and causality in reals:
                    reals[causality].append(variable)
        self._u, self._y = reals[0], reals[1]
        self._has_output = unit.output is not Unit.output
        self._variable_list = (_library.Variable * len(structs))(*structs)
        pairs = self._pairs()
        self._pair_list = (_library.Feedthrough * len(pairs))(*pairs)
        size = sum(_STRING_SIZE if type_ == _library.STRING else 8 for _, type_ in self._variables)
        self._info = _library.UnitInfo(self._variable_list, len(structs), self._pair_list, len(pairs), _library.PORTABLE,
                                      image_size=size)
        self.ops = _library.UnitOps(ctypes.sizeof(_library.UnitOps), _library.CONTRACT_VERSION, name.encode(),
                                    ((unit.__doc__ or "").strip().split("\n")[0] or "a unit in Python").encode())
        self.ops.info = ctypes.pointer(self._info)
        fields = dict(_library.UnitOps._fields_)
        for operation in ("create", "set", "get", "enter_init", "set_inputs", "get_outputs", "step", "advance",
                          "refresh", "save", "restore", "reason", "report", "terminate", "close"):
            setattr(self.ops, operation, fields[operation](getattr(self, "_" + operation)))

    @staticmethod
    def _struct(name, value, type_, causality):
        dim, words = expect(f"dim of {name}", value.dim, str), expect(f"text of {name}", value.text, str)
        made = _library.Variable(name.encode(), dim.encode(), words.encode(), type_, causality,
                                 offset=_library.NO_OFFSET)
        if value.start is not None and causality < 2:
            made.flags = _library.HAS_START
        if type_ == _library.STRING:
            made.start_text, made.max_size = (value.start or "").encode(), _STRING_SIZE
        else:
            made.start = value.start or 0
        return made

    def _pairs(self):
        """Direct feedthrough as indices (output, input)."""
        index = {name: i for i, (name, _) in enumerate(self._variables)}
        named = self.unit.feedthrough
        if named is None:
            named = [(y, u) for y in self.unit.outputs for u in self.unit.inputs] if self._has_output else []
        for pair in named:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or any(name not in index for name in pair):
                raise ValueError(f"{self.unit.__name__}.feedthrough lists (output, input), found {pair!r}")
        return [(index[y], index[u]) for y, u in named]

    # ---- operations; an exception becomes a status, and `reason` sends it as a message

    def _guard(self, unit, action, *arguments):
        try:
            action(unit, *arguments)
            return Status.OK
        except BaseException as exception:  # Ctrl-C too: nothing passes through the library
            self.exception = unit._exception = exception
            return Status.UNIT_FAILED

    def _create(self, args, own, sink):
        try:
            unit = self.unit()
        except BaseException as exception:
            self.exception = exception
            self._send(sink, exception)
            return Status.UNIT_FAILED
        unit.__dict__.update(self._starts)
        unit.name, unit.directory = text(args[0].name), text(args[0].directory)
        unit._exception, unit._at_end, unit._end = None, None, False
        own[0] = next(self._keys)
        self._instances[own[0]] = unit
        return Status.OK

    def _set(self, own, i, at, size):
        name, type_ = self._variables[i]
        return self._guard(self._instances[own], setattr, name, _unpack(ctypes.string_at(at, size), type_))

    def _get(self, own, i, at, size):
        def copy(unit):
            name, type_ = self._variables[i]
            ctypes.memmove(at, _pack(name, getattr(unit, name), type_), size)

        return self._guard(self._instances[own], copy)

    def _enter_init(self, own, t_start, _t_stop, sink):
        unit = self._instances[own]
        status = self._guard(unit, type(unit).start, t_start)
        if status < 0:
            self._reason(own, sink)
        return status

    def _set_inputs(self, own, u, _n):
        return self._guard(self._instances[own], self._copy_inputs, u)

    def _copy_inputs(self, unit, u):
        for i, name in enumerate(self._u):
            setattr(unit, name, u[i])

    def _get_outputs(self, own, y, _n):
        return self._guard(self._instances[own], self._copy_outputs, y)

    def _copy_outputs(self, unit, y):
        for i, name in enumerate(self._y):
            y[i] = getattr(unit, name)

    def _step(self, own, t, h, result):
        unit = self._instances[own]
        status = self._guard(unit, self._move, t, h)
        if unit._end:
            result[0].flags |= _library.END_WANTED
        return status

    def _move(self, unit, t, h):
        unit.step(t, h)
        if self._has_output:
            unit.output(t + h)

    def _advance(self, own, t, h, u, y, result):
        # the three of them in one call: calls into Python are dear
        unit = self._instances[own]
        try:
            i = 0
            for name in self._u:
                setattr(unit, name, u[i])
                i += 1
            unit.step(t, h)
            if self._has_output:
                unit.output(t + h)
            i = 0
            for name in self._y:
                y[i] = getattr(unit, name)
                i += 1
        except BaseException as exception:
            self.exception = unit._exception = exception
            return Status.UNIT_FAILED
        if unit._end:
            result[0].flags |= _library.END_WANTED
        return 0

    def _refresh(self, own, t):
        unit = self._instances[own]
        return self._guard(unit, type(unit).output, t) if self._has_output else Status.OK

    def _save(self, own, at, size):
        def copy(unit):
            for name in vars(unit):
                if name not in self._starts and not name.startswith("_") and name not in ("name", "directory"):
                    raise TypeError(f"attribute {name!r} is not declared, so that it cannot be saved: add it to "
                                    "`states`, or begin its name with _ if it stays constant")
            image = b"".join(_pack(name, getattr(unit, name), type_) for name, type_ in self._variables)
            ctypes.memmove(at, image, size)

        return self._guard(self._instances[own], copy)

    def _restore(self, own, image, size):
        def copy(unit):
            data, at = ctypes.string_at(image, size), 0
            for name, type_ in self._variables:
                n = _STRING_SIZE if type_ == _library.STRING else 8
                setattr(unit, name, _unpack(data[at:at + n], type_))
                at += n
            unit._end = False

        return self._guard(self._instances[own], copy)

    def _reason(self, own, sink):
        exception = self._instances[own]._exception
        if exception is not None:
            self._send(sink, exception)
            self._instances[own]._exception = None

    def _report(self, own, sink):
        unit = self._instances[own]
        if unit._at_end is not None:
            self._send(sink, unit._at_end, "warning", "terminate failed: ")
            unit._at_end = None

    def _send(self, sink, exception, severity="error", what=""):
        """The exception as a message: with the line of the unit's own file where it was raised."""
        frames = traceback.extract_tb(exception.__traceback__)
        file = getattr(getattr(self.unit.step, "__code__", None), "co_filename", None)
        place = ([f for f in frames if f.filename == file] or frames)[-1]
        try:
            words = "".join(traceback.format_exception_only(type(exception), exception)).strip()
        except Exception:  # one that cannot be shown
            words = type(exception).__name__
        status = Status.UNIT_FAILED if severity == "error" else Status.OK
        message = _library.Message(_library.SEVERITIES.index(severity), status, place.filename.encode(), place.lineno,
                                   0, None, None, math.nan, (what + words).encode("utf-8", "replace"), None)
        if sink and sink[0].receive:
            sink[0].receive(sink[0].to, ctypes.byref(message))

    def _terminate(self, own):
        unit = self._instances[own]
        try:
            unit.terminate()
        except BaseException as exception:
            self.exception = unit._at_end = exception

    def _close(self, own):
        self._instances.pop(own, None)


def _pack(name, value, type_):
    """A value as the library stores it."""
    try:
        if type_ == _library.REAL:
            return struct.pack("d", value)
        if type_ != _library.STRING:
            if type_ == _library.BOOLEAN and value not in (0, 1):
                raise ValueError
            return struct.pack("q", int(value) if type_ == _library.BOOLEAN else value)
        data = value.encode()
    except (AttributeError, TypeError, ValueError, struct.error):
        raise TypeError(f"{name} is of type {_library.TYPES[type_]}, found {value!r}") from None
    if len(data) >= _STRING_SIZE or b"\0" in data:
        raise ValueError(f"{name} has room for {_STRING_SIZE - 1} bytes without NUL, found {len(data)}")
    return data.ljust(_STRING_SIZE, b"\0")


def _unpack(data, type_):
    if type_ == _library.STRING:
        return text(data.split(b"\0", 1)[0])
    value = struct.unpack("d" if type_ == _library.REAL else "q", data)[0]
    return bool(value) if type_ == _library.BOOLEAN else value
