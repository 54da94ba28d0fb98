"""What `schedule` says: one JSON object or tables."""

from typing import TYPE_CHECKING

from bayplan.cli.screen import print_object, print_report

if TYPE_CHECKING:
    from bayplan.api.schedule import Scheduling
    from bayplan.api.schedule_sweep import Sweep


def scheduling(found: "Scheduling", *, method: str, seed: int, wall: float, as_json: bool) -> None:
    """A schedule: value, who is served by class, how full the machines are, how near the best, why others are not served."""
    from bayplan.api.schedule import schedule_object
    from bayplan.report import json
    from bayplan.report.answers.schedule_tables import schedule_report

    if as_json:
        answer = json.decision_object(found.result, method=method, seed=seed, placed=found.figures.served)
        print_object({**answer, **schedule_object(found), "wall_seconds": wall})
    else:
        print_report(schedule_report(found.result, found.figures, method=method, seed=seed))


def sweep(found: "Sweep", *, wall: float, as_json: bool) -> None:
    """What several numbers of machines are good for."""
    from bayplan.api.schedule_sweep import sweep_object
    from bayplan.report.answers.sweep_tables import sweep_report

    answer = {**sweep_object(found), "wall_seconds": wall}
    if as_json:
        print_object(answer)
    else:
        requests = len(found.question.problem.requests.name)
        print_report(sweep_report(found.points, found.smallest, method=found.method, requests=requests))
