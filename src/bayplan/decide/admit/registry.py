"""All admitters by name."""

from collections.abc import Mapping

from bayplan.decide.admit.offline import offline
from bayplan.decide.admit.online import available, learned, primal_dual, swmoa
from bayplan.decide.admit.signature import Admitter

ADMITTERS: Mapping[str, Admitter] = {
    "learned": learned,
    "primal-dual": primal_dual,
    "available": available,
    "swmoa": swmoa,
    "offline": offline,
}
