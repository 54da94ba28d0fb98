"""What [Online clusters] §V proves of Algorithm 4, what it does not, and what holds instead (docs/verbs/admit-theorem.md).

Each claim is tested on a literal Algorithm 4 with a one-shot method as bad as alpha allows, and on the live `Admission`.
"""

from dataclasses import replace
from itertools import pairwise, product
from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.builders.strategies import admissions
from tests.naive.admit_offline import best_value, capacity, every_use
from tests.naive.algorithm4 import Ledger, algorithm4, offer, slots

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.offline import offline
from bayplan.decide.admit.options import AdmitOptions
from bayplan.model import Budget, ClusterRequest, ClusterRequests, Resource, Status, Zones, floats, ints, silent

some = settings(max_examples=30, deadline=None)


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


def steps(admit, stream, ratio, alpha):
    """(P_i - P_(i-1), D_i - D_(i-1)) of every request: decisions do not depend on what comes later."""
    ledgers = [admit(replace(stream, requests=stream.requests[:i]), ratio, alpha) for i in range(len(stream.requests) + 1)]
    return [(after.value - before.value, after.dual - before.dual) for before, after in pairwise(ledgers)]


@both
@settings(max_examples=25, deadline=None)
@given(drawn=small_requests(most=6))
def test_lemma_6_what_each_request_adds_to_the_dual_bounds_the_ratio(admit, drawn):
    """With the least alpha beta for which every step keeps the lemma's inequality."""
    added = steps(admit, *drawn)
    assert all(dual == pytest.approx(0.0, abs=1e-9) for value, dual in added if value == 0)
    factor = max((dual / value for value, dual in added if value > 0), default=1.0)
    assert best_value(drawn[0]) <= max(1.0, factor) * admit(*drawn).value * (1 + 1e-9)


@some
@given(drawn=small_requests(most=1), share=st.floats(0.05, 0.6))
def test_lemma_7_where_prices_are_above_zero_a_request_adds_as_much_as_the_relationship_says(drawn, share):
    """beta: the least for which the Resource-Price Relationship holds at all that one request takes."""
    stream, ratio, alpha = drawn
    ledger = Ledger(stream, ratio, alpha)
    for t in slots(stream, 0):
        ledger.used |= {(at, t): share * capacity(stream, at) for use in every_use(stream, 0) for at in use}
    dual, price = ledger.dual, {place: ledger.price(*place) for place in ledger.used}
    taken = offer(ledger, 0)
    assume(taken is not None)
    beta = max(
        [1.0]
        + [
            capacity(stream, at) * (ledger.price(at, t) - price[at, t]) / (price[at, t] * amount)
            for at, amount in taken.items()
            for t in slots(stream, 0)
            if amount > 0
        ]
    )
    assert ledger.value >= (ledger.dual - dual) / (alpha * beta) * (1 - 1e-9)


@given(base=st.floats(4.0, 1e6), used=st.floats(0.0, 1.0), size=st.integers(1, 1000))
def test_lemma_8_fails_at_every_load_and_no_beta_will_do_for_an_empty_resource(base, used, size):
    """p dz < (C / ln lambda) dp for z = used C; and at z = 0, where p is 0 and dp is not, for any beta."""
    price, slope = base**used - 1, base**used * log(base) / size  # (8), and dp / dz
    assert price < size / log(base) * slope
    assert used > 0 or (price == 0 and slope > 0)


@some
@given(stream=admissions(max_requests=3))
def test_ip_1_and_ilp_2_have_the_same_optimum(stream):
    assert by_placements(stream) == pytest.approx(by_schemes(stream))


def by_placements(stream):
    """IP (1): every x and y, each checked against (1b), (1d) and (1e) just after every start."""
    zones, best = stream.zones, 0.0
    choices = [[None, *placements_within(zones, request)] for request in stream.requests]
    for chosen in product(*choices):
        loads = [(request, *load) for request, load in zip(stream.requests, chosen, strict=True) if load is not None]
        value = sum(request.value for request, _, _ in loads)
        if value > best and all(fits_at(zones, loads, request.start) for request, _, _ in loads):
            best = value
    return best


def placements_within(zones, request):
    """What each placement of a request that keeps (1d) takes of zones and of links."""
    loads = (load_of(zones, request, np.array(zone)) for zone in product(range(len(zones.name)), repeat=len(request.members)))
    return [(used, sent) for used, sent in loads if (used <= zones.request_cap).all()]


def load_of(zones, request, zone):
    """What one placement takes of zones and of links between them."""
    used, sent = np.zeros(zones.capacity.shape), np.zeros(zones.bandwidth.shape)
    np.add.at(used, zone, request.demand)
    np.add.at(sent, np.ix_(zone, zone), request.traffic)
    np.fill_diagonal(sent, 0)
    return used, sent


def fits_at(zones, loads, time):
    running = [(used, sent) for request, used, sent in loads if request.start <= time < request.end]
    used, sent = (sum(part) for part in zip(*running, strict=True))
    return (used <= zones.capacity).all() and (sent <= zones.bandwidth).all()


def by_schemes(stream):
    """ILP (2), by HiGHS: a column for each scheme of each request."""
    columns = [(i, use) for i in range(len(stream.requests)) for use in every_use(stream, i)]
    if not columns:
        return 0.0
    rows, limits = [], []
    for time, at in {(request.start, at) for request in stream.requests for _, use in columns for at in use}:
        runs = [r.start <= time < r.end for r in stream.requests]
        rows.append([use.get(at, 0.0) * runs[i] for i, use in columns])  # (2a)
        limits.append(capacity(stream, at))
    for i in range(len(stream.requests)):
        rows.append([float(i == j) for j, _ in columns])  # (2b)
        limits.append(1.0)
    value = [stream.requests[i].value for i, _ in columns]
    found = milp(-np.array(value), constraints=LinearConstraint(np.array(rows), ub=limits), integrality=1, bounds=Bounds(0, 1))
    return -found.fun


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
