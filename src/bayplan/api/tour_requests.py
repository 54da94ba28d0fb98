"""The last part of the demo: timed requests for more than the machines can serve."""

from collections.abc import Mapping
from pathlib import Path

from bayplan.api.files import write
from bayplan.api.schedule import ScheduleAnswer, schedule
from bayplan.model import Budget, TimedRequests
from bayplan.report.answers.schedule_page import load_rows
from bayplan.report.pictures.served import timed_load

BOUND_SECONDS = 2.0


def served(requests: TimedRequests, machines: int) -> ScheduleAnswer:
    """Which requests are served on that many machines, by Cradle+, beside what is proven to be possible."""
    return schedule(requests, machines, budget=Budget(seconds=BOUND_SECONDS))


def drawn(answer: ScheduleAnswer) -> str:
    """What is requested and served over time, as an SVG document."""
    return timed_load(list(load_rows(answer.page_data())), title=f"{answer.name}: load over time")


def write_served_requests(folder: Path, answer: ScheduleAnswer, *, command: str) -> Mapping[str, str]:
    """Write requests, which of them are served, and the page; what was written, by what it is."""
    file, served_file, page = folder / "requests.json", folder / "served.json", folder / "schedule.html"
    write(answer.problem.requests, file)
    answer.save(served_file)
    answer.report(page, command=command)
    return {"timed requests": str(file), "served": str(served_file), "load over time": str(page.resolve())}
