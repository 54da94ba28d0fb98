"""The last stop of the tour: timed requests for more than there is room for."""

from collections.abc import Mapping
from pathlib import Path

from bayplan.api.schedule import Scheduling, page_data, schedule, write_scheduling
from bayplan.api.schedule_wishes import ScheduleQuestion
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.formats.requests.document import write_requests
from bayplan.kernels.schedule.warmup import warm_up
from bayplan.model import Budget, TimedRequests
from bayplan.report.answers.schedule_page import load_rows
from bayplan.report.pictures.served import timed_load

BOUND_SECONDS = 2.0


def served(requests: TimedRequests, machines: int) -> Scheduling:
    """Who is served on so many machines, by Cradle+, beside what is proven to be possible."""
    warm_up()  # or the compiler takes the seconds of the bound
    problem = ScheduleProblem.alike(requests, machines)
    question = ScheduleQuestion(problem=problem, options=ScheduleOptions(), name="requests")
    return schedule(question, SCHEDULERS["cradle+"], budget=Budget(seconds=BOUND_SECONDS))


def drawn(scheduling: Scheduling) -> str:
    """What is asked for and served over time, as an SVG document."""
    rows = load_rows(page_data(scheduling))
    return timed_load(list(rows), title=f"{scheduling.question.name}: load over time")


def write_served_requests(folder: Path, scheduling: Scheduling, *, command: str) -> Mapping[str, str]:
    """Write requests, who is served, and the page; what was written, by what it is."""
    file, answer, page = folder / "requests.json", folder / "served.json", folder / "schedule.html"
    write_requests(file, scheduling.question.problem.requests)
    write_scheduling(scheduling, out=answer, report=page, made={"command": command})
    return {"timed requests": str(file), "served": str(answer), "load over time": str(page.resolve())}
