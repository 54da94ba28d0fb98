"""Theorems of [UCaC] as properties, and packings against brute force."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.builders.packings import best_by_trying, packing, packings, problem_of

from bayplan.decide.pack import PACKERS, PackOptions
from bayplan.decide.pack.exact_pricing import price_patterns
from bayplan.decide.pack.pricing import PricingProblem
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.model import Budget, Placement, ints, silent
from bayplan.score.confidence import deviate, machine_ucac

few = settings(max_examples=30, deadline=None)
BUDGET = Budget()


def packed(method, pair):
    return PACKERS[method](problem_of(pair), PackOptions(), budget=BUDGET, seed=0, progress=silent)


# ---- Proposition 1 -------------------------------------------------------------------------------------------------------------


@few
@given(
    mean=st.integers(0, 50),
    std=st.integers(1, 30),
    counts=st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1]),
)
def test_ucac_grows_with_every_container_and_by_less_the_more_uncertain_a_machine_is(mean, std, counts):
    cluster, _ = packing([mean], [std], [14], capacity=[10_000] * 2)

    def ucac(n):
        at = np.full(14, -1)
        at[:n] = 0
        return machine_ucac(cluster, Placement(machine_of=ints(at)), 0, alpha=0.99)[0]

    few_more, many_more = (ucac(n + 1) - ucac(n) for n in counts)
    assert many_more > 0
    assert few_more > many_more


@few
@given(parts=st.lists(st.tuples(st.floats(0.001, 1.0), st.floats(0.001, 1.0)), min_size=1, max_size=12))
def test_lemma_6_what_does_not_fit_has_more_than_three_quarters(parts):
    """[UCaC] appendix A: mean over V, and variance times D squared over V squared."""
    mean, variance = np.array(parts).T
    for n in range(1, len(parts) + 1):
        if mean[:n].sum() + np.sqrt(variance[:n].sum()) > 1:
            assert (mean[:n] + variance[:n]).sum() > 0.75


# ---- Theorem 4 -----------------------------------------------------------------------------------------------------------------


def most_that_fits(free, variance, d, mean_j, variance_j):
    """The largest x with x mean_j + d sqrt(variance + x variance_j) <= free."""
    left = free**2 - d**2 * variance
    if free <= 0 or left <= 0:
        return 0.0
    half = free * mean_j + d**2 * variance_j / 2
    return left / (half + np.sqrt(half**2 - mean_j**2 * left))


def filled_in_turn(mean, variance, amount, capacity, d):
    """(machine, workload) fractions: each machine in turn takes what has most variance per mean, until it is full."""
    left, inside = np.array(amount, dtype=float), np.zeros((len(capacity), len(mean)))
    for m, size in enumerate(capacity):
        for j in np.argsort(-np.divide(variance, mean), kind="stable"):
            x = most_that_fits(size - inside[m] @ mean, inside[m] @ variance, d, mean[j], variance[j])
            inside[m, j] = min(x, left[j])
            left[j] -= inside[m, j]
    return None if left.max() > 1e-9 else inside


def least_relaxed(mean, variance, amount, capacity, d):
    """The least UCaC with fractions and its machines; None if they do not fit. Tries the machines in every order."""
    answers = []
    for order in sorted(set(permutations(capacity))):
        inside = filled_in_turn(mean, variance, amount, order, d)
        if inside is not None:
            used = inside @ mean + d * np.sqrt(inside @ variance)
            assert (used <= np.array(order) * (1 + 1e-9)).all()
            answers.append((float(used.sum()), int((used > 1e-6).sum())))
    return min(answers, default=None)


@st.composite
def divisible(draw):
    """Means, deviations, parts of each workload, machines of one size or of several, alpha. Every deviation is above zero."""
    n_w, n_m = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    mean = draw(st.lists(st.integers(2, 40), min_size=n_w, max_size=n_w))
    std = draw(st.lists(st.integers(1, 20), min_size=n_w, max_size=n_w))
    parts = draw(st.lists(st.integers(1, 4 if n_w < 3 else 2), min_size=n_w, max_size=n_w))
    sizes = st.sampled_from([60, 100, 150])
    capacity = [draw(sizes)] * n_m if draw(st.booleans()) else draw(st.lists(sizes, min_size=n_m, max_size=n_m))
    return mean, std, parts, capacity, draw(st.sampled_from([0.9, 0.99, 0.999]))


@few
@given(drawn=divisible())
def test_theorem_4_with_fractions_the_least_ucac_has_the_fewest_machines(drawn):
    """No packing of parts has less UCaC, nor fewer machines; on machines of several sizes, too, unlike in the paper."""
    mean, std, parts, capacity, alpha = drawn
    problem = problem_of(packing(mean, std, parts, capacity=capacity, alpha=alpha))
    ucac, fewest = best_by_trying(problem, "ucac"), best_by_trying(problem, "machines")
    assume(fewest is not None)
    relaxed, machines = least_relaxed(np.array(mean), np.square(std), parts, capacity, deviate(alpha))
    assert relaxed <= ucac * (1 + 1e-9)
    assert machines <= fewest


@settings(max_examples=20, deadline=None)
@given(mean=st.lists(st.integers(20, 90), min_size=1, max_size=3), alpha=st.sampled_from([0.9, 0.999]), data=st.data())
def test_theorem_4_bi_level_is_near_the_least_ucac_where_containers_are_small(mean, alpha, data):
    std = data.draw(st.lists(st.integers(5, 20), min_size=len(mean), max_size=len(mean)))
    share, capacity = 100, [150] * 4
    small = packing(np.array(mean) / share, np.array(std) / np.sqrt(share), [share] * len(mean), capacity=capacity, alpha=alpha)
    ucac, machines = least_relaxed(np.array(mean), np.square(std), [1] * len(mean), capacity, deviate(alpha))
    result = packed("bi-level", small)
    assert ucac * (1 - 1e-9) <= result.score["ucac"] <= ucac * 1.03
    assert machines <= result.score["machines"] <= machines + 1


def test_theorem_4_fails_where_memory_counts_too():
    """One workload fills a machine by its variance, the other the memory of two: three machines keep the variance together."""
    quarters = ([0.25, 0.5], [30.0, 0.005], [4, 4])
    pair = packing(*quarters, capacity=[100] * 3, memory=([0, 4], [8] * 3))
    ucac, fewest = packed("csp-ucac", pair), packed("csp-machines", pair)
    assert (ucac.score["machines"], fewest.score["machines"]) == (3, 2)
    d, fit = deviate(0.95), 0
    for x in np.linspace(0.5, 1, 501):  # fractions on two machines: their memory is full, so each has half of the second workload
        used = [part + 1 + d * np.sqrt(3600 * part + 0.5e-4) for part in (x, 1 - x)]
        fit += max(used) <= 100
        assert max(used) > 100 or sum(used) > ucac.score["ucac"] * 1.1
    assert fit > 400


# ---- Theorem 5 and brute force -------------------------------------------------------------------------------------------------


@few
@given(pair=packings(empty=True))
def test_the_least_ucac_needs_at_most_eight_thirds_of_the_fewest_machines(pair):
    fewest = best_by_trying(problem_of(pair), "machines")
    assume(fewest)
    assert packed("csp-ucac", pair).score["machines"] <= 8 / 3 * fewest


@few
@given(pair=packings())
def test_csp_ucac_is_as_good_as_trying_everything(pair):
    best = best_by_trying(problem_of(pair), "ucac")
    assume(best is not None)
    result = packed("csp-ucac", pair)
    assert len(result.solution.unplaced) == 0
    assert result.score["ucac"] == pytest.approx(best, rel=1e-6, abs=1e-6)


@few
@given(pair=packings(memory=True))
def test_csp_ucac_is_as_good_as_trying_everything_with_memory(pair):
    best = best_by_trying(problem_of(pair), "ucac")
    assume(best is not None)
    result = packed("csp-ucac", pair)
    assert len(result.solution.unplaced) == 0
    assert result.score["ucac"] == pytest.approx(best, rel=1e-6, abs=1e-6)


@few
@given(pair=packings())
def test_csp_machines_is_as_good_as_trying_everything(pair):
    best = best_by_trying(problem_of(pair), "machines")
    assume(best is not None)
    result = packed("csp-machines", pair)
    assert len(result.solution.unplaced) == 0
    assert result.score["machines"] == best


# ---- exact pricing -------------------------------------------------------------------------------------------------------------


@st.composite
def pricings(draw):
    """Up to 4 workloads, 1-3 bins that may run something, values and rents."""
    n_w, n_i = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    numbers = st.floats(0.02, 0.4)
    mean = [draw(numbers) for _ in range(n_w)]
    variance = [draw(st.sampled_from([0.0, 1e-4, 0.003, 0.01, 0.03])) for _ in range(n_w)]
    deviates = (
        [draw(st.sampled_from([2.326, 3.09]))] * n_w
        if draw(st.booleans())
        else [draw(st.sampled_from([1.5, 3.0])) for _ in range(n_w)]
    )
    start = [draw(st.sampled_from([0.0, 0.0, 0.004, 0.02])) for _ in range(n_i)]
    free = [draw(st.floats(0.3, 1.0)) for _ in range(n_i)]
    memory = draw(st.booleans())
    sizes = Sizes(
        mean=np.array([mean]),
        variance=np.array([variance]),
        d=np.array([deviates]),
        request=np.array([[draw(st.integers(0, 3)) for _ in range(n_w)]] if memory else np.zeros((0, n_w)), dtype=np.int64),
    )
    bins = Bins(
        capacity=np.ones((n_i, 1)),
        free_mean=np.array(free)[:, None],
        variance=np.array(start)[:, None],
        d=np.array([max(deviates) if value else 0.0 for value in start])[:, None],
        free=np.full((n_i, 1 if memory else 0), 7, dtype=np.int64),
        max_count=np.array([[draw(st.integers(0, 4)) for _ in range(n_w)] for _ in range(n_i)], dtype=np.int64),
    )
    value = np.array([draw(st.floats(0.0, 0.5)) for _ in range(n_w)])
    base = np.array([draw(st.floats(0.0, 0.3)) for _ in range(n_i)])
    return PricingProblem(sizes=sizes, bins=bins, value=value, base=base, minimise_ucac=draw(st.booleans()), threshold=1e-9)


def gain_of(problem, i, pattern):
    """What a pattern gains; -inf if it does not fit."""
    sizes, bins, pattern = problem.sizes, problem.bins, np.array(pattern)
    d = max(bins.d[i, 0], *(sizes.d[0][pattern > 0])) if pattern.any() else bins.d[i, 0]
    uncertain = d * np.sqrt(bins.variance[i, 0] + pattern @ sizes.variance[0])
    if pattern @ sizes.mean[0] + uncertain > bins.free_mean[i, 0] * (1 + 1e-9) or (sizes.request @ pattern > bins.free[i]).any():
        return -np.inf
    before = bins.d[i, 0] * np.sqrt(bins.variance[i, 0])
    return pattern @ problem.value - problem.base[i] - (uncertain - before if problem.minimise_ucac else 0.0)


@pytest.mark.long
@settings(max_examples=75, deadline=None)
@given(problem=pricings())
def test_pricing_finds_the_best_of_all_patterns(problem):
    priced = price_patterns(problem)
    assert priced.proven
    for i, most in enumerate(problem.bins.max_count):
        patterns = product(*(range(count + 1) for count in most))
        best = max((gain_of(problem, i, pattern) for pattern in patterns if any(pattern)), default=-np.inf)
        ours = priced.gain[priced.bin == i].max(initial=0.0)
        assert ours == pytest.approx(best if best > 1e-9 else 0.0, abs=1e-8)


@settings(max_examples=50, deadline=None)
@given(problem=pricings())
def test_what_pricing_finds_fits_and_gains_what_it_says(problem):
    priced = price_patterns(problem)
    for i, pattern, gain in zip(priced.bin, priced.pattern, priced.gain, strict=True):
        assert (pattern <= problem.bins.max_count[i]).all()
        true = gain_of(problem, i, pattern)
        assert gain <= true + 1e-9  # workloads of a smaller deviate are searched at the deviates of others, too
        assert gain == pytest.approx(true, abs=1e-9) or len(set(problem.sizes.d[0])) > 1


# ---- without variance it is bin packing ----------------------------------------------------------------------------------------

TRIPLETS = [  # each bin of 100 is exactly three items
    (26, 31, 43),
    (27, 29, 44),
    (28, 35, 37),
    (33, 33, 34),
    (25, 36, 39),
    (30, 32, 38),
]
KNOWN = {  # sizes, capacity, the fewest bins
    "halves": ([50] * 9 + [51] * 4, 100, 9),  # no 51 with a 50
    "triplets": (sorted(sum(TRIPLETS, ()), reverse=True), 100, 6),
    "first fit decreasing is not enough": ([44, 24, 24, 22, 21, 17, 8, 8, 6, 6], 60, 3),
    "sevenths": ([15] * 6 + [34] * 6 + [51] * 6, 101, 6),  # first fit takes 10 in this order
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("method", ["csp-machines", "csp-ucac"])
def test_with_all_variances_zero_known_optima_are_met(name, method):
    sizes, capacity, fewest = KNOWN[name]
    kinds, counts = np.unique(sizes, return_counts=True)
    pair = packing(kinds.tolist(), [0] * len(kinds), counts.tolist(), capacity=[capacity] * fewest, alpha=0.999)
    result = packed(method, pair)
    assert len(result.solution.unplaced) == 0
    assert result.score["machines"] == fewest


@pytest.mark.parametrize("name", KNOWN)
def test_with_all_variances_zero_machines_that_are_not_needed_stay_empty(name):
    sizes, capacity, fewest = KNOWN[name]
    kinds, counts = np.unique(sizes, return_counts=True)
    pair = packing(kinds.tolist(), [0] * len(kinds), counts.tolist(), capacity=[capacity] * (fewest + 5), alpha=0.999)
    result = packed("csp-machines", pair)
    assert result.score["machines"] == fewest
    assert result.bound == fewest
