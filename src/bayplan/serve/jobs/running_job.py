"""One job that runs: what its process says goes into the store; it can be asked to stop, and ends in time whatever it does."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from bayplan.codes import CODES
from bayplan.errors import WorldError
from bayplan.serve.jobs.processes import WorkerProcess
from bayplan.serve.store.jobs import JobState, JobStore

POLL = 0.1  # seconds between two looks at whether it was asked to stop
GRACE = 15.0  # seconds between the request to stop and the end of the process
NO_ANSWER = "E2744"
STARTING = 60.0  # seconds beside its own that a job may take: reading, compiling, writing


class RunningJob:
    """Follows the process of one job to its end."""

    def __init__(self, name: str, store: JobStore, count: Callable[[str], None], seconds: float) -> None:
        self.name, self.store, self.count = name, store, count
        self.thread = threading.current_thread()  # that follows it; set by who starts it
        self._deadline = time.monotonic() + seconds + STARTING
        self._ending_as: JobState | None = None  # what it becomes if it was asked to stop
        self._kill_at: float | None = None
        self._asked = False

    def cancel(self) -> None:
        """Let it end with its best so far, as cancelled."""
        self._stop(JobState.CANCELLED, GRACE)

    def interrupt(self, seconds: float) -> None:
        """Let it end with its best so far in that time, as interrupted."""
        self._stop(JobState.INTERRUPTED, seconds)

    def _stop(self, state: JobState, seconds: float) -> None:
        if self._ending_as is None:
            self._kill_at = time.monotonic() + seconds
            self._ending_as = state

    def follow(self, start: Callable[[], WorkerProcess]) -> None:
        """Until the process has ended, and the store says how."""
        try:
            process = start()
        except (WorldError, OSError) as error:
            self._end(JobState.FAILED, failure=_failed(str(error)))
            return
        last: tuple[str, Mapping[str, Any]] | None = None
        try:
            while True:
                message = process.message(POLL)
                if message is not None and message[0] in ("ended", "failed"):
                    last = message
                elif message is not None:
                    self._tell(*message)
                self._hurry(process)
        except (EOFError, OSError):
            pass  # it has ended, and all it said was read
        self._conclude(last, process.end())

    def _hurry(self, process: WorkerProcess) -> None:
        """Ask the process to stop if that was requested or its time is over, and end it if it does not."""
        now = time.monotonic()
        if now > self._deadline:
            self._stop(JobState.CANCELLED, GRACE)
        if self._ending_as is not None and not self._asked:
            process.ask_to_stop()
            self._asked = True
        if self._kill_at is not None and now > self._kill_at:
            process.kill()

    def _tell(self, kind: str, data: Mapping[str, Any]) -> None:
        self._write(kind, data, **{kind: dict(data)})

    def _conclude(self, last: tuple[str, Mapping[str, Any]] | None, how: str) -> None:
        """Write down how it ended."""
        if last is not None and last[0] == "ended":
            state = self._ending_as if self._ending_as is not None and last[1]["interrupted"] else JobState.DONE
            self._end(state, answer=dict(last[1]))
        elif last is not None:
            self._end(JobState.FAILED, failure=dict(last[1]))
        elif self._ending_as is not None:
            self._end(self._ending_as)
        else:
            self._end(JobState.FAILED, failure=_failed(f"its process ended without an answer ({how})"))

    def _end(self, state: JobState, **more: Any) -> None:
        answer, failure = more.get("answer") or {}, more.get("failure") or {}
        data = {"state": state.value, "headline": answer.get("headline", ""), "detail": failure.get("detail", "")}
        self._write("ended", data, state=state, ended=time.time(), **more)

    def _write(self, kind: str, data: Mapping[str, Any], **changes: Any) -> None:
        """Into the store; a store that cannot be used now loses a report of progress, and is waited for at the end."""
        while True:
            try:
                self.store.tell(self.name, kind, data, time.time(), **changes)
                self.count(self.name)
                return
            except WorldError:
                if kind != "ended":
                    return
                time.sleep(1.0)


def _failed(text: str) -> dict[str, Any]:
    detail = f"{NO_ANSWER} job: {text}; {CODES[NO_ANSWER].action}"
    return {"kind": "WorldError", "detail": detail, "code": NO_ANSWER, "faults": []}
