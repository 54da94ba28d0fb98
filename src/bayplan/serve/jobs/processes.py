"""Worker processes: one for each job, made by a fork server that has loaded the library, so that they start in milliseconds.

A fork of the server itself would copy its threads in whatever state they are in.
"""

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from multiprocessing.forkserver import ensure_running
from typing import Any

from bayplan.errors import WorldError

PRELOADED = ["bayplan.serve.jobs.preloaded"]
READING = 60.0  # seconds that reading a snapshot may take


def load_ahead() -> None:
    """Start the fork server, which loads the library while nothing waits for it."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    ensure_running()


def limit_memory(most: int) -> None:
    """Let this process take at most that many bytes: what asks for more gets a MemoryError, or ends the process.

    It counts what is written to (RLIMIT_DATA). The whole address space (RLIMIT_AS) would count what threads only reserve, too.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


class WorkerProcess:
    """A process that runs one call and reports through a pipe."""

    def __init__(self, call: Callable[..., None], *arguments: Any) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.pipe, other = context.Pipe(duplex=False)
        self._process = context.Process(target=call, args=(*arguments, other), daemon=False)
        try:
            self._process.start()
        except (OSError, EOFError) as error:
            raise WorldError(f"no process can be started for a job: {error}; check the limits of the system") from error
        finally:
            other.close()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    def message(self, seconds: float) -> tuple[str, dict[str, Any]] | None:
        """The next message; None if none comes in that time. EOFError once the process has ended and all were read."""
        if not self.pipe.poll(seconds):
            return None
        kind, data = self.pipe.recv()
        return kind, data

    def ask_to_stop(self) -> None:
        """Let it end in order, with the best so far."""
        if self._process.is_alive():
            os.kill(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> str:
        """Wait until it has ended, and say how."""
        self._process.join()
        self.pipe.close()
        code = self._process.exitcode or 0
        self._process.close()
        if code >= 0:
            return f"exit code {code}"
        return f"signal {signal.Signals(-code).name}"


def call_in_process(call: Callable[..., None], *arguments: Any, seconds: float) -> tuple[str, dict[str, Any]] | None:
    """The first message of a call in a process of its own; None if it takes too long or ends without one."""
    process = WorkerProcess(call, *arguments)
    try:
        return process.message(seconds)
    except EOFError:
        return None
    finally:
        process.kill()
        process.end()
