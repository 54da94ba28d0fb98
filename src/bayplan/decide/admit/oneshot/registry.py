"""All one-shot methods by name."""

from collections.abc import Mapping

from bayplan.decide.admit.oneshot.exact import exact
from bayplan.decide.admit.oneshot.greedy import greedy
from bayplan.decide.admit.oneshot.local import local
from bayplan.decide.admit.oneshot.nscd import nscd
from bayplan.decide.admit.oneshot.sampling import sampling
from bayplan.decide.admit.oneshot.signature import OneShot

ONE_SHOTS: Mapping[str, OneShot] = {
    "local": local,
    "greedy": greedy,
    "sampling": sampling,
    "exact": exact,
    "nscd": nscd,
}
