"""CSP-Mac as the paper has it: patterns from the diagonal, machines as the only cost, a surplus taken off at random."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.builders.packings import packing, packings, problem_of

import bayplan as bp
from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
from bayplan.decide.pack.csp_mac import _without_surplus, covered_packing
from bayplan.model import UNPLACED, Budget, silent
from bayplan.score.packing import strictest_ucac, ucac_of_counts


def packed(pair, *, method="csp-mac", seed=0, budget=None):
    return PACKERS[method](problem_of(pair), PackOptions(), budget=budget or Budget(seconds=5), seed=seed, progress=silent)


def covered(pair):
    return covered_packing(problem_of(pair), PackOptions(), budget=Budget(seconds=5), seed=0, progress=silent)


def half_empty():
    """Eight machines that run one large container each: what is to be placed fits beside them many times."""
    return packing([40, 5, 5], [4, 3, 1], [8, 10, 10], capacity=[100] * 12, running=[(0, m) for m in range(8)])


def test_no_new_machine_is_used_where_all_requests_fit_beside_what_runs():
    result = packed(half_empty())
    assert result.score["machines"] == 8
    assert len(result.solution.unplaced) == 0


def test_every_machine_that_runs_something_takes_a_pattern_so_patterns_hold_more_than_is_demanded():
    result, pattern_ucac, surplus = covered(half_empty())
    assert surplus > 10 and pattern_ucac > 1.2 * result.score["ucac"]
    assert result.notes[0].startswith(f"the patterns hold {surplus} containers beyond the demand")


def test_it_starts_from_no_heuristic(monkeypatch):
    for module in ("pattern_generation", "integer_master"):
        for name in ("best_fit", "fill_by_uncertainty"):
            monkeypatch.setattr(f"bayplan.decide.pack.{module}.{name}", lambda *_: pytest.fail("a heuristic was asked"))
    assert len(packed(half_empty()).solution.unplaced) == 0


def test_minimising_ucac_needs_less_of_it_on_as_many_machines():
    ours, theirs = packed(half_empty(), method="csp-ucac"), packed(half_empty())
    assert ours.score["machines"] == theirs.score["machines"]
    assert ours.score["ucac"] < theirs.score["ucac"]


def test_another_seed_takes_the_surplus_off_elsewhere():
    answers = {tuple(packed(half_empty(), seed=seed, budget=Budget(seconds=5)).solution.machine_of.tolist()) for seed in range(4)}
    assert len(answers) > 1


def test_iterations_alone_end_where_pricing_would_not_and_give_the_same_answer_again():
    """Many workloads that are hardly used: to prove that no pattern pays would take hours."""
    shop, budget = bp.generate("boutique"), Budget(iterations=30)
    first, second = (bp.pack(shop, confidence=0.9, method="csp-mac", budget=budget) for _ in range(2))
    assert first.placement.machine_of.tolist() == second.placement.machine_of.tolist()
    assert len(first.placement.unplaced) == 0


def test_surplus_is_taken_off_with_the_same_chance_everywhere():
    cover = np.array([[6, 1], [2, 0], [0, 3]])
    left = np.mean([_without_surplus(cover, np.array([4, 9]), np.random.default_rng(seed)) for seed in range(2000)], axis=0)
    assert left[:, 0] == pytest.approx([3.0, 1.0, 0.0], abs=0.06)
    assert left[:, 1].tolist() == [1, 0, 3]


@settings(max_examples=30, deadline=None)
@given(pair=packings())
def test_patterns_have_at_least_the_ucac_of_the_placement_and_fit_their_machines(pair):
    result, pattern_ucac, surplus = covered(pair)
    assert pattern_ucac >= result.score["ucac"] * (1 - 1e-9) and surplus >= 0
    assert pattern_ucac <= pair[0].machines.capacity[:, 0].sum() * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(pair=packings())
def test_the_ucac_of_counts_is_that_of_the_placement(pair):
    cluster, _ = pair
    problem, after = pack_problem(*pair), packed(pair).solution
    count = np.zeros((len(cluster.machines.name), len(cluster.workloads.name)), dtype=np.int64)
    placed = np.flatnonzero(after.machine_of != UNPLACED)
    np.add.at(count, (after.machine_of[placed], cluster.containers.workload[placed]), 1)
    assert ucac_of_counts(problem.main, count) == pytest.approx(strictest_ucac(cluster, after, problem.main))
