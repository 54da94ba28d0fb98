"""The theorems of [Cradle] §IV, and their versions for more resources and several kinds of machines, against the optimum."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.schedules import overloads, problem, problems, solved
from tests.naive.schedule import Literal, optimum

from bayplan.decide.schedule import SCHEDULERS
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.cradle import classes, cradle_choice, local_ratio
from bayplan.model import UNPLACED

some = settings(max_examples=60, deadline=None)
ROUNDING = 1e-9


def worth(instance, members, machine):
    return float(instance.requests.value[members[machine != UNPLACED]].sum())


def at_least(value, best, ratio):
    return value * ratio >= best * (1 - ROUNDING)


def asked_for(instance):
    """Resources that a request that fits needs."""
    possible = instance.requests.demand[instance.possible]
    return max(1, int(possible.any(axis=0).sum())) if len(possible) else 1


@st.composite
def of_one_class(draw, *, wide):
    """Requests for more than half of a machine's cpu, or for at most half of everything; 2 resources."""
    cpu = st.integers(6, 10) if wide else st.integers(0, 5)
    rows = []
    for _ in range(draw(st.integers(1, 7))):
        start = draw(st.integers(0, 6)) / 2
        memory = draw(st.integers(0, 10 if wide else 5))
        value = draw(st.sampled_from([1.0, 1.0, 2.0, 2.5, 0.3, 6.0]))
        rows.append((start, start + draw(st.integers(1, 6)) / 2, [draw(cpu), memory], value))
    return problem(rows, draw(st.integers(1, 3)))


def by_w1(instance, order, *, wide):
    """By the w1 of the request that finishes first: what a schedule to which nothing can be added is worth, and the best."""
    n = len(instance.requests.name)
    literal = Literal(instance, 0, list(range(n)), wide=wide)
    first = int(np.argmin(instance.requests.end))
    w1 = literal.w1(literal.weight, first)
    weighted = replace(instance, requests=replace(instance.requests, value=[float(w1[j]) for j in range(n)]))
    chosen = best_effort(weighted, np.full(n, UNPLACED), np.array([j for j in order if j < n]))
    return worth(weighted, np.arange(n), chosen), optimum(weighted)


orders = st.permutations(range(7))


@some
@given(instance=of_one_class(wide=True), order=orders)
def test_by_w1_a_maximal_schedule_of_wide_requests_is_worth_the_best_by_2_less_1_over_k(instance, order):
    found, best = by_w1(instance, order, wide=True)
    assert at_least(found, best, 2 - 1 / instance.fleet.size)


@some
@given(instance=of_one_class(wide=False), order=orders)
def test_by_w1_a_maximal_schedule_of_narrow_requests_is_worth_an_eighth_of_the_best(instance, order):
    found, best = by_w1(instance, order, wide=False)
    assert at_least(found, best, 8)


@some
@given(instance=of_one_class(wide=True))
def test_wide_requests_are_worth_the_best_by_2_less_1_over_k(instance):
    members, k = np.arange(len(instance.requests.name)), instance.fleet.size
    found = worth(instance, members, local_ratio(instance, 0, members, wide=True))
    assert at_least(found, optimum(instance), 2 - 1 / k)


@some
@given(instance=of_one_class(wide=False))
def test_narrow_requests_are_worth_an_eighth_of_the_best(instance):
    members = np.arange(len(instance.requests.name))
    found = worth(instance, members, local_ratio(instance, 0, members, wide=False))
    assert at_least(found, optimum(instance), 8)


@some
@given(instance=problems(resources=(2, 2)))
def test_cradle_is_worth_a_twelfth_of_the_best(instance):
    assert at_least(solved(SCHEDULERS["cradle"], instance).score["value"], optimum(instance), 12)


@some
@given(instance=problems(resources=(1, 3)))
def test_each_class_and_cradle_keep_their_ratios_with_r_resources(instance):
    ratio = 4 * asked_for(instance)
    if instance.fleet.size:
        for members, wide in classes(instance, 0, instance.fits(0)):
            allowed = np.isin(np.arange(len(instance.requests.name)), members)
            found = worth(instance, members, local_ratio(instance, 0, members, wide=wide))
            assert at_least(found, optimum(instance, allowed), 2 - 1 / instance.fleet.size if wide else ratio)
    value = float(instance.requests.value[cradle_choice(instance) != UNPLACED].sum())
    assert at_least(value, optimum(instance), 1.5 * ratio)


@some
@given(instance=problems(max_machines=2, resources=(1, 2), kinds=2))
def test_kind_by_kind_costs_one_more_than_the_ratio_of_one_kind(instance):
    value = float(instance.requests.value[cradle_choice(instance) != UNPLACED].sum())
    assert at_least(value, optimum(instance), 6 * asked_for(instance) + 1)


@some
@given(instance=problems(max_requests=12, max_machines=4, kinds=3))
def test_no_machine_is_over_capacity_at_any_time(instance):
    for name in ("cradle", "cradle+"):
        assert overloads(instance, solved(SCHEDULERS[name], instance).solution.machine_of) == []


@some
@given(instance=problems(max_requests=12, max_machines=4, kinds=2))
def test_best_effort_keeps_what_cradle_serves_and_leaves_out_nothing_that_fits(instance):
    cradle, plus = (solved(SCHEDULERS[name], instance) for name in ("cradle", "cradle+"))
    before, after = cradle.solution.machine_of, plus.solution.machine_of
    assert (after[before != UNPLACED] == before[before != UNPLACED]).all()
    assert plus.score["value"] >= cradle.score["value"]
    for j in np.flatnonzero(after == UNPLACED):
        for m in range(instance.fleet.size):
            assert overloads(instance, np.where(np.arange(len(after)) == j, m, after))


@some
@given(instance=problems(), allowed=st.lists(st.booleans(), min_size=6, max_size=6))
def test_cradle_chooses_only_from_what_is_allowed(instance, allowed):
    mask = np.array(allowed[: len(instance.requests.name)], dtype=np.bool_)
    assert (cradle_choice(instance, mask)[~mask] == UNPLACED).all()
