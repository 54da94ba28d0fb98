"""The log: one JSON object in one line, or the lines that a person wants to see."""

import io
import json

from bayplan.kubernetes.controller.logs import EventLog, LogForm
from bayplan.model.record import Event


def _written(form, *events):
    stream = io.StringIO()
    log = EventLog(form, stream, identity="one")
    for event in events:
        log.write(event)
    return stream.getvalue()


def test_each_event_is_one_line_of_json_whatever_is_in_it():
    text = _written(
        LogForm.JSON, Event(at=0.5, kind="batch", text='a "b"\nc\x1b', plan="p1"), Event(at=1, kind="failed", text="x")
    )
    first, second = (json.loads(line) for line in text.splitlines())
    assert first == {
        "time": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "event": "batch",
        "message": 'a "b"\nc\x1b',
        "plan": "p1",
        "controller": "one",
    }
    assert second["level"] == "warning" and "plan" not in second


def test_people_see_turns_and_problems_on_lines_of_their_own():
    text = _written(LogForm.TEXT, Event(at=0, kind="batch", text="2 of 2"), Event(at=0, kind="turn", text="nothing\n: \x1b[2J"))
    assert text == "Thu 00:00:00 turn: nothing\\u000a: \\u001b[2J\n"
