"""Every admitter keeps its promises, on any stream."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.clusters_offered import request_of, zones_of
from tests.builders.strategies import admissions

from bayplan.check import check_admission
from bayplan.decide.admit import ADMITTERS, AdmitOptions, Refusal
from bayplan.generate import GENERATORS
from bayplan.model import Budget, ClusterRequests, silent

every_admitter = pytest.mark.parametrize("admitter", ADMITTERS.values(), ids=ADMITTERS)
few = settings(max_examples=25, deadline=None)
GREEDY = AdmitOptions(one_shot="greedy")
CHOICES = st.builds(
    AdmitOptions,
    one_shot=st.sampled_from(["greedy", "local"]),
    literal=st.booleans(),
    slot=st.sampled_from([0.5, 1.0, 0.3]),
    value_ratio=st.sampled_from([None, 0.01, 5.0]),
    alpha=st.sampled_from([None, 2.0]),
)


def admit(admitter, stream, options=GREEDY, *, seed=0, budget=None, progress=silent):
    return admitter(stream, options, budget=Budget() if budget is None else budget, seed=seed, progress=progress)


def chosen(result):
    return [None if zones is None else zones.tolist() for zones in result.solution.zone_of]


@every_admitter
@few
@given(stream=admissions(max_requests=8), options=CHOICES)
def test_never_over_capacity_on_any_zone_link_or_slot(admitter, stream, options):
    result = admit(admitter, stream, options)
    assert [violation.sentence for violation in check_admission(stream, result.solution)] == []


@every_admitter
@pytest.mark.parametrize("literal", [False, True])
def test_never_over_capacity_in_a_crowd(admitter, literal):
    stream = GENERATORS["container-clusters"].make(zones=3, count=90, slots=6, members_most=4, seed=5)
    result = admit(admitter, stream, replace(GREEDY, literal=literal), budget=Budget(seconds=1.0))
    assert not check_admission(stream, result.solution)
    assert 0 < len(result.solution.accepted) < 90


@every_admitter
@few
@given(stream=admissions(max_requests=8))
def test_each_refused_has_a_reason_and_nobody_else(admitter, stream):
    result = admit(admitter, stream)
    refused = [request.name for request, zones in zip(stream.requests, result.solution.zone_of, strict=True) if zones is None]
    assert sorted(reason.subject for reason in result.left_out) == sorted(refused)
    assert all(reason.text and isinstance(reason, Refusal) for reason in result.left_out)


@every_admitter
@few
@given(stream=admissions(max_requests=6), seed=st.integers(0, 3))
def test_the_same_seed_gives_the_same_answer(admitter, stream, seed):
    first, second = (admit(admitter, stream, AdmitOptions(), seed=seed) for _ in range(2))
    assert chosen(first) == chosen(second)
    assert first.left_out == second.left_out


@every_admitter
def test_an_empty_stream_is_answered(admitter):
    result = admit(admitter, ClusterRequests(zones=zones_of(), requests=()))
    assert result.solution.zone_of == ()
    assert result.score["value"] == 0


@every_admitter
def test_no_capacity_lets_nothing_in_that_asks_for_any(admitter):
    stream = ClusterRequests(zones=zones_of([[0], [0]]), requests=(request_of("p"), request_of("q", demand=[[0]])))
    assert chosen(admit(admitter, stream))[0] is None
    assert chosen(admit(admitter, stream))[1] in ([0], [1])


@every_admitter
def test_a_missing_link_keeps_talking_members_together_or_out(admitter):
    talk = {"traffic": [[0, 1.0], [0, 0]], "value": 50.0}
    zones = zones_of([[5], [5]], bandwidth=[[0, 0], [0, 0]])
    together, apart = request_of("p", 0, 1, demand=[[2], [3]], **talk), request_of("q", 1, 2, demand=[[4], [4]], **talk)
    found = chosen(admit(admitter, ClusterRequests(zones=zones, requests=(together, apart))))
    assert found in ([[0, 0], None], [[1, 1], None])


@every_admitter
def test_one_request_alone_is_let_in(admitter):
    result = admit(admitter, ClusterRequests(zones=zones_of(), requests=(request_of("p"),)))
    assert len(result.solution.accepted) == 1
    assert result.score == {"value": 100.0, "served": 1.0}


@every_admitter
@pytest.mark.parametrize("budget", [Budget(seconds=0.0), Budget(iterations=0)], ids=["no seconds", "no iterations"])
def test_answers_without_any_budget(admitter, budget):
    stream = GENERATORS["container-clusters"].make(zones=3, count=5, slots=10, members_most=3, seed=5)
    result = admit(admitter, stream, budget=budget)
    assert result.solution is not None
    assert len(result.left_out) == 5 - len(result.solution.accepted)


@every_admitter
def test_says_where_it_stands(admitter):
    stream = GENERATORS["container-clusters"].make(zones=3, count=6, slots=10, members_most=3, seed=5)
    ticks = []
    admit(admitter, stream, progress=ticks.append)
    assert ticks
    assert all(0 <= tick.done <= 1 for tick in ticks)


@pytest.mark.parametrize("name", ["primal-dual", "available", "swmoa"])
def test_a_budget_of_requests_refuses_those_not_examined(name):
    stream = ClusterRequests(zones=zones_of(), requests=tuple(request_of(f"r{i}", i, i + 1) for i in range(5)))
    result = admit(ADMITTERS[name], stream, budget=Budget(iterations=3))
    assert result.solution.accepted.tolist() == [0, 1, 2]
    assert [str(reason) for reason in result.left_out] == [f"r{i}: not examined: the budget ended before" for i in (3, 4)]


@pytest.mark.parametrize("name", ["primal-dual", "available", "swmoa"])
def test_ctrl_c_keeps_what_was_decided(name, monkeypatch):
    stream = ClusterRequests(zones=zones_of(), requests=tuple(request_of(f"r{i}", i, i + 1) for i in range(5)))

    def interrupt(tick):
        if tick.done >= 0.4:
            import signal

            signal.raise_signal(signal.SIGINT)

    result = admit(ADMITTERS[name], stream, progress=interrupt)
    assert result.solution.accepted.tolist() == [0, 1, 2]
    assert [str(reason) for reason in result.left_out] == [f"r{i}: not examined: stopped before" for i in (3, 4)]


def test_a_member_that_fits_nowhere_is_a_reason_in_a_stream():
    stream = ClusterRequests(zones=zones_of(), requests=(request_of("p", demand=[[11]]), request_of("q")))
    for name in ("primal-dual", "available", "swmoa"):
        result = admit(ADMITTERS[name], stream)
        assert result.solution.accepted.tolist() == [1]
        assert result.left_out[0].text.startswith("member 'm0' fits into no zone, even if all were empty")


def test_available_takes_the_first_zones_in_order_whatever_the_value():
    stream = ClusterRequests(
        zones=zones_of([[3], [3]]), requests=tuple(request_of(f"r{i}", demand=[[2]], value=0.0) for i in range(3))
    )
    assert chosen(admit(ADMITTERS["available"], stream)) == [[0], [1], None]


def test_the_live_methods_know_nothing_of_what_comes_later():
    stream = GENERATORS["container-clusters"].make(zones=4, count=40, slots=20, members_most=4, seed=6)
    for name in ("primal-dual", "available", "swmoa"):
        whole = chosen(admit(ADMITTERS[name], stream))
        part = chosen(admit(ADMITTERS[name], replace(stream, requests=stream.requests[:25])))
        assert part == whole[:25]
        assert any(zones is not None for zones in whole[25:]) or np.array(whole[:25], dtype=object).any()
