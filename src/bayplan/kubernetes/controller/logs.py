"""The log of a controller: one line for each event, as JSON for machines or as text for people, on stderr.

A line holds what the record holds, and nothing of a connection: no token, no certificate, no password of a database.
"""

import json
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import IO

from bayplan.errors import escaped
from bayplan.model.record import Event


class LogForm(StrEnum):
    """How a line is written."""

    JSON = "json"
    TEXT = "text"
    NONE = "none"  # not at all


WARNINGS = frozenset({"failed", "given-up", "rollback", "hold", "lease-lost", "problem"})  # kinds of events
TOLD = frozenset({"turn", "rollback", "hold", "recover", "verify", "lease", "lease-lost", "problem", "end"})  # in text
Log = Callable[[Event], None]


class EventLog:
    """Lines on a stream; several threads may write, each line is whole."""

    def __init__(self, form: LogForm, stream: IO[str] | None = None, *, identity: str = "") -> None:
        self.form, self.identity = form, identity
        self._stream = stream if stream is not None else sys.stderr
        self._lock = threading.Lock()

    def write(self, event: Event) -> None:
        """Write one line. In text, only what a person who watches wants to see."""
        if self.form is LogForm.NONE or (self.form is LogForm.TEXT and event.kind not in TOLD):
            return
        line = self._json(event) if self.form is LogForm.JSON else _text(event)
        with self._lock:
            print(line, file=self._stream, flush=True)

    def _json(self, event: Event) -> str:
        level = "warning" if event.kind in WARNINGS else "info"
        parts = {"time": _time(event.at), "level": level, "event": event.kind, "message": event.text, "plan": event.plan}
        return json.dumps({key: value for key, value in (parts | {"controller": self.identity}).items() if value})


def _text(event: Event) -> str:
    return f"{datetime.fromtimestamp(event.at, UTC).strftime('%a %H:%M:%S')} {event.kind}: {escaped(event.text)}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
