"""Messages of the library as Python objects: notes and warnings are logged, errors are raised."""
import ctypes
import logging
import math
from dataclasses import dataclass
from typing import Optional

from . import _library
from ._library import Status, lib, text

log = logging.getLogger("yoke")
_LEVELS = {"note": logging.INFO, "warning": logging.WARNING}


@dataclass(frozen=True)
class Message:
    """One message: what happened, where, when, and what to do about it. str() is the line for people.

    severity is "note", "warning" or "error"; fields that do not apply are None.
    """
    severity: str
    status: Status
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    unit: Optional[str]
    variable: Optional[str]
    time: Optional[float]
    text: str
    hint: Optional[str]
    formatted: str = ""

    def __str__(self):
        return self.formatted or self.text

    @classmethod
    def of_struct(cls, m):
        """From the C struct, whose texts do not outlive this call."""
        room = ctypes.create_string_buffer(4096)
        lib.yoke_message_format(ctypes.byref(m), room, len(room))
        return cls(_library.SEVERITIES[m.severity], Status(m.status), text(m.file), m.line or None, m.column or None,
                   text(m.unit), text(m.variable), None if math.isnan(m.time) else m.time, text(m.text),
                   text(m.hint), text(room.value))


    @classmethod
    def plain(cls, status, variable=None):
        """An error that the library has no words for beyond its status."""
        words = text(lib.yoke_status_text(status))
        return cls("error", Status(status), None, None, None, None, variable, None, words, None,
                   f"error: {variable}: {words}" if variable else f"error: {words}")


class Error(Exception):
    """A call of the library failed.

    status, file, line, column, unit, variable, time and hint are those of the first error; `messages` holds all
    messages of the call, warnings included. str() has one line per error, with file and line where there is one.
    A run that failed half-way leaves what was recorded until then in `result`.
    """

    def __init__(self, status, messages=()):
        self.messages = list(messages)
        errors = [m for m in self.messages if m.severity == "error"]
        super().__init__("\n".join(map(str, errors)) or text(lib.yoke_status_text(status)))
        self.status = Status(status)
        self.result = None
        first = errors[0] if errors else None
        for name in ("file", "line", "column", "unit", "variable", "time", "hint"):
            setattr(self, name, getattr(first, name, None))


class Messages(list):
    """A sink of the library that keeps all messages. Notes and warnings also go to the logger "yoke"."""

    def __init__(self):
        super().__init__()
        self._receive = _library.Receive(self._keep)  # ctypes does not keep it alive
        self.sink = _library.Sink(self._receive, None)
        self.pointer = ctypes.pointer(self.sink)

    def _keep(self, _, message):
        kept = Message.of_struct(message.contents)
        self.append(kept)
        if kept.severity in _LEVELS:
            log.log(_LEVELS[kept.severity], "%s", kept)

    def check(self, status):
        """Raises if a call failed."""
        if status < 0:
            raise Error(status, self)
        return status
