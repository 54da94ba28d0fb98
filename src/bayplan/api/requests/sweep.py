"""Capacity planning: schedules on several numbers of machines, the fewest that serve a share, the value of one more."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayplan.api.answer import Answer, PathLike
from bayplan.api.control import Control, ParallelKeywords, options_from
from bayplan.api.registry import method_of
from bayplan.api.requests.schedule import ScheduleCall, schedule_options
from bayplan.api.requests.sweep_points import SweepRun
from bayplan.api.requests.timed_problem import timed_problem
from bayplan.decide.schedule.machine_sweep import MOST_MACHINES, MachineSweep
from bayplan.engine import engine_of
from bayplan.errors import UsageError
from bayplan.formats.requests import RequestsFile
from bayplan.model import Result, Status, TimedRequests
from bayplan.score.machine_sweep import FewestMachines, SweepPoint, slopes, tightened

if TYPE_CHECKING:
    from bayplan.report.table import Report

POINTS = 20  # of a range without a step
FINISH = 0.02  # of the seconds, to write the answer


class SweepKeywords(ParallelKeywords, total=False):
    """What else a call may state."""

    capacity: Mapping[str, str | float] | None  # of one machine, by resource, instead of that of the requests
    forecast: TimedRequests | None  # for the method online: requests like those to come
    resume: PathLike | None  # a file that an earlier sweep of the same requests has written: it goes on from there
    checkpoint: PathLike | None  # a file that is written after every answer, to resume from


@dataclass(frozen=True, slots=True, kw_only=True)
class _SweepCall(ScheduleCall):
    """The keywords of a call that are not about how it is run."""

    resume: PathLike | None = None
    checkpoint: PathLike | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepAnswer(Answer[tuple[SweepPoint, ...]]):
    """What each number of machines is good for; score and bound are those of the most machines."""

    requests: TimedRequests
    fewest: FewestMachines | None  # that serve the stated share
    not_tried: int = 0  # numbers of machines for which there was no time
    complete: bool = True  # False: it was cut short, by the user or by the end of the seconds
    computed: tuple[SweepPoint, ...] = ()  # the points before their bounds tightened each other: what a file keeps
    name: str = "requests"

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """The answers by number of machines."""
        return self.result.solution or ()

    @property
    def placed(self) -> int:
        """How many requests the most machines serve."""
        return self.points[-1].served if self.points else 0

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.sweep_tables import sweep_headline

        return sweep_headline(self.points, self.fewest)

    def content(self) -> "Report":
        """The fewest machines, and one line for each number of machines."""
        from bayplan.report.answers.sweep_tables import sweep_report

        return sweep_report(self.points, self.fewest, method=self.method, requests=len(self.requests.name))

    def details(self) -> Mapping[str, Any]:
        """The points, the fewest machines, and how many numbers of machines were not tried."""
        total = len(self.requests.name)
        rows = [
            {**asdict(point), "share": point.served / max(1, total), "gap": point.gap, "one_more_adds": slope}
            for point, slope in zip(self.points, slopes(self.points), strict=True)
        ]
        return {
            "requests": total,
            "requested_value": float(self.requests.value.sum()),
            "sweep": rows,
            "fewest": None if self.fewest is None else asdict(self.fewest),
            "not_tried": self.not_tried,
            "complete": self.complete,
        }

    def save(self, path: PathLike) -> None:
        """Write the points: a later call can resume from the file."""
        _write_points(Path(path), self.requests, self.method, self.seed, self.computed)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: value, served share and the value of one machine more."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.sweep_page import SweepPageData, sweep_page
        from bayplan.report.page import how_made

        data = SweepPageData(
            name=self.name,
            method=self.method,
            requests=len(self.requests.name),
            requested=float(self.requests.value.sum()),
            points=self.points,
            fewest=self.fewest,
            interrupted=not self.complete,
            notes=self.notes,
        )
        write_text_atomically(path, sweep_page(data, made=how_made(command, seed=self.seed)))


def sweep_machines(
    requests: TimedRequests | RequestsFile,
    machines: Sequence[int] = (),
    *,
    serve: float | None = None,
    method: str = "cradle+",
    seconds: float = 30.0,
    seed: int = 0,
    weights: str = "given",
    profit: Mapping[str, float] | None = None,
    bound: bool = True,
    **options: Unpack[SweepKeywords],
) -> SweepAnswer:
    """What each of several numbers of machines is good for, and the fewest that serve a share of the requests.

    `serve`: a share, such as 0.95. The other arguments are those of `schedule`. Numbers of machines are answered as many at a
    time as `threads` says, where `engine` says (see `bp.engine`); the fewest machines are sought one after the other, in this
    process. The same budget without seconds gives the same points on any engine. Ctrl-C keeps the answers so far.

    >>> import bayplan as bp
    >>> from bayplan.api.requests.sweep import sweep_machines
    >>> day = bp.generate("requests", n=200, machines=4, load=2.0)
    >>> answer = sweep_machines(day, [2, 4, 8], engine="here")
    >>> [point.machines for point in answer.points]
    [2, 4, 8]
    """
    if serve is not None and not 0 < serve <= 1:
        raise UsageError(f"serve {serve}: expected a share above 0 and at most 1, such as 0.95")
    for number in machines:
        if not 0 <= number <= MOST_MACHINES:
            raise UsageError(f"machines {number}: expected 0 to {MOST_MACHINES:,}")
    control, scheduler = Control.of(seconds, seed, options), method_of("schedule", method)
    call = options_from(_SweepCall, {name: value for name, value in options.items() if name != "engine"})
    problem = timed_problem(requests, 0, capacity=call.capacity, weights=weights, profit=profit)
    control = control.after_compiling(("schedule", method))
    sweep = MachineSweep(
        requests=problem.requests,
        options=schedule_options(problem, method, call, weights=weights, profit=profit, bound=bound),
        method=method,
        scheduler=scheduler,
        seed=seed,
        known={} if call.resume is None else read_points(call.resume, problem.requests, method, seed),
        clock=control.method_budget(FINISH * seconds).clock(),
        progress=control.progress,
    )

    def keep() -> None:
        if call.checkpoint is not None:
            _write_points(Path(call.checkpoint), sweep.requests, method, seed, sweep.points)

    workers = max(control.threads, sweep.clock.budget.threads)
    run = SweepRun(sweep=sweep, engine=control.engine or engine_of("pool"), workers=workers, keep=keep)
    end = run.run(machines, serve)
    points = tuple(tightened(sweep.points, sweep.unit))
    return SweepAnswer(
        verb="schedule",
        method=method,
        seed=seed,
        result=_result(points, problem.requests, control.seconds, end.notes),
        seconds=control.seconds,
        interrupted=end.interrupted,
        input_notes=requests.notes if isinstance(requests, RequestsFile) else (),
        requests=problem.requests,
        fewest=end.fewest,
        not_tried=end.not_tried,
        computed=tuple(sweep.points),
        complete=not (end.interrupted or end.not_tried or (serve is not None and end.fewest is None)),
    )


def _result(
    points: tuple[SweepPoint, ...], requests: TimedRequests, seconds: float, notes: tuple[str, ...]
) -> Result[tuple[SweepPoint, ...]]:
    about: dict[str, Any] = {"goal": "value", "seconds": seconds, "notes": notes}
    if not points:
        return Result(status=Status.OUT_OF_BUDGET, solution=None, **about)
    most = points[-1]
    score = {"value": most.value, "served": most.served / max(1, len(requests.name))}
    return Result(status=Status.FEASIBLE, solution=points, score=score, bound=most.bound, **about)


def machine_numbers(low: int, high: int, step: int | None = None) -> list[int]:
    """The numbers of a range, first the ends, then always the middle of the widest gap, so that any part shows the curve.

    Without a step, at most 20 numbers.
    """
    if step is not None:
        numbers = sorted({*range(low, high + 1, step), high})
    else:
        numbers = sorted(set(np.linspace(low, high, min(POINTS, high - low + 1)).round().astype(int).tolist()))
    return [numbers[k] for k in _halving(len(numbers))]


def _halving(count: int) -> Iterator[int]:
    """0, the last, the middle, the middles of both halves, ..."""
    yield from dict.fromkeys([0, count - 1])
    queue = [(0, count - 1)]
    while queue:
        low, high = queue.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            yield middle
            queue += [(low, middle), (middle, high)]


def _identity(requests: TimedRequests, method: str, seed: int) -> dict[str, Any]:
    """What a sweep is of: points of another one cannot be mixed in."""
    capacity = {resource.name: int(has) for resource, has in zip(requests.resources, requests.capacity, strict=True)}
    work = float((requests.end - requests.start) @ requests.demand.sum(axis=1)) if len(requests.name) else 0.0
    return {
        "requests": len(requests.name),
        "value": float(requests.value.sum()),
        "work": work,
        "capacity": capacity,
        "method": method,
        "seed": seed,
    }


def _write_points(path: Path, requests: TimedRequests, method: str, seed: int, points: Sequence[SweepPoint]) -> None:
    """Write the file that `read_points` reads."""
    from bayplan.formats.document.text import write_text_atomically

    rows = ",\n  ".join(json.dumps(asdict(point)) for point in sorted(points, key=lambda point: point.machines))
    sweep_of = json.dumps(_identity(requests, method, seed))
    write_text_atomically(path, f'{{\n "sweep_of": {sweep_of},\n "sweep": [\n  {rows}\n ]\n}}\n')


def read_points(path: PathLike, requests: TimedRequests, method: str, seed: int) -> dict[int, SweepPoint]:
    """The points of an earlier sweep of the same requests; UsageError if it is of something else."""
    from bayplan.formats.document.text import read_document

    document = read_document(Path(path))
    if not isinstance(document, dict) or document.keys() != {"sweep_of", "sweep"}:
        raise UsageError(f"'{path}' is no sweep to resume; expected a file that a sweep has written")
    identity = _identity(requests, method, seed)
    if document["sweep_of"] != identity:
        other = document["sweep_of"] if isinstance(document["sweep_of"], dict) else {}
        differs = [name for name in identity if other.get(name) != identity[name]]
        raise UsageError(f"'{path}' is a sweep of something else ({', '.join(differs)} differ); expected the same requests")
    try:
        points = [SweepPoint(**row) for row in document["sweep"]]
    except TypeError:
        raise UsageError(f"'{path}' is no sweep to resume; expected a file that a sweep has written") from None
    return {point.machines: point for point in points}
