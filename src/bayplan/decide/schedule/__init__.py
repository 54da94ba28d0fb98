"""Choose which timed requests to serve, and on which machine [Cradle]."""

from collections.abc import Mapping

from bayplan.decide.schedule.cradle import cradle, cradle_dp, cradle_plus
from bayplan.decide.schedule.ilp import ilp
from bayplan.decide.schedule.local import local
from bayplan.decide.schedule.online import online
from bayplan.decide.schedule.options import ScheduleOptions, Scheduler
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.round_robin import bin_packing, spread

SCHEDULERS: Mapping[str, Scheduler] = {
    "cradle+": cradle_plus,
    "cradle": cradle,
    "cradle-dp": cradle_dp,
    "ilp": ilp,
    "local": local,
    "online": online,
    "bin-packing": bin_packing,
    "spread": spread,
}

__all__ = ["SCHEDULERS", "ScheduleOptions", "ScheduleProblem", "Scheduler"]
