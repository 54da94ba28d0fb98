"""All schedulers by name."""

from collections.abc import Mapping

from bayplan.decide.schedule.cradle import cradle, cradle_plus
from bayplan.decide.schedule.cradle_dp import cradle_dp
from bayplan.decide.schedule.ilp import ilp
from bayplan.decide.schedule.in_turn import bin_packing, spread
from bayplan.decide.schedule.local import local
from bayplan.decide.schedule.online import online
from bayplan.decide.schedule.signature import Scheduler

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
