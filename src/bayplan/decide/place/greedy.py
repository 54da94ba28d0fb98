"""The frame of 000 Algorithm 1: sort the new containers, give each one the machine that suits it best."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import NOWHERE
from bayplan.kernels.search.place_greedy import Desk, Kin, Taste, place_in_order
from bayplan.model import FloatArray, IntArray, Placement
from bayplan.model.problem import Problem
from bayplan.search.blocks import view
from bayplan.search.game import Game, new_game


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """What tells one greedy method from another."""

    size: Callable[[Game], FloatArray] | None  # (kind,) the largest first; None: in the order of the input
    taste: Callable[[Game], Taste]
    candidates: int  # machines among which the service decides


def placed_greedily(problem: Problem, strategy: Strategy, seed: int) -> Placement:
    """The start with every container in it that found a machine.

    What fits nowhere is tried again after the others, as long as that places something: a service may need another
    one that is new too.
    """
    chance = np.array([_first_state(seed)], dtype=np.uint64)
    placement = problem.start
    while True:
        game = new_game(replace(problem, start=placement))
        _place_on(game, strategy, chance)
        if not _lists_are_full(game):
            return game.placement()
        placement = game.placement()  # a larger board has room for more items on a machine


def _place_on(game: Game, strategy: Strategy, chance: npt.NDArray[np.uint64]) -> None:
    waiting = in_order(game, strategy)
    kin, desk, taste = kin_of(game), _desk(game, strategy.candidates), strategy.taste(game)
    while len(waiting) and place_in_order(game.board, waiting, taste, kin, chance, desk):
        waiting = waiting[game.machine_of[waiting] == NOWHERE]


def in_order(game: Game, strategy: Strategy) -> IntArray:
    """The items without a machine, largest first; among equals by their first container (lines 3 and 5)."""
    new = np.flatnonzero(game.machine_of == NOWHERE)
    new = new[np.argsort(game.items.first[new], kind="stable")]
    if strategy.size is None:
        return new
    return np.asarray(new[np.argsort(-strategy.size(game)[game.items.kind_of[new]], kind="stable")], dtype=np.int64)


def kin_of(game: Game) -> Kin:
    """The services of each kind, and where the containers of each service are to be looked up."""
    cluster, items = game.cluster, game.items
    service_of = cluster.workloads.service
    services = [[s] for s in service_of.tolist()] + [sorted(set(service_of[list(unit)].tolist())) for unit in items.units]
    owner = service_of[cluster.containers.workload]
    sizes = np.bincount(owner, minlength=len(cluster.services.name))
    return Kin(
        kind_start=np.r_[0, np.cumsum([len(some) for some in services])].astype(np.int64),
        service=np.array([s for some in services for s in some], dtype=np.int64),
        own=np.array([1] * len(service_of) + [len(unit) for unit in items.units], dtype=np.int64),
        service_start=np.r_[0, np.cumsum(sizes)].astype(np.int64),
        item=items.of_container[np.argsort(owner, kind="stable")],
    )


def _desk(game: Game, candidates: int) -> Desk:
    machines = len(game.cluster.machines.name)
    d = max(1, min(candidates, machines))
    counts = np.zeros(machines, dtype=np.int64), np.zeros(machines, dtype=np.int64)
    return Desk(*counts, np.zeros(machines), np.zeros(d, dtype=np.int64))


def _lists_are_full(game: Game) -> bool:
    """Did something stay out while the board's list of a machine was full?"""
    on_size = view(game.board, "on_size", len(game.cluster.machines.name))
    slots = int(game.board.at["slots"][0])
    return bool((game.machine_of == NOWHERE).any() and slots < len(game.machine_of) and (on_size >= slots).any())


def _first_state(seed: int) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) | 1
