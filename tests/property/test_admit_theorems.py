"""What [Online clusters] §V proves of Algorithm 4, what it does not, and what holds instead (docs/verbs/admit-theorem.md).

Each claim is tested on a literal Algorithm 4 with a one-shot method as bad as alpha allows, and on the live `Admission`.
"""

from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.admit_offline import capacity, every_use
from tests.naive.algorithm4 import Ledger, algorithm4, slots

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.offline import offline
from bayplan.decide.admit.options import AdmitOptions
from bayplan.model import Budget, ClusterRequest, ClusterRequests, Resource, Status, Zones, floats, ints, silent

some = settings(max_examples=60, deadline=None)


def cluster_request(name, demand, traffic, time, length, value):
    return ClusterRequest(
        name=name,
        members=tuple(f"v-{v}" for v in range(len(demand))),
        demand=ints(demand),
        traffic=floats(traffic),
        arrival=time,
        start=time,
        end=time + length,
        value=value,
    )


def zones_of(zone_capacity, bandwidth):
    """One resource; a request may take all of a zone."""
    n = len(bandwidth)
    column = ints(np.full((n, 1), zone_capacity))
    resources = (Resource(name="cpu", scale=1, unit="cores"),)
    return Zones(
        name=tuple(f"z-{z}" for z in range(n)),
        resources=resources,
        capacity=column,
        request_cap=column,
        bandwidth=ints(bandwidth),
    )


def limits(stream, i):
    """(lowest, highest / U) value of a request: sum of f <= b <= U min f, over all of its plans."""
    plans = [[amount for amount in use.values() if amount > 0] for use in every_use(stream, i)]
    length = len(slots(stream, i))
    return max(length * sum(plan) for plan in plans), min(min(plan) for plan in plans)


@st.composite
def small_requests(draw, most=12):
    """A stream that keeps the assumptions of the theorem, its U and its alpha; little capacity, so that prices matter."""
    ratio, alpha = draw(st.sampled_from([1.0, 2.0, 6.0, 20.0])), draw(st.sampled_from([1.0, 1.5, 2.0]))
    n_z = draw(st.integers(1, 3))
    linked = np.array(draw(st.lists(st.booleans(), min_size=n_z * n_z, max_size=n_z * n_z))).reshape(n_z, n_z)
    drawn = [draw(shapes(i)) for i in range(draw(st.integers(1, most)))]
    roomy = zones_of(1000, linked * 1000)
    kept = [within(draw, roomy, request, ratio) for request in sorted(drawn, key=lambda request: request.arrival)]
    share = log2(2 * (alpha * ratio + 1))
    zone = ceil(max(int(request.demand.sum()) for request in kept) * share) + draw(st.integers(0, 2))
    link = ceil(max(float(request.traffic.max()) for request in kept) * share) + draw(st.integers(0, 2))
    return ClusterRequests(zones=zones_of(zone, linked * link), requests=tuple(kept)), ratio, alpha


@st.composite
def shapes(draw, number):
    """One member or two, of which one may send something to the other."""
    demand = draw(st.lists(st.integers(1, 2), min_size=1, max_size=2))
    traffic = np.zeros((len(demand), len(demand)))
    traffic[0, -1] = draw(st.integers(0, 2)) if len(demand) == 2 else 0
    time, length = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    return cluster_request(f"q-{number}", [[a] for a in demand], traffic, time, length, 0.0)


def within(draw, zones, request, ratio):
    """The request with a value that keeps the assumption; if none does, one member of it for one slot."""
    low, high = limits(ClusterRequests(zones=zones, requests=(request,)), 0)
    if low > ratio * high:
        request = cluster_request(request.name, request.demand[:1], [[0.0]], request.arrival, 1, 0.0)
        low = high = float(request.demand.sum())
    value = low + draw(st.sampled_from([0.0, 0.3, 1.0])) * (ratio * high - low)
    length = request.end - request.start
    return cluster_request(request.name, request.demand, request.traffic, request.start, length, value)


def live(stream, ratio, alpha):
    """The ledger that the live object leaves behind; what it refuses although the price is right counts as an overflow."""
    options = AdmitOptions(one_shot="exact", value_ratio=ratio, alpha=alpha, literal=True)
    admission, ledger = Admission(stream.zones, options), Ledger(stream, ratio, alpha)
    for i, request in enumerate(stream.requests):
        verdict = admission.offer(request)
        if verdict.accepted:
            use = use_of(stream, i, verdict.zone)
            assert verdict.cost == pytest.approx(ledger.cost(i, use), rel=1e-9, abs=1e-9)
            ledger.accept(i, use, verdict.utility)
        else:
            ledger.utility.append(0.0)
            ledger.overflows += verdict.utility > 0
    return ledger


def use_of(stream, i, zone):
    """What one plan takes."""
    request, use = stream.requests[i], {}
    for v, z in enumerate(zone.tolist()):
        use["zone", z, 0] = use.get(("zone", z, 0), 0) + int(request.demand[v, 0])
        for w, y in enumerate(zone.tolist()):
            if y != z and request.traffic[v, w] > 0:
                use["link", z, y] = use.get(("link", z, y), 0) + float(request.traffic[v, w])
    return use


both = pytest.mark.parametrize("admit", [algorithm4, live])


@given(drawn=small_requests())
@some
def test_the_streams_keep_the_assumptions(drawn):
    stream, ratio, alpha = drawn
    for i, request in enumerate(stream.requests):
        low, high = limits(stream, i)
        assert low <= request.value * (1 + 1e-9)
        assert request.value <= ratio * high * (1 + 1e-9)
        for use in every_use(stream, i):
            assert all(amount * log2(2 * (alpha * ratio + 1)) <= capacity(stream, at) for at, amount in use.items())


@both
@some
@given(drawn=small_requests())
def test_lemma_4_small_requests_never_meet_a_full_zone(admit, drawn):
    assert admit(*drawn).overflows == 0


@both
@some
@given(drawn=small_requests())
def test_lemma_5_the_dual_is_feasible_at_the_end(admit, drawn):
    stream = drawn[0]
    ledger = admit(*drawn)
    for i, request in enumerate(stream.requests):
        for use in every_use(stream, i):
            assert ledger.utility[i] >= request.value - ledger.cost(i, use) - 1e-9 * request.value


@both
@some
@given(drawn=small_requests())
def test_the_corrected_theorem_holds_against_the_dual(admit, drawn):
    ledger = admit(*drawn)
    assert ledger.value >= ledger.dual / ledger.factor * (1 - 1e-9)


@both
@settings(max_examples=25, deadline=None)
@given(drawn=small_requests())
def test_the_corrected_theorem_holds_against_the_optimum(admit, drawn):
    ledger = admit(*drawn)
    best = offline(drawn[0], AdmitOptions(), budget=Budget(), seed=0, progress=silent)
    assert best.status is Status.OPTIMAL
    assert best.score["value"] <= ledger.dual * (1 + 1e-9)
    assert ledger.value >= best.score["value"] / ledger.factor * (1 - 1e-9)


@both
def test_theorem_5_as_printed_fails(admit):
    """A thousand equal requests for a zone of a thousand: all fit, and Algorithm 4 stops when the price reaches their value."""
    requests = tuple(cluster_request(f"q-{i}", [[1]], [[0.0]], 0.0, 1.0, 1.0) for i in range(1000))
    stream = ClusterRequests(zones=zones_of(1000, [[0]]), requests=requests)
    ledger = admit(stream, 50.0, 1.0)
    printed = ledger.alpha * log(ledger.base)
    best = offline(stream, AdmitOptions(), budget=Budget(), seed=0, progress=silent).score["value"]
    assert best == 1000
    assert best / ledger.value > printed
    assert ledger.dual / ledger.value > best / ledger.value
    assert ledger.dual / ledger.value <= ledger.factor
    figures = [printed, best / ledger.value, ledger.dual / ledger.value, ledger.factor]
    assert figures == pytest.approx([4.62, 6.67, 7.23, 13.34], abs=0.01)
