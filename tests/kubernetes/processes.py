"""Parts of the control plane as processes of their own: a test may kill, pause, stop and start each of them."""

import os
import random
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.kubernetes.waiting import wait_until

FIRST_PORT, LAST_PORT = 20000, 32000  # below the range from which the system takes the ports of outgoing connections
PATIENCE = 300.0  # seconds for a start on a busy machine
_random = random.SystemRandom()


def free_port() -> int:
    """A port of the loopback interface that nothing listens on."""
    while True:
        port = _random.randint(FIRST_PORT, LAST_PORT)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Component:
    """One process, its command line, its log file and the question whether it is ready."""

    def __init__(self, name: str, command: Sequence[str], *, folder: Path, ready: Callable[[], bool]) -> None:
        self.name = name
        self.command = list(command)
        self.log = folder / f"{name}.log"
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """It was started and has not ended; a paused process runs too."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> None:
        """Start it if it does not run, and wait until it is ready."""
        if not self.running:
            with self.log.open("ab") as log:
                environment = {**os.environ, "CONTROL_PLANE_PARENT": str(os.getpid())}
                self._process = subprocess.Popen(
                    self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
                )
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until it is ready; its last words when it is not."""
        wait_until(lambda: self._ready() or not self.running, f"{self.name} is ready", seconds=PATIENCE)
        if not self.running:
            raise AssertionError(f"{self.name} ended: {self.last_words()}")

    def stop(self, *, seconds: float = 20.0) -> None:
        """Ask it to end (SIGTERM), wait, and kill it when it does not."""
        self._end(signal.SIGTERM, seconds)

    def kill(self) -> None:
        """End it at once (SIGKILL)."""
        self._end(signal.SIGKILL, 20.0)

    def restart(self) -> None:
        """Kill it and start it again."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Let it stand still (SIGSTOP) until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after `pause`."""
        self._signal(signal.SIGCONT)

    def memory(self) -> int:
        """Bytes of memory that it holds now."""
        if self._process is None:
            return 0
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self) -> float:
        """Seconds of processor time that it has used."""
        if self._process is None:
            return 0.0
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def last_words(self, lines: int = 15) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None and self.running, f"{self.name} does not run"
        self._process.send_signal(number)

    def _end(self, number: signal.Signals, seconds: float) -> None:
        if not self.running:
            return
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(number)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(seconds)
