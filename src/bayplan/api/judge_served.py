"""Judge an answer of `schedule` that somebody has written down."""

from dataclasses import replace
from pathlib import Path

from bayplan.api.judge import Judged
from bayplan.api.schedule_wishes import ScheduleWishes, schedule_question
from bayplan.check import check_schedule
from bayplan.formats import read_served


def judge_served(wishes: ScheduleWishes, answer: Path) -> tuple[Judged, tuple[str, ...]]:
    """What the referee says about it, and notes about the requests."""
    question = schedule_question(replace(wishes, bound=False))
    requests = question.problem.requests
    schedule = read_served(answer, requests)
    served = schedule.served
    judged = Judged(
        name=wishes.file.name,
        score={"value": float(requests.value[served].sum()), "served": len(served) / max(1, len(requests.name))},
        violations=check_schedule(requests, schedule, question.problem.fleet),
    )
    return judged, question.notes
