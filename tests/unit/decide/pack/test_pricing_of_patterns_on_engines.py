"""Patterns priced on engines: the answer of this process, and proofs that hold whatever is lost."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.odd_engines import OddEngine, losing_one_worker
from tests.builders.packings import best_by_trying, packings
from tests.kernels.test_pack import drawn, pricing

import bayplan as bp
from bayplan.decide.pack import PACKERS, PackOptions, exact_pricing, pack_problem
from bayplan.decide.pack.confidence_levels import confidence_levels
from bayplan.decide.pack.exact_pricing import INTERVALS, PricingInputs, PricingPlace, price_patterns
from bayplan.engine import Shared, lazy
from bayplan.engine.lazy import LazyEngine
from bayplan.model import Budget, ints, silent
from bayplan.model.interrupt import stoppable


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever can be sent is sent."""
    monkeypatch.setattr(lazy, "START", 0.0)
    monkeypatch.setattr(lazy, "LEAST", -1.0)


def problem_of(seed, *, bins=3, workloads=5, minimise_ucac=True):
    sizes, groups = drawn(seed, workloads=workloads, bins=bins)
    value = np.random.default_rng([seed, 3]).uniform(0.0, 0.6, workloads)
    return pricing(sizes, groups, value, minimise_ucac=minimise_ucac)


def place_of(problem, engine):
    inputs = Shared(PricingInputs(problem.sizes, problem.bins, problem.minimise_ucac))
    return PricingPlace(inputs=inputs, engine=LazyEngine(engine, workers=2))


def same(one, other):
    arrays = ((one.bin, other.bin), (one.pattern, other.pattern), (one.gain, other.gain))
    return one.proven == other.proven and all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize("looks", [1, 3, float("inf")])
@pytest.mark.parametrize("bins", [3, 12], ids=["few", "many"])
@pytest.mark.parametrize("seed", range(6))
def test_answers_in_any_order_change_nothing(seed, bins, looks, monkeypatch):
    """Neither where each interval depends on those before it, nor where nodes run out in the middle of one."""
    monkeypatch.setattr(exact_pricing, "PATIENCE", 5)
    problem = problem_of(seed, bins=bins, minimise_ucac=seed % 2 == 0)
    odd = OddEngine(seed=seed)
    assert same(price_patterns(problem, looks=looks, place=place_of(problem, odd)), price_patterns(problem, looks=looks))
    assert odd.sent


@pytest.mark.parametrize("lost_after", [0, 4])
def test_an_engine_that_is_lost_changes_nothing_but_the_notes(lost_after):
    problem = problem_of(1)
    place = place_of(problem, OddEngine(lost_after=lost_after))
    assert same(price_patterns(problem, place=place), price_patterns(problem))
    assert place.engine.notes == ("engine: engine 'odd' is lost: all at once; the rest was done in this process",)


def test_intervals_that_are_missing_after_the_deadline_are_no_proof():
    problem = replace(problem_of(2), value=np.zeros(5))  # nothing pays
    problem = replace(problem, value=problem.value + 1e-6)
    assert price_patterns(problem).proven
    odd = OddEngine(missing=1.0)
    assert not price_patterns(problem, place=place_of(problem, odd), over=lambda: odd.answered > 0).proven
    assert odd.answered == len(odd.sent) <= INTERVALS


def test_many_groups_are_sent_only_where_intervals_do_not_build_on_each_other():
    """Patterns found in one interval are the target of the next: workers would search in vain."""
    sizes, bins = drawn(3, workloads=6, bins=12)
    problem = pricing(sizes, bins, np.full(6, 0.6), minimise_ucac=False)
    place = place_of(problem, OddEngine())
    first, second = price_patterns(problem, place=place), price_patterns(problem, place=place)
    assert same(first, second)
    assert same(first, price_patterns(problem))


def packed(problem, method, engine=None, **limits):
    return PACKERS[method](problem, PackOptions(engine=engine), budget=Budget(threads=2, **limits), seed=0, progress=silent)


@pytest.mark.parametrize("goal", ["ucac", "machines"])
@settings(max_examples=30, deadline=None)
@given(pair=packings(), missing=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 9))
def test_a_bound_is_never_above_the_optimum_whatever_is_missing(goal, pair, missing, seed):
    problem = pack_problem(*pair)
    result = packed(problem, f"csp-{goal}", OddEngine(seed=seed, missing=missing), iterations=20)
    best = best_by_trying(problem, goal)
    if result.bound is not None and best is not None:
        assert result.bound <= best + 1e-6 * max(1.0, abs(best))
    if not missing:
        assert result.bound == packed(problem, f"csp-{goal}", iterations=20).bound


def fleet():
    """Some thirty machines of three sizes."""
    snapshot = bp.generate("ucac", services=6, scale=0.02, machines=30)
    capacity = (snapshot.cluster.machines.capacity * (1 - 0.1 * (np.arange(30) % 3))[:, None]).astype(np.int64)
    machines = replace(snapshot.cluster.machines, capacity=ints(capacity), safety=ints(capacity))
    return replace(snapshot, cluster=replace(snapshot.cluster, machines=machines))


def answer_of(engine=None, threads=1, method="csp-ucac", **keywords):
    budget = bp.Budget(iterations=12, threads=threads)
    chosen = {} if engine is None else {"engine": engine}
    return bp.pack(fleet(), confidence=0.99, confidence_of={"*1": 0.999}, method=method, budget=budget, **chosen, **keywords)


def content(answer):
    return answer.placement.machine_of.tolist(), dict(answer.score), answer.bound, answer.levels, answer.result.notes


@pytest.mark.parametrize("method", ["csp-ucac", "csp-machines", "csp-mac", "bi-level"])
def test_an_answer_is_that_of_this_process(method):
    odd = OddEngine()
    assert content(answer_of(odd, 2, method)) == content(answer_of(method=method)) == content(answer_of("here", method=method))
    assert any(name.startswith("pricing from interval ") for name in odd.sent)
    assert any(name.startswith("packing at confidence ") for name in odd.sent)


def test_a_pool_gives_the_answer_of_this_process():
    here = content(answer_of())
    with bp.engine("pool") as pool:
        assert [content(answer_of(pool, workers)) for workers in (2, 3)] == [here, here]


def test_machines_needed_is_that_of_this_process():
    keywords = {"confidence": 0.99, "budget": bp.Budget(iterations=12, threads=2)}
    odd = OddEngine()
    there, here = bp.machines_needed(fleet(), engine=odd, **keywords), bp.machines_needed(fleet(), **keywords)
    assert (there.machines, there.bound, there.by_type) == (here.machines, here.bound, here.by_type)
    assert odd.sent


def test_a_lost_worker_is_repeated_and_noted(tmp_path):
    answer = answer_of(losing_one_worker("pool", tmp_path / "mark"), 2)
    assert content(answer)[:-1] == content(answer_of())[:-1]
    assert any(
        note.startswith("engine: job 'p") and note.endswith("it is repeated elsewhere (attempt 2 of 3)")
        for note in answer.result.notes
    ), answer.result.notes


def test_a_stop_while_workers_price_keeps_the_best_so_far():
    class Stopped(OddEngine):
        def stream(self, jobs, **options):
            for answer in super().stream(jobs, **options):
                yield answer
                stop.requested = True

    with stoppable() as stop:
        answer = bp.pack(fleet(), confidence=0.99, engine=Stopped(), seconds=60)
    assert answer.interrupted
    assert answer.unplaced == 0
    assert answer.bound is None


def test_levels_that_do_not_come_in_time_are_left_out():
    instance = answer_of().instance
    late = LazyEngine(OddEngine(missing=1.0))
    assert [level.alpha for level in confidence_levels(instance, late, ends=0.0)] == [None]
    assert list(confidence_levels(instance, LazyEngine(OddEngine(missing=0.5)))) == list(confidence_levels(instance))
