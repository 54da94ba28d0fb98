"""One budget of moves for many clusters, divided where it brings most.

Each cluster has a front: what it gains with that many moves. Its upper concave envelope begins at no moves, with what is gained
without any, and each piece of it gains less for a move than the one before. Taking the pieces of all clusters by what they gain
for a move, until the moves are used up, is optimal for the sum of the envelopes: exchanging a move for one left out never gains.

A gain has ranks, compared one after the other as a goal compares them. Sums and slopes of such tuples are ordered in the same
way, so all of this holds for them as it does for numbers.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

Gain: TypeAlias = tuple[float, ...]  # what is gained in each rank, the first rank first; more is better


class GainAt(NamedTuple):
    """A point of a front."""

    moves: int
    gain: Gain


class Piece(NamedTuple):
    """A piece of an envelope: that many moves, each of which gains as much."""

    moves: int
    slope: Gain


Envelope: TypeAlias = tuple[Piece, ...]


def envelope(points: Iterable[GainAt]) -> Envelope:
    """The rising part of the upper concave envelope of a front: pieces by what a move gains, most first.

    It begins at the best point without moves, or at a gain of 0 if there is none.
    """
    left, pieces = sorted(points), []
    nothing = tuple(0 * each for each in left[0].gain) if left else ()
    moves, gain = 0, max((point.gain for point in left if not point.moves), default=nothing)
    while left := [point for point in left if point.moves > moves]:
        steepest = max(left, key=lambda point: (_slope(moves, gain, point), point.moves))
        piece = Piece(steepest.moves - moves, _slope(moves, gain, steepest))
        if not piece.slope > nothing:
            break
        pieces.append(piece)
        moves, gain = steepest
    return tuple(pieces)


def _slope(moves: int, gain: Gain, to: GainAt) -> Gain:
    return tuple((after - before) / (to.moves - moves) for before, after in zip(gain, to.gain, strict=True))


def divide(envelopes: Sequence[Envelope], total: int) -> list[int]:
    """Moves for each cluster, at most `total` in all, that gain most by the envelopes. Ties go to the first cluster."""
    pieces = [(piece, number) for number, pieces in enumerate(envelopes) for piece in pieces]
    share = [0] * len(envelopes)
    for piece, number in sorted(pieces, key=lambda each: each[0].slope, reverse=True):
        taken = min(piece.moves, total - sum(share))
        share[number] += taken
    return share


def divide_evenly(sizes: Sequence[int], total: int) -> list[int]:
    """The same share of each size, in whole moves; those left over go where most was cut off."""
    everything = max(1, sum(sizes))
    exact = [min(total, everything) * size / everything for size in sizes]
    share = [int(each) for each in exact]
    by_rest = sorted(range(len(sizes)), key=lambda number: (share[number] - exact[number], number))
    for number in by_rest[: min(total, sum(sizes)) - sum(share)]:
        share[number] += 1
    return share


def gain_of(pieces: Envelope, moves: int) -> Gain:
    """What that many moves gain by an envelope; () if it has no piece."""
    gain: Gain = ()
    for piece in pieces:
        taken = min(piece.moves, moves)
        moves -= taken
        gain = add(gain, tuple(taken * each for each in piece.slope))
    return gain


def add(one: Gain, other: Gain) -> Gain:
    """The sum; () is nothing."""
    if not one or not other:
        return one or other
    return tuple(a + b for a, b in zip(one, other, strict=True))


def total_gain(envelopes: Sequence[Envelope], shares: Sequence[int]) -> Gain:
    """What a division gains by the envelopes, in all."""
    gain: Gain = ()
    for pieces, moves in zip(envelopes, shares, strict=True):
        gain = add(gain, gain_of(pieces, moves))
    return gain
