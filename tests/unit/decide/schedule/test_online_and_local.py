"""What `online`, `local` and the baselines promise beyond what every scheduler does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.schedules import drawn, overloads, problem, problems, solved, timed

from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.decide.schedule.online import ForecastPrices
from bayplan.errors import UsageError
from bayplan.model import Budget, Status, TimedRequests, silent
from bayplan.model.interrupt import stoppable

few = settings(max_examples=20, deadline=None)
baselines = pytest.mark.parametrize("name", ["bin-packing", "spread"])


def machines(name, instance, **more):
    return solved(SCHEDULERS[name], instance, **more).solution.machine_of


def part(requests, keep) -> TimedRequests:
    return replace(
        requests,
        name=tuple(np.array(requests.name)[keep].tolist()),
        start=requests.start[keep],
        end=requests.end[keep],
        demand=requests.demand[keep],
        value=requests.value[keep],
    )


def crowd(seed=0, requests=400, k=3) -> ScheduleProblem:
    """More than can be served, of lengths and sizes that differ much."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, 100, requests))
    lasts, demand = rng.lognormal(1, 1, requests), np.minimum(10, rng.geometric(0.4, (requests, 2)))
    return problem(list(zip(start, start + lasts, demand, np.ones(requests), strict=True)), k)


# ---- baselines -----------------------------------------------------------------------------------------------------------------


def test_bin_packing_fills_a_machine_before_the_next():
    instance = problem([(0, 9, [5, 1], 1.0), (0, 9, [6, 1], 1.0), (0, 9, [1, 1], 1.0), (0, 9, [5, 1], 1.0)], 3)
    assert machines("bin-packing", instance).tolist() == [0, 1, 1, 2]  # it does not go back to machine 0, which has capacity


def test_spread_goes_on_to_the_next_machine():
    instance = problem([(0, 9, [1, 1], 1.0)] * 4, 3)
    assert machines("spread", instance).tolist() == [0, 1, 2, 0]


@baselines
def test_baselines_try_all_machines_before_they_refuse(name):
    instance = problem([(0, 9, [9, 1], 1.0), (0, 9, [2, 1], 1.0), (0, 9, [9, 1], 1.0), (0, 9, [8, 1], 1.0)], 2)
    assert machines(name, instance).tolist() == [0, 1, -1, 1]


@baselines
def test_baselines_do_not_know_what_comes(name):
    instance = problem([(1, 9, [9, 9], 100.0), (0, 9, [9, 9], 1.0)], 1)
    assert machines(name, instance).tolist() == [-1, 0]


# ---- online --------------------------------------------------------------------------------------------------------------------


@few
@given(seed=st.integers(0, 50), until=st.floats(0, 100), foresees=st.booleans())
def test_decisions_on_a_prefix_are_the_prefix_of_decisions(seed, until, foresees):
    instance = crowd(seed, requests=200)
    options = ScheduleOptions(forecast=crowd(seed + 1, requests=40).requests if foresees else None)
    keep = instance.requests.start <= until
    before = ScheduleProblem(requests=part(instance.requests, keep), fleet=instance.fleet)
    whole = machines("online", instance, options=options)
    assert machines("online", before, options=options).tolist() == whole[keep].tolist()


@pytest.mark.parametrize("kept", [1, 20, 90, 150])
def test_who_starts_at_the_same_time_is_decided_in_the_order_given(kept):
    instance = drawn(7, requests=200, grid=3)
    first = np.sort(np.argsort(instance.requests.start, kind="stable")[:kept])
    before = ScheduleProblem(requests=part(instance.requests, first), fleet=instance.fleet)
    assert machines("online", before).tolist() == machines("online", instance)[first].tolist()


def burst(requests: int, capacity: int) -> ScheduleProblem:
    """All at once: each takes one unit, every third ten times as long as the others."""
    return problem([(0, 10 if j % 3 == 0 else 1, [1], 1.0) for j in range(requests)], 1, capacity=[capacity])


def test_nobody_is_refused_while_there_is_plenty_of_room():
    assert (machines("online", burst(300, 3000)) >= 0).all()


def test_a_burst_that_is_too_large_is_not_taken_as_it_comes():
    instance = burst(3000, 300)
    served = machines("online", instance) >= 0
    long = instance.requests.end == 10
    assert served.sum() == 300
    assert served[long].mean() < 0.5 * served[~long].mean()


@baselines
def test_baselines_decide_at_arrival_too(name):
    instance = drawn(4, requests=80)
    keep = instance.requests.start <= 2.0
    before = ScheduleProblem(requests=part(instance.requests, keep), fleet=instance.fleet)
    assert machines(name, before).tolist() == machines(name, instance)[keep].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_prices_serve_more_than_taking_all_who_fit(seed):
    instance = crowd(seed, requests=2000)
    assert (machines("online", instance) >= 0).sum() > 1.15 * (machines("bin-packing", instance) >= 0).sum()


def test_prices_of_a_forecast_serve_more_than_taking_all_who_fit():
    instance, options = crowd(1, k=1), ScheduleOptions(forecast=crowd(2).requests)
    assert (machines("online", instance, options=options) >= 0).sum() > 1.15 * (machines("bin-packing", instance) >= 0).sum()


def test_online_refuses_who_brings_too_little_though_there_is_room():
    instance = crowd(1, requests=2000)
    machine_of = machines("online", instance)
    late, lasts = instance.requests.start > 50, instance.requests.end - instance.requests.start
    work = instance.requests.demand.sum(axis=1) * lasts
    assert np.median(work[late & (machine_of < 0)]) > 3 * np.median(work[late & (machine_of >= 0)])


def test_a_forecast_of_another_day_begins_with_the_first_request():
    instance = crowd(2, requests=100)
    other = replace(instance.requests, start=instance.requests.start + 1e5, end=instance.requests.end + 1e5)
    same = machines("online", instance, options=ScheduleOptions(forecast=instance.requests))
    later = machines(
        "online", ScheduleProblem(requests=other, fleet=instance.fleet), options=ScheduleOptions(forecast=instance.requests)
    )
    assert np.mean(same == later) > 0.99  # but for rounding of times


def test_after_the_forecast_its_prices_begin_anew():
    instance = crowd(2, requests=100)
    tariff = ForecastPrices(instance, Budget().clock(), silent)
    one, two = (
        ScheduleProblem(
            requests=timed([(tariff.begin, tariff.begin + 1, [1, 1], 1.0), (begin, begin + 5, [3, 4], 1.0)], (10, 10)),
            fleet=instance.fleet,
        )
        for begin in (20.0, 20.0 + tariff.period)
    )
    assert tariff.costs(one)[1] == pytest.approx(tariff.costs(two)[1])
    assert tariff.costs(one)[1] > 0


def test_a_forecast_of_other_resources_is_refused():
    instance, forecast = problem([(0, 1, [1, 1], 1.0)], 1), problem([(0, 1, [1], 1.0)], 1, capacity=[10]).requests
    with pytest.raises(UsageError, match="the forecast has 1 resources; expected 2"):
        machines("online", instance, options=ScheduleOptions(forecast=forecast))


def test_an_empty_forecast_says_nothing():
    instance = crowd(0, requests=100)
    forecast = part(instance.requests, np.zeros(100, dtype=bool))
    with_it = machines("online", instance, options=ScheduleOptions(forecast=forecast))
    assert with_it.tolist() == machines("online", instance).tolist()


# ---- local ---------------------------------------------------------------------------------------------------------------------


def cradle_plus_value(instance) -> float:
    return float(instance.requests.value[best_effort(instance, cradle_choice(instance)) >= 0].sum())


@few
@given(instance=problems(max_requests=8, max_machines=3, kinds=2))
def test_local_is_never_below_its_start(instance):
    assert solved(SCHEDULERS["local"], instance).score["value"] >= cradle_plus_value(instance)


@pytest.mark.parametrize("seed", range(3))
def test_local_improves_a_crowd_and_stays_below_its_bound(seed):
    instance = crowd(seed, requests=150)
    result = solved(SCHEDULERS["local"], instance, budget=Budget(iterations=300))
    assert result.score["value"] > cradle_plus_value(instance)
    assert result.bound >= result.score["value"]
    assert overloads(instance, result.solution.machine_of) == []


def test_local_without_time_gives_its_start():
    instance = crowd()
    result = solved(SCHEDULERS["local"], instance, budget=Budget(seconds=0.0))
    assert result.score["value"] == cradle_plus_value(instance)
    assert result.bound is None


def test_exchanges_never_lose_what_prices_gave():
    instance = crowd(5, requests=120)
    values = [solved(SCHEDULERS["local"], instance, budget=Budget(iterations=n)).score["value"] for n in (0, 100, 500)]
    assert min(values) == values[0]


def test_local_keeps_its_best_when_it_is_stopped():
    instance, heard = crowd(6, requests=120), []
    with stoppable() as stop:

        def ask(tick) -> None:
            heard.append(tick.score)
            stop.requested = True

        result = solved(SCHEDULERS["local"], instance, budget=Budget(iterations=10**9), progress=ask)
    assert result.score["value"] >= cradle_plus_value(instance)
    assert len(heard) < 10


@pytest.mark.parametrize("capacity", [10, 40])
def test_local_ends_when_nothing_more_can_be_gained(capacity):
    heard = []
    instance = problem([(0, 4, [6, 6], 1.0), (1, 3, [6, 6], 2.0), (2, 3, [1, 1], 1.0)], 1, capacity=(capacity, capacity))
    result = solved(SCHEDULERS["local"], instance, budget=Budget(iterations=10**9), progress=heard.append)
    assert result.status is Status.OPTIMAL
    assert len(heard) < 20


def test_no_bound_is_given_if_none_is_wanted():
    assert solved(SCHEDULERS["local"], crowd(requests=80), options=ScheduleOptions(bound=False)).bound is None
