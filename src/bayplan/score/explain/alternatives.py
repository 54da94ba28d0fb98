"""Would the container be better off elsewhere? The objective, here and on the likeliest machines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, Objective, Placement, ints
from bayplan.score.terms import weighted

EMPTIEST = 8  # of the machines that fit, those it would fill least
NEAREST = 8  # and those where most of its partners run
ROUNDING = 1e-12  # relative to the objective: a smaller change is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One machine that can take the container."""

    machine: str
    change: float  # of the objective if it ran there; negative is better


def alternatives(
    cluster: Cluster, placement: Placement, objective: Objective, members: IntArray, candidates: Sequence[int]
) -> tuple[Alternative, ...]:
    """The candidates by the objective after `members` moved there, best first, ties in the order given."""
    now = weighted(cluster, placement, objective, placement)
    found = [
        Alternative(
            machine=cluster.machines.name[m],
            change=_beyond_rounding(weighted(cluster, _moved(placement, members, m), objective, placement) - now, now),
        )
        for m in candidates
    ]
    return tuple(sorted(found, key=lambda alternative: alternative.change))


def _beyond_rounding(change: float, now: float) -> float:
    return 0.0 if abs(change) <= ROUNDING * max(1.0, abs(now)) else change


def likely(fits: Sequence[int], partners: FloatArray) -> list[int]:
    """Of the machines that fit (emptiest first), the emptiest and those with most partners (machine,)."""
    near = sorted((m for m in fits if partners[m] > 0), key=lambda m: -partners[m])
    return list(dict.fromkeys([*near[:NEAREST], *fits[:EMPTIEST]]))


def _moved(placement: Placement, members: IntArray, machine: int) -> Placement:
    machine_of = np.array(placement.machine_of)
    machine_of[members] = machine
    return Placement(machine_of=ints(machine_of))
