"""Moves divided over the fronts of clusters: no other division gains more by the concave envelopes."""

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.api.fleet.division import GainAt, add, divide, divide_evenly, envelope, gain_of, total_gain

MOST = 6


def fronts(ranks):
    """Fronts in fractions, so that sums are exact: gains of each rank at some numbers of moves, rising or not."""
    gain = st.tuples(*[st.integers(-3, 6).map(Fraction) for _ in range(ranks)])
    return st.lists(st.builds(GainAt, st.integers(0, MOST), gain), max_size=5).map(tuple)


def value(points, moves):
    """The concave envelope at a number of moves, by its definition: the best mixture of two points that needs as many."""
    start = max((p.gain for p in points if p.moves == 0), default=tuple(Fraction(0) for _ in points[0].gain))
    known = [GainAt(0, start), *(p for p in points if p.moves)]
    mixtures = []
    for a, b in product(known, known):
        if a.moves <= moves:  # moves need not be used
            mixtures.append(a.gain)
        if a.moves <= moves < b.moves:
            part = Fraction(moves - a.moves, b.moves - a.moves)
            mixtures.append(tuple((1 - part) * x + part * y for x, y in zip(a.gain, b.gain, strict=True)))
    return tuple(after - before for before, after in zip(start, max(mixtures), strict=True))


@given(st.integers(1, 3).flatmap(lambda ranks: fronts(ranks)), st.integers(0, MOST))
def test_an_envelope_is_the_best_mixture_of_two_points(points, moves):
    if points:
        expected = value(points, moves)
        assert (gain_of(envelope(points), moves) or tuple(0 for _ in expected)) == expected


@settings(deadline=None)
@given(st.integers(1, 2).flatmap(lambda ranks: st.lists(fronts(ranks), min_size=1, max_size=3)), st.integers(0, 8))
def test_no_division_gains_more(clusters, total):
    envelopes = [envelope(points) for points in clusters]
    share = divide(envelopes, total)
    assert sum(share) <= total and all(moves >= 0 for moves in share)
    others = (each for each in product(range(MOST + 1), repeat=len(clusters)) if sum(each) <= total)
    best = max((total_gain(envelopes, other) for other in others), default=())
    assert (total_gain(envelopes, share) or best) == best


@given(fronts(2))
def test_each_piece_gains_less_for_a_move_than_the_one_before_and_something(points):
    slopes = [piece.slope for piece in envelope(points)]
    assert slopes == sorted(slopes, reverse=True) and len(set(slopes)) == len(slopes)
    assert all(slope > (0, 0) for slope in slopes)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(0, 60))
def test_the_same_share_uses_all_moves_and_differs_by_less_than_one(sizes, total):
    share = divide_evenly(sizes, total)
    assert sum(share) == min(total, sum(sizes))
    assert all(moves <= size for moves, size in zip(share, sizes, strict=True))
    exact = [min(total, sum(sizes)) * size / max(1, sum(sizes)) for size in sizes]
    assert all(abs(moves - each) < 1 for moves, each in zip(share, exact, strict=True))


def test_urgent_ranks_come_before_any_gain():
    repairs, gains = [GainAt(2, (1.0, 0.0))], [GainAt(2, (0.0, 9.0))]
    assert divide([envelope(gains), envelope(repairs)], 2) == [0, 2]
    assert divide([envelope(gains), envelope(repairs)], 3) == [1, 2]


def test_gains_without_moves_take_no_share():
    placed_anyway = [GainAt(0, (2.0, 0.1)), GainAt(3, (2.0, 0.2))]
    assert divide([envelope(placed_anyway), envelope([GainAt(3, (0.0, 0.5))])], 3) == [0, 3]
    assert add((), (1.0,)) == (1.0,)
