"""Check an answer of `schedule` that was written down."""

from pathlib import Path

from bayplan.api.judge import Judged
from bayplan.check import check_schedule
from bayplan.decide.schedule import ScheduleProblem
from bayplan.formats import read_served


def judge_served(problem: ScheduleProblem, answer: Path, name: str) -> Judged:
    """What the referee says about it."""
    requests = problem.requests
    schedule = read_served(answer, requests)
    served = schedule.served
    return Judged(
        name=name,
        score={"value": float(requests.value[served].sum()), "served": len(served) / max(1, len(requests.name))},
        violations=check_schedule(requests, schedule, problem.fleet),
    )
