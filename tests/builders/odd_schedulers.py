"""Schedulers that other processes can import: one kills its process once, one takes long, one takes note of its budget."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.model import Result, Schedule


def dying_once(problem: ScheduleProblem, options: ScheduleOptions, *, marks: str, **more: Any) -> Result[Schedule]:
    """On two machines it kills its process the first time."""
    if problem.fleet.size == 2 and not Path(marks, "died").exists():
        Path(marks, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return SCHEDULERS["cradle+"](problem, options, **more)


def dying_always(problem: ScheduleProblem, options: ScheduleOptions, *, marks: str = "", **more: Any) -> Result[Schedule]:
    """On two machines it kills its process again and again, after the others have ended."""
    if problem.fleet.size == 2:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    return SCHEDULERS["cradle+"](problem, options, **more)


def slow_on_many(problem: ScheduleProblem, options: ScheduleOptions, *, marks: str, **more: Any) -> Result[Schedule]:
    """On more than three machines it takes ten minutes, whatever it is allowed."""
    Path(marks, str(problem.fleet.size)).touch()
    if problem.fleet.size > 3:
        time.sleep(600)
    return SCHEDULERS["cradle+"](problem, options, **more)


def noting(problem: ScheduleProblem, options: ScheduleOptions, *, marks: str, **more: Any) -> Result[Schedule]:
    """Writes the seconds that it is allowed."""
    Path(marks, str(problem.fleet.size)).write_text(str(more["budget"].seconds))
    return SCHEDULERS["cradle+"](problem, options, **more)


def slow(problem: ScheduleProblem, options: ScheduleOptions, *, marks: str = "", **more: Any) -> Result[Schedule]:
    """Takes two seconds more."""
    time.sleep(2.0)
    return SCHEDULERS["cradle+"](problem, options, **more)
