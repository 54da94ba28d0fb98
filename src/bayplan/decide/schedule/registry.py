"""All schedulers by name."""

from collections.abc import Mapping

from bayplan.decide.schedule.cradle import cradle, cradle_plus
from bayplan.decide.schedule.signature import Scheduler

SCHEDULERS: Mapping[str, Scheduler] = {
    "cradle+": cradle_plus,
    "cradle": cradle,
}
