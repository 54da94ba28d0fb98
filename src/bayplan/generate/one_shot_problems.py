"""Random one-shot problems as in [Online clusters] §VI."""

import numpy as np

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem

FREE = 10  # B of every zone and resource: what one request may use
UNIT = 1_000_000  # base units of one: amounts are whole numbers


def random_case(
    rng: np.random.Generator,
    members: int = 5,
    zones: int = 9,
    resources: int = 2,
    same_zone: bool = False,
    *,
    largest: float = 1.0,
) -> OneShotProblem:
    """P_vs and P_v1,v2,s1,s2 uniform on [0, 1]; B = 10; no limit on links, which (4) has not.

    `same_zone`: traffic within a zone costs as much as any other; else nothing, which is (4) to the letter. `largest`: demands
    are uniform on (0, largest]. [Online clusters] takes them from a trace whose machines have 1 of each resource, so that one
    zone always holds eight members; with more than 10 / members (4a) can bind.
    """
    link = rng.random((members * members, zones, zones))
    if not same_zone:
        link[:, np.arange(zones), np.arange(zones)] = 0.0
    return OneShotProblem(
        cost=rng.random((members, zones)),
        demand=np.ceil((1.0 - rng.random((members, resources))) * largest * UNIT),
        free=np.full((zones, resources), FREE * UNIT),
        traffic=1.0 - np.eye(members),
        link=link,
        pair=np.arange(members * members).reshape(members, members),
        bandwidth=np.full((zones, zones), np.inf),
    )
