"""Controllers as processes of their own, as in a pod: what they log, what they answer over HTTP, and how they end."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.kubernetes.waiting import wait_until

QUICK = ("--seconds", "5", "--young", "0s", "--settle", "1s", "--cooldown", "0s")  # a turn takes seconds


class ControllerProcess:
    """`bayplan run` on a live cluster."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        command = [sys.executable, "-m", "bayplan", "run", "--log", "json", "--listen", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "BAYPLAN_DEBUG": "1"},
        )
        self.text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.text += line

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        """The log so far."""
        read = [json.loads(line) for line in self.text.splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in read if not event or line["event"] == event]

    def await_line(self, event: str, words: str = "", *, number: int = 1, seconds: float = 120.0) -> dict[str, Any]:
        """The line of this number in which an event and some words stand."""

        def look() -> dict[str, Any] | None:
            found = [line for line in self.lines(event) if words in line["message"]]
            assert self.process.poll() is None or len(found) >= number, f"it has ended ({self.process.returncode}): {self.text}"
            return found[number - 1] if len(found) >= number else None

        try:
            return wait_until(look, f"'{event}: {words}' in the log", seconds=seconds) or {}
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text}") from None

    def await_leader(self, seconds: float = 120.0) -> dict[str, Any]:
        """The line that says that it holds the lease."""
        return self.await_line("lease", "holds the lease", seconds=seconds)

    def get(self, path: str) -> tuple[int, str]:
        """What it answers over HTTP."""
        port = self.await_line("listen")["message"].split()[-1]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def end(self, number: int = signal.SIGTERM, seconds: float = 60.0) -> tuple[int, str]:
        """Send a signal, and wait for the end: the exit code, and stdout."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        assert self.process.stdout is not None
        try:
            code = self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        self._reader.join(10)
        with self.process.stdout as answer:
            return code, answer.read()


@contextmanager
def controllers(folder: Path) -> Iterator[Any]:
    """Starts controllers; all have ended at the end of the block."""
    started: list[ControllerProcess] = []

    def start(*arguments: str) -> ControllerProcess:
        started.append(ControllerProcess(*arguments, folder=folder))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            if each.process.poll() is None:
                each.process.kill()
                each.process.wait()
            for stream in (each.process.stdout, each.process.stderr):
                if stream is not None and not stream.closed:
                    each._reader.join(10)
                    stream.close()
