"""Capacity planning: the answers on several numbers of machines, the fewest that serve a share, the worth of one more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.api.schedule_fewest import fewest, tightened
from bayplan.api.schedule_sweep_files import save
from bayplan.api.schedule_sweeper import Sweeper
from bayplan.api.schedule_wishes import MOST_MACHINES, ScheduleQuestion
from bayplan.errors import UsageError
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import Budget, Tick
from bayplan.model.interrupt import stoppable
from bayplan.report.answers.sweep_page import SweepPageData, sweep_page
from bayplan.report.answers.sweep_tables import FewestMachines, SweepPoint, slopes
from bayplan.report.page import how_made

POINTS = 20  # of a sweep whose step is not stated
BESIDE_FEWEST = 0.7  # of the time for the numbers that are asked for, if the fewest machines are looked for, too


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRange:
    """As it stands on the command line: 50:1000, or 50:1000:50."""

    low: int
    high: int
    step: int | None = None

    @classmethod
    def read(cls, text: str) -> "SweepRange":
        """The range that a text says; UsageError if it says none."""
        parts = text.split(":")
        good = len(parts) in (2, 3) and all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
        low, high, step = ([*map(int, parts), None][:3]) if good else (1, 0, None)
        if low is None or high is None or not low <= high <= MOST_MACHINES or step == 0:
            raise UsageError(f"--sweep '{text}': expected FEW:MANY or FEW:MANY:STEP, such as 50:1000 or 50:1000:50")
        return cls(low=low, high=high, step=step)

    @property
    def machines(self) -> list[int]:
        """The numbers to try: first the ends, then always in the middle of the widest gap, so that any part is a picture."""
        if self.step is not None:
            every = sorted({*range(self.low, self.high + 1, self.step), self.high})
        else:
            every = sorted(
                set(np.linspace(self.low, self.high, min(POINTS, self.high - self.low + 1)).round().astype(int).tolist())
            )
        return [every[k] for k in _halving(len(every))]


def _halving(many: int) -> Iterator[int]:
    """0, the last, the middle, the middles of both halves, ..."""
    yield from dict.fromkeys([0, many - 1])
    waiting = [(0, many - 1)]
    while waiting:
        low, high = waiting.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            yield middle
            waiting += [(low, middle), (middle, high)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """What was found."""

    question: ScheduleQuestion
    method: str
    seed: int
    points: tuple[SweepPoint, ...]  # by number of machines
    smallest: FewestMachines | None
    interrupted: bool  # the user, or the end of the time, cut it short
    left: int  # numbers of machines that were not tried


def sweep(sweeper: Sweeper, machines: Sequence[int], *, serve: float | None = None, out: Path | None = None) -> Sweep:
    """The answers on these numbers of machines, and the fewest machines that serve a share. Ctrl-C keeps what there is.

    `out` is written after every answer: a sweep can be resumed from it.
    """
    wanted = [m for m in machines if m not in sweeper.known]
    smallest, done, part = None, 0, 1.0 if serve is None else BESIDE_FEWEST
    with stoppable() as stop:

        def over() -> bool:
            return stop.requested or (bool(sweeper.known) and sweeper.clock.expired())

        for few in wanted:
            if over():
                break
            sweeper.at(few, part / (len(wanted) - part * done))
            done += 1
            sweeper.progress(Tick(stage=f"{few:,} machines", done=done / len(wanted), score=sweeper.known[few].value))
            if out is not None:
                save(sweeper, out)
        if serve is not None and not over():
            smallest = fewest(sweeper, serve, over)
        interrupted = stop.requested or done < len(wanted) or (serve is not None and smallest is None)
    if out is not None:
        save(sweeper, out)
    return Sweep(
        question=sweeper.question,
        method=sweeper.method,
        seed=sweeper.seed,
        points=tuple(tightened(sweeper.points, sweeper.unit)),
        smallest=smallest,
        interrupted=interrupted,
        left=len(wanted) - done,
    )


def sweep_object(found: Sweep) -> Mapping[str, Any]:
    """What `schedule --sweep` says as JSON."""
    requests = found.question.problem.requests
    total = len(requests.name)
    steps = zip(found.points, slopes(found.points), strict=True)
    rows = [
        {**asdict(point), "share": point.served / max(1, total), "gap": point.gap, "one_more_adds": slope}
        for point, slope in steps
    ]
    return {
        "method": found.method,
        "seed": found.seed,
        "requests": total,
        "value_asked": float(requests.value.sum()),
        "sweep": rows,
        "smallest": None if found.smallest is None else asdict(found.smallest),
        "interrupted": found.interrupted,
        "not_tried": found.left,
    }


def write_sweep_page(found: Sweep, report: Path, made: Mapping[str, str]) -> None:
    """Write the page."""
    requests = found.question.problem.requests
    data = SweepPageData(
        name=found.question.name,
        method=found.method,
        requests=len(requests.name),
        requested=float(requests.value.sum()),
        points=found.points,
        fewest=found.smallest,
        interrupted=found.interrupted,
        notes=found.question.notes,
    )
    write_text_atomically(report, sweep_page(data, made=how_made(**made)))


def sweep_budget(seconds: float, used: float, threads: int) -> Budget:
    """What a sweep may use of a user's seconds."""
    return Budget(seconds=max(0.0, 0.98 * (seconds - used)), threads=threads)
