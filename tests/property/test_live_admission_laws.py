"""Laws of a live admission: released requests leave nothing, a snapshot changes nothing, small requests always fit."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.strategies import admissions

from bayplan.decide.admit import Admission, AdmitOptions
from bayplan.decide.admit.parameters import LIVE
from bayplan.errors import InputError
from bayplan.generate import GENERATORS
from bayplan.model import ClusterRequest, Resource, Zones

several = settings(max_examples=30, deadline=None)
OPTIONS = st.builds(
    AdmitOptions,
    one_shot=st.sampled_from(["greedy", "nscd"]),
    slot=st.sampled_from([1.0, 0.5, 0.3]),
    value_ratio=st.sampled_from([None, 0.01, 40.0]),
    alpha=st.sampled_from([None, 1.5]),
    literal=st.booleans(),
)
METHODS = st.sampled_from(LIVE)


def offered(admission, request):
    """The decision as plain data, or the codes of what is wrong."""
    try:
        decision = admission.offer(request)
    except InputError as error:
        return [fault.code for fault in error.faults]
    zone = None if decision.zone is None else decision.zone.tolist()
    return (decision.accepted, zone, decision.cost, decision.utility, decision.why, decision.parameters)


@several
@given(stream=admissions(max_requests=8), options=OPTIONS, method=METHODS, random=st.randoms(use_true_random=False))
def test_releasing_everything_returns_every_price_to_exactly_zero(stream, options, method, random):
    admission = Admission(stream.zones, options, method)
    for request in stream.requests:
        offered(admission, request)
    names = [running.name for running in admission.running]
    random.shuffle(names)
    for name in names:
        admission.release(name)
    admission.advance(max(admission.now, 0.0) + 2 * options.slot)  # what ended within the slot of now still holds it
    for t in range(12):
        rates, shares = admission.prices(admission.now + t), admission.utilisation(admission.now + t)
        assert not rates.zone.any() and not shares.zone.any()
        assert not np.nan_to_num(rates.link).any() and not np.nan_to_num(shares.link).any()


@several
@given(stream=admissions(max_requests=10), options=OPTIONS, method=METHODS, cut=st.integers(0, 10), released=st.integers(0, 3))
def test_a_snapshot_is_invisible(stream, options, method, cut, released):
    admission = Admission(stream.zones, options, method)
    for request in stream.requests[:cut]:
        offered(admission, request)
    for running in admission.running[:released]:
        admission.release(running.name, at=(max(admission.now, running.start) + running.end) / 2)
    other = Admission.restore(json.loads(json.dumps(admission.snapshot())))
    assert other.snapshot() == admission.snapshot()
    for request in stream.requests[cut:]:
        assert offered(admission, request) == offered(other, request)
        assert (admission.prices().zone == other.prices().zone).all()
    assert other.snapshot() == admission.snapshot()


@several
@given(seed=st.integers(0, 30), cut=st.integers(0, 80), slot=st.sampled_from([1.0, 3.0]))
def test_a_snapshot_of_a_crowd_is_invisible(seed, cut, slot):
    stream = GENERATORS["container-clusters"].make(zones=4, count=80, slots=60, members_most=4, seed=seed)
    admission = Admission(stream.zones, AdmitOptions(one_shot="greedy", alpha=2.0, slot=slot))
    for request in stream.requests[:cut]:
        admission.offer(request)
    other = Admission.restore(json.loads(json.dumps(admission.snapshot())))
    assert [offered(admission, r) for r in stream.requests[cut:]] == [offered(other, r) for r in stream.requests[cut:]]


@st.composite
def small_requests(draw):
    """Every use is at most 1 / log2(lambda) of its capacity, and value / use at most U = 8, alpha = 1: lambda = 18, log2 4.2."""
    zones = Zones(
        name=("a", "b"),
        resources=(Resource(name="cpu"),),
        capacity=[[20], [25]],
        request_cap=[[4], [4]],
        bandwidth=[[0, 20], [20, 0]],
    )
    drawn = []
    for i in range(draw(st.integers(20, 60))):
        demand = [[draw(st.integers(1, 3))], [draw(st.integers(1, 3))]]
        first, length, sent = draw(st.integers(0, 2)), draw(st.integers(1, 3)), draw(st.sampled_from([1.0, 2.5, 4.0]))
        value = draw(st.floats(1.0, 8.0)) * min(demand[0][0], demand[1][0], sent)  # b <= U f of every use f
        drawn.append(
            ClusterRequest(
                name=f"r{i}",
                members=("m", "n"),
                demand=demand,
                traffic=[[0, sent], [0, 0]],
                arrival=0.0,
                start=float(first),
                end=float(first + length),
                value=value,
            )
        )
    return zones, drawn


@several
@given(case=small_requests())
def test_small_requests_never_need_the_check_of_room(case):
    """Lemma 4 of [Online clusters]: with exact placements and small requests, prices alone keep every capacity."""
    zones, requests = case
    admission = Admission(zones, AdmitOptions(one_shot="exact", value_ratio=8.0, literal=True))
    decisions = [admission.offer(request) for request in requests]
    assert admission.parameters.base == 18.0
    assert not [decision.why for decision in decisions if decision.why.startswith("no capacity")]
