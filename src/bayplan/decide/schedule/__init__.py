"""Choose which timed requests to serve, and on which machine (002)."""

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.registry import SCHEDULERS
from bayplan.decide.schedule.signature import ScheduleOptions, Scheduler

__all__ = ["SCHEDULERS", "ScheduleOptions", "ScheduleProblem", "Scheduler"]
