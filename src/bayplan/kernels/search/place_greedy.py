"""Containers one by one, each on the machine with the best score: the frame of all greedy placements.

Of the machines that an item fits, those with the largest score are the candidates, largest first; among equals those with the
lowest index. Of the candidates, the one with most containers of the item's service is taken; among equals the first.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import uniform
from bayplan.kernels.search.feasible import fits
from bayplan.kernels.search.lift_drop import drop
from bayplan.kernels.search.state import CAPACITY, LOAD, NOWHERE, amount_index
from bayplan.kernels.search.warmup_data import tiny_state

RESIDUAL, FEWEST, FEWEST_OF_SERVICE, RANDOM = range(4)  # what scores a machine


class Scoring(NamedTuple):
    """How machines are scored."""

    mode: int
    weight: npt.NDArray[np.float64]  # RESIDUAL: (kind, resource) score of one free unit, or (1, resource) for all kinds


class ServiceIndex(NamedTuple):
    """The services of each kind, and the item of each container of a service."""

    kind_start: npt.NDArray[np.int64]  # (kind + 1,)
    service: npt.NDArray[np.int64]
    own_size: npt.NDArray[np.int64]  # (kind,) containers of an item
    service_start: npt.NDArray[np.int64]  # (service + 1,)
    item: npt.NDArray[np.int64]


class PlacementScratch(NamedTuple):
    """Scratch of one placement."""

    containers: npt.NDArray[np.int64]  # (machine,) containers
    of_service: npt.NDArray[np.int64]  # (machine,) containers of the services of the kind at hand
    score: npt.NDArray[np.float64]  # (machine,)
    candidate: npt.NDArray[np.int64]  # (d,)


@kernel
def count_of_service(state, k, services, count):
    """Count the containers of the services of kind k on every machine."""
    at, ints = state.at[0], state.ints
    count[:] = 0
    for e in range(services.kind_start[k], services.kind_start[k + 1]):
        s = services.service[e]
        for c in range(services.service_start[s], services.service_start[s + 1]):
            m = ints[at.machine_of + services.item[c]]
            if m != NOWHERE:
                count[m] += 1


@kernel
def count_containers(state, containers):
    """Count the containers on every machine."""
    at, ints = state.at[0], state.ints
    containers[:] = 0
    for i in range(at.items):
        m = ints[at.machine_of + i]
        if m != NOWHERE:
            containers[m] += ints[at.size + ints[at.kind_of + i]]


@kernel
def score_of(state, k, m, scoring, rng, scratch):
    """The score of the machine for an item of kind k."""
    if scoring.mode == FEWEST:
        return np.float64(-scratch.containers[m])
    if scoring.mode == FEWEST_OF_SERVICE:
        return np.float64(-scratch.of_service[m])
    if scoring.mode == RANDOM:
        return uniform(rng)
    at, ints = state.at[0], state.ints
    n_r = at.resources
    load, capacity = amount_index(state, m, LOAD), amount_index(state, m, CAPACITY)
    row = k if len(scoring.weight) > 1 else 0
    score = 0.0
    for r in range(n_r):
        score += scoring.weight[row, r] * (ints[capacity + r] - ints[load + r])
    return score


@kernel
def refresh_scores(state, k, last, scoring, rng, services, scratch):
    """Bring counts and scores up to date for an item of kind k, if the one before was of kind `last` (-1: none was)."""
    if k != last:
        count_of_service(state, k, services, scratch.of_service)
    stays_valid = scoring.mode == FEWEST or (scoring.mode == RESIDUAL and len(scoring.weight) == 1)
    if last == -1 or scoring.mode == RANDOM or (k != last and not stays_valid):
        for m in range(state.at[0].machines):
            scratch.score[m] = score_of(state, k, m, scoring, rng, scratch)


@kernel
def pick_candidates(state, i, scratch):
    """List the d best scored machines that item i fits in `scratch`, best first; their number."""
    d, candidates = len(scratch.candidate), 0
    for m in range(state.at[0].machines):
        score = scratch.score[m]
        if (candidates == d and score <= scratch.score[scratch.candidate[d - 1]]) or not fits(state, i, m):
            continue
        e = candidates if candidates < d else d - 1
        while e > 0 and scratch.score[scratch.candidate[e - 1]] < score:
            scratch.candidate[e] = scratch.candidate[e - 1]
            e -= 1
        scratch.candidate[e] = m
        candidates = min(d, candidates + 1)
    return candidates


@kernel
def most_of_service(candidates, scratch):
    """The candidate with most containers of the same service."""
    best = scratch.candidate[0]
    for e in range(1, candidates):
        if scratch.of_service[scratch.candidate[e]] > scratch.of_service[best]:
            best = scratch.candidate[e]
    return best


@kernel
def place_in_order(state, order, scoring, services, rng, scratch):
    """Place the lifted items in `order`; the number placed. The others stay lifted."""
    at, ints = state.at[0], state.ints
    count_containers(state, scratch.containers)
    placed, last = 0, -1
    for i in order:
        if ints[at.machine_of + i] != NOWHERE:
            continue
        k = ints[at.kind_of + i]
        refresh_scores(state, k, last, scoring, rng, services, scratch)
        last = k
        candidates = pick_candidates(state, i, scratch)  # [FreeContainer] Algorithm 1, line 6
        if candidates > 0:
            m = most_of_service(candidates, scratch)  # line 7
            drop(state, i, m)  # line 8
            scratch.containers[m] += ints[at.size + k]
            scratch.of_service[m] += services.own_size[k]
            scratch.score[m] = score_of(state, k, m, scoring, rng, scratch)
            placed += 1
    return placed


def warm_up() -> None:
    """Compile `place_in_order` by placing nothing on the tiny state."""
    state, none = tiny_state(), np.zeros(0, dtype=np.int64)
    start, machines = np.zeros(2, dtype=np.int64), int(state.at["machines"][0])
    services = ServiceIndex(start, none, none, start, none)
    scratch = PlacementScratch(
        np.zeros(machines, dtype=np.int64), np.zeros(machines, dtype=np.int64), np.zeros(machines), np.zeros(1, dtype=np.int64)
    )
    place_in_order(state, none, Scoring(RESIDUAL, np.zeros((1, 1))), services, np.ones(1, dtype=np.uint64), scratch)
