"""What is in a system, as small dataclasses: units, variables, connections, bonds, couplings, alarms."""
import dataclasses
from dataclasses import dataclass
from typing import Optional

from . import _library
from ._library import text


@dataclass(frozen=True)
class Variable:
    """A variable of a unit.

    type: real, integer, boolean, enumeration, string, binary; causality: input, output, parameter, tunable, state;
    dim: physical unit; shape: () for a single value; items: names of an enumeration.
    """
    name: str
    type: str
    causality: str
    dim: str
    text: str
    shape: tuple
    start: object
    items: tuple


@dataclass(frozen=True)
class UnitView:
    """A unit or law of a system. type: its model or file; kind: model, law, fmu, circuit, library or port; step [s]: the
    interval at which it is called; file, line, column: where it stands in the system file; n_calls: in a macro step, 0
    with a step of its own; has_auto_calls: chosen by `calls: auto`."""
    name: str
    type: str
    kind: str
    is_law: bool
    is_fresh: bool
    is_isolated: bool
    step: float
    thread: int
    file: Optional[str]
    line: int
    column: int
    variables: list
    n_calls: int
    has_auto_calls: bool


@dataclass(frozen=True)
class Connection:
    """n elements of an output (source) that travel to as many of an input (target).

    order: of the extrapolation; interval [s]: between two exchanges; coupling: index in System.couplings; is_averaged:
    it carries means over the interval, not samples.
    """
    source: str
    target: str
    n: int
    gain: float
    offset: float
    order: int
    interval: float
    delay: float
    coupling: int
    is_from_bond: bool
    is_averaged: bool


@dataclass(frozen=True)
class Coupling:
    """A coupling method at work, its settings, and its health figures so far. name and owner are "" for the method
    that serves all connections that name none."""
    name: str
    owner: str
    method: str
    settings: dict
    health: dict


@dataclass(frozen=True)
class Signal:
    """How far to trust one exchanged signal; errors are those of the coupling.

    verdict: "trustworthy", "doubtful", "wrong" or "not judged"; reason: one sentence. In the signal's unit `dim`:
    band_max, the largest error is below this, and it is largest at at_time [s]; band and low, the rms error lies between
    them; scale, the size of its movement. relative = band / scale; digits: that can be trusted; wanted: it counts for
    the verdict of the run (`trust: {signals: ...}`); estimated: the figures come from the run itself, which had no
    companions. Unknown numbers are NaN.
    """
    name: str
    dim: str
    verdict: str
    reason: str
    band: float
    band_max: float
    at_time: float
    low: float
    scale: float
    relative: float
    digits: int
    wanted: bool
    estimated: bool


@dataclass(frozen=True)
class Flow:
    """What a connection with heat, power, current or another flow to a slower unit has sent and delivered so far.

    sent and arrived are in `dim`, such as "J"; is_averaged: means over the exchange interval travel, not samples;
    balance: share of what had to arrive that did not, or that nobody sent (NaN: nothing to compare); missed: share that
    the sender's calls may not have seen, by companions (0 without); unsettled: share that trapezoids over its calls
    leave open (0: the sender integrates itself); verdict by all three.
    """
    source: str
    target: str
    dim: str
    is_averaged: bool
    sent: float
    arrived: float
    balance: float
    missed: float
    unsettled: float
    verdict: str


@dataclass(frozen=True)
class Bond:
    """A bond and how far to trust it so far.

    verdict: "doubtful", "wrong" or "not judged", which counts only without an error estimate of the signals, and its
    reason; explanation says what the figures mean. Energies [J]: passed through the bond, created by the coupling (mu
    times the residual), given to the unit that receives the action, residual, and `energy`, the reference for the
    errors. eps = created / energy; rho: residual power relative to the peaks of power; ter, rter: total energy residual,
    absolute and relative. Unknown numbers are NaN. action_unit delivers the action (force, voltage), rate_unit the
    rate (velocity, current).
    """
    name: str
    verdict: str
    reason: str
    explanation: str
    action_unit: str
    rate_unit: str
    interval: float
    is_found: bool
    is_heat: bool
    passed: float
    energy: float
    residual: float
    created: float
    given: float
    eps: float
    eps_worst: float
    rho_mean: float
    rho_worst: float
    ter: float
    rter: float
    rter_worst: float
    n_samples: int
    n_warnings: int
    n_stops: int


@dataclass(frozen=True)
class Alarm:
    """A quality limit that was exceeded from `since` [s] to `until` (NaN while it lasts)."""
    bond: str
    indicator: str
    is_stop: bool
    is_given: bool
    since: float
    until: float
    value: float
    worst: float
    limit: float


@dataclass(frozen=True)
class Limit:
    """A limit of a signal: its first value beyond it with its time [s], and the one furthest beyond (NaN: never)."""
    signal: str
    dim: str
    limit: float
    is_above: bool
    is_stop: bool
    has_ended_run: bool
    n_beyond: int
    time: float
    value: float
    worst_time: float
    worst: float


@dataclass(frozen=True)
class StepTimes:
    """Computing time of macro steps [s]; real_time_factor is simulated time over computing time."""
    n_timed: int
    median_s: float
    p99_s: float
    max_s: float
    real_time_factor: float


@dataclass(frozen=True)
class Times:
    """n times in seconds: median, 99 %, 99.9 %, largest."""
    n: int
    p50: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True)
class Pace:
    """How a run by the clock kept its deadlines (docs/pace.md).

    factor: simulated seconds per second; period [s]: of the clock between two steps; n_late: steps that ended after the
    next one was due; n_missed: slots in which nothing could be released; n_held: steps computed without the physical
    units; longest_run: late ones in a row; n_behind: slots by which simulated time is behind the clock; longest [s]:
    behind a deadline; release, step: Times of the lateness of releases and of computing; grade: the same in words.
    """
    factor: float
    period: float
    n_steps: int
    n_late: int
    n_missed: int
    n_held: int
    longest_run: int
    n_behind: int
    longest: float
    release: Times
    step: Times
    is_beyond: bool
    has_priority: bool
    has_memory: bool
    has_processor: bool
    grade: str


@dataclass(frozen=True)
class Progress:
    """Where a run stands: simulation time [s], share done (0 to 1), wall time [s], the bond whose alarm began last."""
    time: float
    t_start: float
    t_stop: float
    share: float
    wall_s: float
    bond: Optional[str]


@dataclass(frozen=True)
class State:
    """A saved state: System.save() makes it, System.restore() goes back to it. time is its simulation time [s]."""
    time: float
    image: bytes = dataclasses.field(repr=False)


def view(view_class, /, *structs, **given):
    """A dataclass with the fields of the same name of C structs; `given` fields come from the caller."""
    values = dict(given)
    for field in dataclasses.fields(view_class):
        if field.name not in values:
            value = next(getattr(s, field.name) for s in structs if hasattr(s, field.name))
            values[field.name] = text(value) if isinstance(value, bytes) else value
    return view_class(**values)


def names(list_of_texts):
    """A NULL-terminated list of texts; NULL is an empty one."""
    found = []
    while list_of_texts and list_of_texts[len(found)] is not None:
        found.append(text(list_of_texts[len(found)]))
    return tuple(found)


def variable_view(v, name):
    """A variable from its C struct."""
    rows, cols = max(v.n_rows, 1), max(v.n_cols, 1)
    return Variable(name, _library.TYPES[v.type], _library.CAUSALITIES[v.causality], text(v.dim) or "",
                    text(v.text) or "", () if rows * cols == 1 else (rows,) if cols == 1 else (rows, cols),
                    (text(v.start_text) or "") if v.type == _library.STRING else v.start,
                    names(v.items) if v.type == _library.ENUMERATION else ())


def unit_view(struct):
    """A unit with its variables, named "unit.variable"."""
    name, info = text(struct.name), struct.info.contents
    variables = [variable_view(v, f"{name}.{text(v.name)}") for v in info.variables[:info.n_variables]]
    return view(UnitView, struct, kind=_library.KINDS[struct.kind], variables=variables)


def connection_view(struct, units):
    """A connection; single elements of an array are written with their index."""
    def end(unit, variable, element):
        v = units[unit].variables[variable]
        if not v.shape or (element == 0 and struct.n > 1):
            return v.name
        index = f"{element // v.shape[1]},{element % v.shape[1]}" if len(v.shape) == 2 else f"{element}"
        return f"{v.name}[{index}]"

    return view(Connection, struct, source=end(struct.from_unit, struct.from_variable, struct.from_element),
                target=end(struct.to_unit, struct.to_variable, struct.to_element))


def coupling_view(struct, health):
    """A coupling method; settings that have names are shown by name."""
    ops = struct.ops.contents
    settings = {}
    for i, parameter in enumerate(ops.parameters[:ops.n_parameters]):
        items, value = names(parameter.items), struct.parameters[i]
        settings[text(parameter.name)] = items[int(value)] if items and 0 <= value < len(items) else value
    return view(Coupling, struct, method=text(ops.name), settings=settings,
                health=dict(zip(map(text, ops.health_names[:ops.n_health]), health)))


def pace_view(info):
    """A yoke_pace_info as Pace."""
    values = {field.name: getattr(info, field.name) for field in dataclasses.fields(Pace)}
    for name in ("release", "step"):
        values[name] = Times(*(getattr(values[name], field.name) for field in dataclasses.fields(Times)))
    values["grade"] = text(values["grade"])
    return Pace(**values)
