'''Yoke in Python: run coupled systems, step them, read and write their variables, and see how far to trust them.

>>> import yoke
>>> text = """
... yoke: 1
... time: {stop: 10, step: 1e-3}
... units:
...   left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 100}}
...   right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}
... connections: [right.x -> left.x_other]
... bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}
... """
>>> result = yoke.run(text, trust="both")         # or a file: yoke.run("crane.yaml", set={"time.step": 1e-3})
>>> print(round(result.time[-1]), round(result["left.x"][-1], 6), result.verdict)
10 -4.460716 trustworthy
>>> print(f'right.x is off by up to {result.signals["right.x"].band_max:.3f} {result.signals["right.x"].dim}')
right.x is off by up to 0.001 m
>>> with yoke.System(text) as system:             # step by step
...     start = system.save()
...     system.step(100)
...     print(round(system.time, 3), round(system["left.x"], 6))
...     system.restore(start)
0.1 7.436496

run(path, set=...)      to the stop time: named columns, error bands, verdict  -> Result
System(path, set=...)   step, read, write, save and restore, record
read(path)              results.csv, results.h5 or their folder               -> Result
sweep(path, vary=...)   every point of a grid, with the command `yoke sweep`  -> Table
describe(what)          a model, method, FMU, netlist, system or library       -> dict
Unit, Value             a unit written in Python
Error, Message, Status  failures with file and line; warnings go to the logger "yoke"

Columns are numpy arrays, or lists where numpy is not installed. The library is found through the environment variable
YOKE_LIBRARY, in the build tree, beside the installed package, or by the loader. docs/python.md explains the rest.
'''
from ._library import Status, lib as _lib, path as library_path
from .message import Error, Message
from .result import Result, Table, read
from .study import describe, sweep
from .system import Handle, System, run
from .unit import Unit, Value
from .view import Alarm, Bond, Connection, Coupling, Flow, Limit, Pace, Progress, Signal, State, StepTimes, Times, UnitView, Variable

__version__ = _lib.yoke_version().decode()
__all__ = ["run", "read", "sweep", "describe", "System", "Handle", "Result", "Table", "Unit", "Value", "Error",
           "Message", "Status", "Signal", "Bond", "Flow", "Limit", "Alarm", "Connection", "Coupling", "Pace", "Progress", "State", "StepTimes",
           "Times", "UnitView", "Variable", "library_path"]
