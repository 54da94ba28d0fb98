"""Examples of calls of the kernels of the search, with the types that decisions use."""

import numpy as np

from bayplan.kernels.search.delta_cost import LoadPrices, reweight
from bayplan.kernels.search.evaluate_all import evaluate_all, new_evaluation
from bayplan.kernels.search.feasible import fits
from bayplan.kernels.search.incumbent import restore_best, write_out
from bayplan.kernels.search.lift_drop import drop, lift, move_all, place_start
from bayplan.kernels.search.neighbours import NeighbourhoodSearch, local_search
from bayplan.kernels.search.noisy import VisitSettings, visit
from bayplan.kernels.search.place_greedy import FEWEST, PlacementScratch, Scoring, ServiceIndex, place_in_order
from bayplan.kernels.search.repair import bring_together, repair_items
from bayplan.kernels.search.sweep import cool_down, empty_spare, measure_utilisation, relieve_hot
from bayplan.kernels.search.walk import StepSettings, cost_scale, new_mixture, walk
from bayplan.kernels.search.warmup_data import tiny_incumbent, tiny_lifted_set, tiny_state


def warm_up() -> None:
    """Call everything that a decision calls."""
    state, items, rng, incumbent = tiny_state(), np.arange(2), np.ones(1, dtype=np.uint64), tiny_incumbent()
    place_start(state, items)
    move_all(state, items)
    repair_items(state, items, new_evaluation(2, 1))
    lift(state, 0)
    evaluate_all(state, 0, new_evaluation(2, 1))
    fits(state, 0, 0)
    drop(state, 0, 0)
    bring_together(state, items[:1], 0, np.zeros(1, dtype=np.int64))
    _warm_up_greedy_placement()
    ones = np.ones(3, dtype=np.int64)
    settings, mixture = StepSettings(shift_tries=1, eject_tries=1, eject_finds=1, scan=1), new_mixture(ones, ones)
    walk(state, items, items, settings, mixture, rng, 1.0, True, 1, incumbent, tiny_lifted_set())
    cost_scale(state, items, rng, np.zeros(2), np.zeros(2))
    write_out(incumbent, state)
    restore_best(state, incumbent)
    reweight(state, LoadPrices(overload=np.zeros(1), mean=np.zeros(1), square=np.zeros(2)), np.ones(1))
    _warm_up_baselines()


def _warm_up_greedy_placement() -> None:
    """On a state where nothing is placed."""
    index, two = np.arange(3), np.zeros(2, dtype=np.int64)
    services = ServiceIndex(kind_start=index, service=two, own_size=two + 1, service_start=index, item=index[:2].copy())
    scratch = PlacementScratch(two.copy(), two.copy(), np.zeros(2), two[:1].copy())
    rng = np.ones(1, dtype=np.uint64)
    place_in_order(tiny_state(), index[:2], Scoring(FEWEST, np.zeros((1, 1))), services, rng, scratch)


def _warm_up_baselines() -> None:
    """On a state where all is placed."""
    state, items, incumbent = tiny_state(), np.arange(2), tiny_incumbent()
    rng, scratch, utilisation = np.ones(1, dtype=np.uint64), np.zeros(2, dtype=np.int64), np.zeros(2)
    place_start(state, items)
    measure_utilisation(state, utilisation)
    cool_down(state, 1, utilisation, np.zeros(3, dtype=np.int64), incumbent, scratch)
    empty_spare(state, 0, items[1:], utilisation, incumbent, scratch)
    relieve_hot(state, 0, items[1:], utilisation, incumbent, scratch)
    visit(state, VisitSettings(items, rng, incumbent, tiny_lifted_set(), 1, 0.3, 0.3, False), 2, 1)
    data = NeighbourhoodSearch(utilisation, items.copy(), 1, rng, incumbent, np.zeros(4, dtype=np.int64), np.zeros(1))
    local_search(state, data, 1, 1, np.zeros(1, dtype=np.int64))
