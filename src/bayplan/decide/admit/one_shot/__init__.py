"""Place the members of one request: IQP (4) of [Online clusters]."""

from collections.abc import Mapping

from bayplan.decide.admit.one_shot.greedy import greedy, nscd
from bayplan.decide.admit.one_shot.one_shot_problem import OneShot, OneShotOptions, OneShotPlacement, OneShotProblem
from bayplan.decide.admit.one_shot.sampling import sampling
from bayplan.decide.admit.one_shot.tree_search import exact, local

ONE_SHOTS: Mapping[str, OneShot] = {
    "local": local,
    "greedy": greedy,
    "sampling": sampling,
    "exact": exact,
    "nscd": nscd,
}

__all__ = ["ONE_SHOTS", "OneShot", "OneShotOptions", "OneShotPlacement", "OneShotProblem"]
