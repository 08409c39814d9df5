"""Finds libyoke and describes its public headers to ctypes: structs, tables of operations, prototypes.

The structs follow include/yoke/*.h field by field; test/python compares every offset with what the C compiler says.
"""
import ctypes
import ctypes.util
import enum
import os
import shutil
import sys
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)
from pathlib import Path

VERSION = "0.1.0"  # of the headers that this file follows
CONTRACT_VERSION = 1  # YOKE_CONTRACT_VERSION: of the tables of operations


class Status(enum.IntEnum):
    """How a call ended: 0 is success, positive is success with news, negative is failure."""
    OK = 0
    LATE = 1
    ENDED = 2
    STOPPED = 3
    BAD_ARG = -1
    NO_SUPPORT = -2
    DIVERGED = -3
    NO_MEMORY = -4
    BAD_INPUT = -5
    IO = -6
    UNIT_FAILED = -7
    NO_CONVERGENCE = -8
    SINGULAR = -9
    FULL = -10
    INTERRUPTED = -11
    DISCARDED = -12
    NO_SUCH_NAME = -13
    WRONG_TYPE = -14
    READ_ONLY = -15
    NOT_FINITE = -16
    BUSY = -17
    SHORTAGE = -18

    @classmethod
    def _missing_(cls, value):
        """A number that a unit or a coupling method made up: UNKNOWN, with its value."""
        if not isinstance(value, int):
            return None
        made = int.__new__(cls, value)
        made._name_, made._value_ = "UNKNOWN", value
        return made


# ---- structs: name in C, then the fields in order

STRUCTS = {}


def _struct(c_name, /, **fields):
    STRUCTS[c_name] = type(c_name, (Structure,), {"_fields_": list(fields.items())})
    return STRUCTS[c_name]


Message = _struct("yoke_message", severity=c_int, status=c_int, file=c_char_p, line=c_int, column=c_int,
                  unit=c_char_p, variable=c_char_p, time=c_double, text=c_char_p, hint=c_char_p)
Receive = CFUNCTYPE(None, c_void_p, POINTER(Message))
Sink = _struct("yoke_sink", receive=Receive, to=c_void_p)
SinkPointer = POINTER(Sink)

# unit.h
Variable = _struct("yoke_variable", name=c_char_p, dim=c_char_p, text=c_char_p, type=c_int, causality=c_int,
                   flags=c_uint32, n_rows=c_size_t, n_cols=c_size_t, start=c_double, start_text=c_char_p,
                   items=POINTER(c_char_p), item_values=POINTER(c_int64), max_size=c_size_t, offset=c_size_t)
Feedthrough = _struct("yoke_feedthrough", output=c_size_t, input=c_size_t)
UnitSolver = _struct("yoke_unit_solver", method=c_int, step=c_double, parts=c_size_t, choice=c_size_t,
                     methods=c_int * 8)
UnitInfo = _struct("yoke_unit_info", variables=POINTER(Variable), n_variables=c_size_t,
                   feedthrough=POINTER(Feedthrough), n_feedthrough=c_size_t, flags=c_uint32, cost_s=c_double,
                   self_size=c_size_t, image_size=c_size_t, solver=UnitSolver)
UnitArgs = _struct("yoke_unit_args", name=c_char_p, directory=c_char_p, arguments=c_void_p, n_arguments=c_size_t,
                   context=c_void_p)
StepResult = _struct("yoke_step_result", t_reached=c_double, flags=c_uint32, message=c_char_p)


def _call(*arguments):
    """An operation of a table: gets these arguments, returns a status."""
    return CFUNCTYPE(c_int, *arguments)


_reals = POINTER(c_double)
_result = POINTER(StepResult)
UnitOps = _struct(
    "yoke_unit_ops", table_size=c_size_t, table_version=c_uint32, name=c_char_p, text=c_char_p,
    structure=POINTER(Variable), n_structure=c_size_t, info=POINTER(UnitInfo),
    create=_call(POINTER(UnitArgs), POINTER(c_void_p), SinkPointer), describe=c_void_p,
    set=_call(c_void_p, c_size_t, c_void_p, c_size_t), get=_call(c_void_p, c_size_t, c_void_p, c_size_t),
    get_values=c_void_p, enter_init=_call(c_void_p, c_double, c_double, SinkPointer), exit_init=_call(c_void_p),
    set_inputs=_call(c_void_p, _reals, c_size_t), get_outputs=_call(c_void_p, _reals, c_size_t),
    set_input_derivatives=c_void_p,
    step=_call(c_void_p, c_double, c_double, _result),
    advance=_call(c_void_p, c_double, c_double, _reals, _reals, _result), refresh=_call(c_void_p, c_double),
    event_update=c_void_p, sample_info=c_void_p, save=_call(c_void_p, c_void_p, c_size_t),
    restore=_call(c_void_p, c_void_p, c_size_t), serialise=c_void_p, deserialise=c_void_p, derivative=c_void_p,
    linearise=c_void_p, rates=c_void_p, reason=CFUNCTYPE(None, c_void_p, SinkPointer), report=CFUNCTYPE(None, c_void_p, SinkPointer),
    terminate=CFUNCTYPE(None, c_void_p), close=CFUNCTYPE(None, c_void_p), context=c_void_p,
    choose_integrals=c_void_p, get_integrals=c_void_p, frames=c_void_p,
    set_input_info=c_void_p, choose_outputs=c_void_p, advance_values=c_void_p)

# coupling.h: only what a description shows; the operations behind lead_call are not described
CouplingParameter = _struct("yoke_coupling_parameter", name=c_char_p, text=c_char_p, start=c_double, min=c_double,
                            max=c_double, items=POINTER(c_char_p))
CouplingOps = _struct("yoke_coupling_ops", table_size=c_size_t, table_version=c_uint32, name=c_char_p, text=c_char_p,
                      flags=c_uint32, form=c_int, parameters=POINTER(CouplingParameter), n_parameters=c_size_t,
                      files=c_void_p, n_files=c_size_t, trace_names=POINTER(c_char_p), n_trace=c_size_t,
                      health_names=POINTER(c_char_p), n_health=c_size_t)

# result.h
ResultColumn = _struct("yoke_result_column", name=c_char_p, values=_reals, is_text=c_bool)
RecordColumn = _struct("yoke_record_column", name=c_char_p, dim=c_char_p, type=c_int, size=c_size_t,
                       items=POINTER(c_char_p))
ResultOps = _struct(
    "yoke_result_ops", table_size=c_size_t, table_version=c_uint32, name=c_char_p, text=c_char_p,
    open=_call(c_void_p, c_char_p, POINTER(RecordColumn), c_size_t, POINTER(c_void_p), SinkPointer),
    write=_call(c_void_p, c_void_p, c_size_t, c_size_t, SinkPointer), flush=c_void_p,
    close=_call(c_void_p, SinkPointer), context=c_void_p)
RecordSettings = _struct("yoke_record_settings", directory=c_char_p, formats=c_uint32,
                         sinks=POINTER(POINTER(ResultOps)), n_sinks=c_size_t, n_ring_rows=c_size_t, flush_ns=c_int64,
                         title=c_char_p)
RecordInfo = _struct("yoke_record_info", n_rows=c_uint64, n_lost=c_uint64, n_waits=c_uint64, n_ring_rows=c_size_t,
                     formats=c_uint32)

# system.h
LoadSettings = _struct("yoke_load_settings", registry=c_void_p, sets=POINTER(c_char_p), n_sets=c_size_t,
                       sink=SinkPointer, netlist_stop=c_double, has_short_names=c_bool, has_no_trials=c_bool,
                       only=c_char_p)
SystemInfo = _struct("yoke_system_info", name=c_char_p, path=c_char_p, text=c_char_p, t_start=c_double,
                     t_stop=c_double, step=c_double, scheme=c_char_p, exchange=c_char_p, n_threads=c_int,
                     formats=c_uint32, n_units=c_size_t, n_laws=c_size_t, n_connections=c_size_t, n_bonds=c_size_t,
                     n_couplings=c_size_t, n_columns=c_size_t, pace=c_double)
UnitView = _struct("yoke_unit_view", name=c_char_p, type=c_char_p, kind=c_int, is_law=c_bool, is_fresh=c_bool,
                   is_isolated=c_bool, step=c_double, thread=c_int, file=c_char_p, line=c_int, column=c_int,
                   info=POINTER(UnitInfo), n_calls=c_int64, has_auto_calls=c_bool, peer=c_char_p, is_paced=c_bool)
ConnectionView = _struct("yoke_connection_view", from_unit=c_size_t, from_variable=c_size_t, from_element=c_size_t,
                         to_unit=c_size_t, to_variable=c_size_t, to_element=c_size_t, n=c_size_t, gain=c_double,
                         offset=c_double, order=c_int, interval=c_double, delay=c_double, coupling=c_size_t,
                         is_from_bond=c_bool, is_averaged=c_bool)
BondView = _struct("yoke_bond_view", name=c_char_p, action_unit=c_size_t, rate_unit=c_size_t, n=c_size_t,
                   sign=c_double, interval=c_double, is_found=c_bool, is_heat=c_bool)
CouplingView = _struct("yoke_coupling_view", name=c_char_p, owner=c_char_p, ops=POINTER(CouplingOps),
                       parameters=_reals, files=POINTER(c_char_p))

# simulation.h, trust.h
Progress = _struct("yoke_progress", time=c_double, t_start=c_double, t_stop=c_double, share=c_double,
                   wall_s=c_double, bond=c_char_p, signal=c_char_p, relative=c_double)
OnProgress = CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
RunSettings = _struct("yoke_run_settings", record=POINTER(RecordSettings), progress=OnProgress, to=c_void_p,
                      each=CFUNCTYPE(c_bool, c_void_p), command=c_char_p, trust=c_int, pace=c_double, overdue=CFUNCTYPE(None, c_void_p))
RunInfo = _struct("yoke_run_info", status=c_int, n_steps=c_int64, t_reached=c_double, wall_s=c_double,
                  is_violated=c_bool, is_diverged=c_bool, is_growing=c_bool, is_late=c_bool, record=RecordInfo)
Times = _struct("yoke_times", n=c_int64, p50=c_double, p99=c_double, p999=c_double, max=c_double)
PaceInfo = _struct("yoke_pace_info", factor=c_double, period=c_double, n_steps=c_int64, n_late=c_int64,
                   n_missed=c_int64, n_held=c_int64, longest_run=c_int64, n_behind=c_int64, longest=c_double,
                   release=Times, step=Times, is_beyond=c_bool, has_priority=c_bool, has_memory=c_bool,
                   has_processor=c_bool, grade=c_char_p)
UnitPace = _struct("yoke_unit_pace", step=Times, n_over=c_int64, has_own_thread=c_bool, n_due=c_int64,
                   n_late=c_int64, longest_run=c_int64)
Handle = _struct("yoke_handle", unit=c_uint32, variable=c_uint32, element=c_uint32, n=c_uint32)
RunTrust = _struct("yoke_run_trust", verdict=c_int, reason=c_char_p, is_diverged=c_bool, is_wrong=c_bool,
                   left_out=c_char_p, n_signals=c_size_t)
SignalTrust = _struct("yoke_signal_trust", name=c_char_p, dim=c_char_p, verdict=c_int, reason=c_char_p,
                      is_wanted=c_bool, band=c_double, band_max=c_double, at_time=c_double, low=c_double,
                      scale=c_double, relative=c_double, digits=c_int, is_estimated=c_bool)
FlowTrust = _struct("yoke_flow_trust", **{"from": c_char_p}, to=c_char_p, dim=c_char_p, is_averaged=c_bool,
                    sent=c_double, arrived=c_double, balance=c_double, missed=c_double,
                    unsettled=c_double, verdict=c_int)
BondTrust = _struct("yoke_bond_trust", name=c_char_p, verdict=c_int, reason=c_char_p, explanation=c_char_p,
                    passed=c_double, energy=c_double, residual=c_double, created=c_double, given=c_double, eps=c_double,
                    eps_worst=c_double, rho_mean=c_double, rho_worst=c_double, ter=c_double, rter=c_double,
                    rter_worst=c_double, power=c_double, residual_power=c_double, rho=c_double, n_samples=c_int64,
                    n_warnings=c_size_t, n_stops=c_size_t)
AlarmView = _struct("yoke_alarm_view", bond=c_size_t, indicator=c_char_p, is_stop=c_bool, is_given=c_bool,
                    **{"from": c_double}, to=c_double, value=c_double, worst=c_double, limit=c_double)
LimitView = _struct("yoke_limit_view", signal=c_char_p, dim=c_char_p, limit=c_double, is_above=c_bool, is_stop=c_bool,
                    has_ended_run=c_bool, n_beyond=c_int64, time=c_double, value=c_double, worst_time=c_double,
                    worst=c_double)
StepTimes = _struct("yoke_step_times", n_timed=c_uint64, median_s=c_double, p99_s=c_double, max_s=c_double,
                    real_time_factor=c_double)

REAL, INTEGER, BOOLEAN, ENUMERATION, STRING, BINARY = range(6)
TYPES = ("real", "integer", "boolean", "enumeration", "string", "binary")
CAUSALITIES = ("input", "output", "parameter", "tunable", "state")
KINDS = ("none", "model", "law", "fmu", "circuit", "library", "port", "twin")
SEVERITIES = ("note", "warning", "error")
HAS_START = 1  # YOKE_VARIABLE_HAS_START
PORTABLE = 64  # YOKE_UNIT_PORTABLE
NO_OFFSET = c_size_t(-1).value
END_WANTED = 8  # YOKE_STEP_END_WANTED
FORMATS = {"csv": 1, "hdf5": 2, "mat": 4}
TRUST = ("none", "file", "auto", "both", "half", "cheap")  # companions of a run
RUN_STATES = ("INIT", "CALIBRATE", "READY", "RUN", "STOPPING", "SAFE", "FAULT")  # of a paced run

# ---- prototypes: (result, arguments); objects are c_void_p, so that one closed object is NULL everywhere
_p, _pp = c_void_p, POINTER(c_void_p)
_PROTOTYPES = {
    "yoke_version": (c_char_p,),
    "yoke_status_text": (c_char_p, c_int),
    "yoke_verdict_text": (c_char_p, c_int),
    "yoke_message_format": (c_size_t, POINTER(Message), c_char_p, c_size_t),
    "yoke_registry_create": (c_int, _pp),
    "yoke_registry_destroy": (None, _pp),
    "yoke_registry_add_unit": (c_int, _p, POINTER(UnitOps), SinkPointer),
    "yoke_registry_load": (c_int, _p, c_char_p, SinkPointer),
    "yoke_result_open": (c_int, c_char_p, SinkPointer, _pp),
    "yoke_result_close": (None, _pp),
    "yoke_result_n_rows": (c_size_t, _p),
    "yoke_result_n_columns": (c_size_t, _p),
    "yoke_result_get": (c_int, _p, c_size_t, POINTER(ResultColumn)),
    "yoke_system_load": (c_int, c_char_p, POINTER(LoadSettings), _pp),
    "yoke_system_parse": (c_int, c_char_p, c_size_t, c_char_p, POINTER(LoadSettings), _pp),
    "yoke_system_destroy": (None, _pp),
    "yoke_system_get_info": (c_int, _p, POINTER(SystemInfo)),
    "yoke_system_get_unit": (c_int, _p, c_size_t, POINTER(UnitView)),
    "yoke_system_get_connection": (c_int, _p, c_size_t, POINTER(ConnectionView)),
    "yoke_system_get_bond": (c_int, _p, c_size_t, POINTER(BondView)),
    "yoke_system_get_coupling": (c_int, _p, c_size_t, POINTER(CouplingView)),
    "yoke_system_describe": (c_int, _p, _pp),
    "yoke_describe": (c_int, c_char_p, POINTER(LoadSettings), _pp),
    "yoke_text_free": (None, _pp),
    "yoke_simulation_create": (c_int, _p, SinkPointer, _pp),
    "yoke_simulation_start": (c_int, _p),
    "yoke_simulation_destroy": (None, _pp),
    "yoke_simulation_step": (c_int, _p),
    "yoke_simulation_run_to": (c_int, _p, c_double),
    "yoke_simulation_run": (c_int, _p, POINTER(RunSettings), POINTER(RunInfo)),
    "yoke_simulation_judge": (c_int, _p, POINTER(RunSettings)),
    "yoke_simulation_get_trust": (c_int, _p, POINTER(RunTrust)),
    "yoke_simulation_get_signal": (c_int, _p, c_size_t, POINTER(SignalTrust)),
    "yoke_simulation_get_band": (c_int, _p, c_size_t, _reals, _reals, c_size_t, POINTER(c_size_t)),
    "yoke_simulation_get_flow": (c_int, _p, c_size_t, POINTER(FlowTrust)),
    "yoke_simulation_cancel": (None, _p),
    "yoke_simulation_get_pace": (c_int, _p, POINTER(PaceInfo)),
    "yoke_simulation_get_unit_pace": (c_int, _p, c_size_t, POINTER(UnitPace)),
    "yoke_simulation_state": (c_int, _p),
    "yoke_simulation_emergency_stop": (None, _p),
    "yoke_simulation_reset": (c_int, _p),
    "yoke_simulation_get_progress": (c_int, _p, POINTER(Progress)),
    "yoke_simulation_is_done": (c_bool, _p),
    "yoke_simulation_time": (c_double, _p),
    "yoke_simulation_failure": (POINTER(Message), _p),
    "yoke_simulation_declare_discontinuity": (c_int, _p),
    "yoke_simulation_find": (c_int, _p, c_char_p, POINTER(Handle)),
    "yoke_simulation_variable": (POINTER(Variable), _p, Handle),
    "yoke_simulation_read": (c_int, _p, Handle, _reals),
    "yoke_simulation_read_value": (c_int, _p, Handle, c_void_p, c_size_t),
    "yoke_simulation_write": (c_int, _p, Handle, c_double),
    "yoke_simulation_write_value": (c_int, _p, Handle, c_void_p, c_size_t),
    "yoke_simulation_image_size": (c_size_t, _p),
    "yoke_simulation_save": (c_int, _p, c_void_p, c_size_t),
    "yoke_simulation_restore": (c_int, _p, c_void_p, c_size_t),
    "yoke_simulation_checkpoint": (c_int, _p, c_char_p),
    "yoke_simulation_resume": (c_int, _p, c_char_p),
    "yoke_simulation_record": (c_int, _p, POINTER(RecordSettings)),
    "yoke_simulation_record_stop": (c_int, _p, POINTER(RecordInfo)),
    "yoke_simulation_summary": (c_int, _p, _pp),
    "yoke_simulation_get_bond": (c_int, _p, c_size_t, POINTER(BondTrust)),
    "yoke_simulation_get_limit": (c_int, _p, c_size_t, POINTER(LimitView)),
    "yoke_simulation_get_alarm": (c_int, _p, c_size_t, POINTER(AlarmView)),
    "yoke_simulation_get_step_times": (c_int, _p, POINTER(StepTimes)),
    "yoke_simulation_get_health": (c_int, _p, c_size_t, _reals, c_size_t),
}


# ---- finding the library

def _places():
    """Where the library may lie, best first: (path or name, why it is looked for there)."""
    here = Path(__file__).resolve().parent
    if os.environ.get("YOKE_LIBRARY"):
        yield os.environ["YOKE_LIBRARY"], "environment variable YOKE_LIBRARY"
        return
    if here.parent.name == "python" and (here.parents[1] / "CMakeLists.txt").is_file():
        yield here.parents[1] / "build/release/libyoke.so", "build tree"
    elif here.parent.name == "dist-packages":
        # PREFIX/lib/python3/dist-packages/yoke
        for folder in ("", getattr(sys.implementation, "_multiarch", "")):
            yield here.parents[2] / folder / "libyoke.so.0", "installed beside the package"
    yield ctypes.util.find_library("yoke") or "libyoke.so.0", "the system's list of libraries (ldconfig)"


def _load():
    tried = []
    for path, why in _places():
        # a name without a folder is looked up by the loader
        if os.sep in str(path) and not Path(path).exists():
            tried.append(f"  {path} ({why}): no such file")
            continue
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            tried.append(f"  {path} ({why}): {error}")
            continue
        return library, Path(path)
    raise ImportError("libyoke was not found; places looked at:\n" + "\n".join(tried) +
                      "\nBuild it (make build), install it (make install), or set YOKE_LIBRARY to its path.")


def _declare(library, path):
    """Gives the functions their types, after a check that the library is the one these structs are made for."""
    try:
        library.yoke_version.restype = c_char_p
        found = library.yoke_version().decode()
        # before 1.0 a minor version may change the interface
        if found.split(".")[:2] != VERSION.split(".")[:2]:
            raise ImportError(f"{path} is version {found}, but this package was made for {VERSION}: "
                              "install both from the same source")
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise ImportError(f"{path} is no library of Yoke {VERSION}: {error}") from None


lib, path = _load()
_declare(lib, path)


def find_program():
    """The command `yoke`: YOKE_PROGRAM, beside the library, in PREFIX/bin, or in PATH."""
    given = os.environ.get("YOKE_PROGRAM")
    if given:
        return given
    folder = path.resolve().parent
    beside = [folder / "yoke", folder.parent / "bin/yoke", folder.parent.parent / "bin/yoke"]
    for place in beside if os.sep in str(path) else []:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("yoke")
    if found:
        return found
    raise FileNotFoundError("the command `yoke` was not found beside the library or in PATH: "
                            "set YOKE_PROGRAM to its path")


def text(value):
    """A text of the library as str; NULL as None."""
    return None if value is None else value.decode("utf-8", "replace")


def encode(value):
    """A str or path as bytes of the library; None as NULL."""
    data = None if value is None else os.fsencode(value)
    if data is not None and b"\0" in data:  # the library would see what stands before it
        raise ValueError(f"{value!r} holds a NUL character")
    return data


def expect(what, value, *kinds):
    """Refuses an argument of another type with words of its own."""
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{what} is of type {wanted}, found {value!r}")
    return value
