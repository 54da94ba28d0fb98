"""Prices on the level that has earned most so far."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.clusters_offered import request_of, zones_of

from bayplan.decide.admit import ADMITTERS, Admission, AdmitOptions
from bayplan.decide.admit.rehearsal import ALPHAS, FIRST_LEAD, Earnings
from bayplan.decide.admit.shadow_admissions import ShadowAdmissions
from bayplan.generate import GENERATORS
from bayplan.model import Budget, silent


def test_values_are_earned_evenly_and_none_after_the_end():
    earned = Earnings()
    earned.accept(request_of("a", start=0.0, end=4.0, value=8.0))
    earned.accept(request_of("b", start=2.0, end=3.0, value=5.0))
    assert [earned.upto(time) for time in (0.0, 1.0, 2.5, 3.5, 10.0)] == pytest.approx([0.0, 2.0, 7.5, 12.0, 13.0])
    assert earned.rate == 0.0


def test_earnings_come_back_from_plain_data():
    earned = Earnings()
    earned.accept(request_of("a", start=0.0, end=4.0, value=8.0))
    earned.upto(1.0)
    again = Earnings(*earned.data())
    assert again.upto(3.0) == earned.upto(3.0)


def test_the_first_offer_is_judged_by_the_first_alpha_and_it_is_said_to_be_estimated():
    admission = Admission(zones_of(), AdmitOptions(one_shot="greedy"), "learned")
    assert admission.parameters.alpha == ALPHAS[FIRST_LEAD]
    assert admission.parameters.alpha_from == "estimated"


def test_where_room_is_scarce_it_is_worth_more_than_taking_all_and_than_the_paper():
    value = {"learned": 0.0, "primal-dual": 0.0, "available": 0.0}
    for seed in (321, 322, 323):
        stream = GENERATORS["container-clusters"].make(count=250, zones=3, members_least=3, members_most=3, seed=seed)
        for name in value:
            found = ADMITTERS[name](stream, AdmitOptions(one_shot="greedy"), budget=Budget(), seed=0, progress=silent)
            value[name] += found.score["value"]
    assert value["learned"] > 1.1 * value["primal-dual"]
    assert value["learned"] > 1.1 * value["available"]


def test_a_name_that_a_rehearsal_still_has_counts_as_refused_there():
    admission = Admission(zones_of([[10]], cap=[[10]]), AdmitOptions(one_shot="greedy"), "learned")
    assert admission.offer(request_of("a", demand=[[8]], end=4.0, value=500.0)).accepted
    for _ in range(3):  # no capacity here, nor in most rehearsals
        assert not admission.offer(request_of("b", demand=[[8]], end=4.0, value=0.001)).accepted
    admission.release("a")
    assert admission.offer(request_of("b", demand=[[8]], end=4.0, value=500.0)).accepted


def test_earnings_count_before_time_zero():
    earned = Earnings()
    earned.accept(request_of("a", start=-8.0, end=-4.0, value=8.0))
    assert [earned.upto(time) for time in (-9.0, -6.0, -1.0)] == pytest.approx([0.0, 4.0, 8.0])


def tight_stream(seed, *, slots=30):
    """Requests for more than there is, some of no traffic, one link missing and one narrow."""
    stream = GENERATORS["container-clusters"].make(
        count=150, zones=4, resources=2, members_least=1, members_most=5, slots=slots, seed=seed
    )
    bandwidth = np.array(stream.zones.bandwidth)
    bandwidth[0, 1], bandwidth[2, 3] = 0, bandwidth[2, 3] // 8
    return replace(stream, zones=replace(stream.zones, bandwidth=bandwidth))


@pytest.mark.parametrize("seed", range(4))
def test_shadows_decide_as_admissions_of_their_own_do(seed):
    stream, rng = tight_stream(seed), np.random.default_rng(seed)
    real = Admission(stream.zones, AdmitOptions(one_shot="greedy", alpha=1.0))
    twins = [Admission(stream.zones, AdmitOptions(one_shot="greedy", alpha=alpha)) for alpha in ALPHAS]
    shadows = ShadowAdmissions(stream.zones, 1.0, ALPHAS)
    counts = np.zeros(len(ALPHAS), dtype=int)
    for number, request in enumerate(stream.requests):
        real.offer(request)
        expected = [twin.offer(request).accepted for twin in twins]
        found = shadows.offer(request, int(request.start), int(np.ceil(request.end)) - 1, real.parameters.value_ratio)
        assert found == expected
        counts += found
        if rng.random() < 0.2 and any(expected):
            until = float(rng.uniform(request.arrival, request.end + 1))
            shadows.release(request.name, until)
            for twin, accepted in zip(twins, expected, strict=True):
                if accepted:
                    twin.release(request.name, until)
        if number == 75:
            data, shadows = shadows.data(), ShadowAdmissions(stream.zones, 1.0, ALPHAS)
            shadows.fill(data, real.parameters.value_ratio)
            assert shadows.data() == data
    assert (counts > 0).all()
    assert len(set(counts.tolist())) > 1


def test_only_shadows_in_which_the_name_still_runs_refuse_it():
    shadows = ShadowAdmissions(zones_of([[10]], cap=[[10]]), 1.0, (1.0, 16.0))
    assert shadows.offer(request_of("a", demand=[[5]], end=4.0), 0, 3, 50.0) == [True, True]
    assert shadows.offer(request_of("b", demand=[[4]], end=4.0, value=60.0), 0, 3, 50.0) == [False, True]
    assert shadows.offer(request_of("b", demand=[[4]], end=4.0, value=1e6), 0, 3, 50.0) == [True, False]
    shadows.release("b", 0.0)
    assert shadows.offer(request_of("c", demand=[[5]], end=4.0, value=1e6), 0, 3, 50.0) == [True, True]


def test_the_past_of_a_rehearsal_is_not_kept():
    stream = GENERATORS["container-clusters"].make(zones=2, count=300, slots=300, seed=3)
    admission = Admission(stream.zones, method="learned")
    for request in stream.requests:
        admission.offer(request)
    assert admission.now > 250 and len(admission.history().start) > 250
    assert all(len(calendar.past) == 0 for calendar in admission._rehearsal.shadows.calendars)
