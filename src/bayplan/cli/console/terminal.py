"""What goes to stderr while we work: notes, and a progress bar on anything over two seconds."""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy is not needed to print --help
    from bayplan.model import Progress, Tick

PATIENCE = 2.0  # seconds before a progress bar appears


def note(lines: Iterable[str], *, quiet: bool) -> None:
    """Say things on stderr, unless the user wants quiet."""
    if quiet:
        return
    from bayplan.report.names import printable

    for line in lines:
        print(f"note: {printable(line)}", file=sys.stderr)


def warn(line: str) -> None:
    """Say something on stderr that even those who want quiet must know."""
    from bayplan.report.names import printable

    print(f"bayplan: {printable(line)}", file=sys.stderr)


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator["Progress"]:
    """A progress callback; a bar shows up on stderr if the work takes over two seconds."""
    if quiet:
        yield lambda tick: None
        return
    bar = _LateBar(what)
    try:
        yield bar.tick
    finally:
        bar.stop()


class _LateBar:
    """A rich progress bar that starts itself after `PATIENCE` seconds, from a timer thread."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last: Tick | None = None
        self._bar: object | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True
        self._timer.start()

    def tick(self, tick: "Tick") -> None:
        self._say_once(tick)
        self._last = tick
        self._refresh()

    def _say_once(self, tick: "Tick") -> None:
        """Where no bar can be shown, say at least what takes long and happens once."""
        from bayplan.api.warm_up import COMPILING

        if self._last is None and tick.stage.startswith(COMPILING) and not sys.stderr.isatty():
            note([tick.stage], quiet=False)

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._stopped = True  # the timer may be on its way
            if self._bar is not None:
                self._bar.stop()  # type: ignore[attr-defined]

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with self._lock:
            if self._stopped:
                return
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = bar.add_task(self._what, total=None)
            started = bar.tasks[0].start_time
            bar.tasks[0].start_time = None if started is None else started - PATIENCE
            bar.start()
            self._bar = bar
        self._refresh()

    def _refresh(self) -> None:
        if self._bar is None or self._last is None:
            return
        score = "" if self._last.score is None else f" {self._last.score:.6g}"
        self._bar.update(  # type: ignore[attr-defined]
            self._task, description=f"{self._last.stage}{score}", total=1.0, completed=self._last.done
        )
