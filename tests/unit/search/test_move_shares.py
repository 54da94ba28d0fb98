"""How moves share the work of a walk."""

import numpy as np
import pytest

from bayplan.search import move_shares
from bayplan.search.move_shares import CROWDED, CROWDED_WORK, LIMIT, MAX_PAIRS, VICTIMS, WORK, MoveShares, work_shares


def counted(shares, steps, work, gain):
    """What a walk counts, per move."""
    shares.mixture.steps[:], shares.mixture.work[:], shares.mixture.gain[:] = steps, work, gain
    shares.update()
    return np.diff(shares.mixture.up_to, prepend=0.0)


def test_shares_are_shares_of_the_work():
    each = np.array([1.0, 2.0, 10.0, 100.0, 1000.0])
    steps = counted(MoveShares(100, 10), 1e9 / each, 1e9, 0.0)
    work = steps * each / (steps * each).sum()
    assert work == pytest.approx(WORK, rel=1e-3)


def test_what_gains_more_for_its_work_gets_more_but_none_gets_all():
    gain = np.array([1.0, 1.0, 1e30, 1.0, 0.0])
    steps = counted(MoveShares(100, 10), 1e6, 1e9, gain)
    change = steps / WORK
    assert change[2] == change.max()
    assert change[4] == change.min()
    assert change.max() / change.min() <= LIMIT**2 * (1 + 1e-9)


def test_old_gains_are_forgotten():
    shares, gain = MoveShares(100, 10), np.array([1e9, 0.0, 0.0, 0.0, 0.0])
    counted(shares, 1e6, 1e9, gain)
    later = counted(shares, 1e6, 1e9, gain[::-1])
    assert later[0] / WORK[0] < later[4] / WORK[4]


def test_shares_add_up_before_anything_was_counted():
    shares = MoveShares(100, 10)
    assert shares.mixture.up_to[-1] == pytest.approx(1.0)
    assert len(shares.mixture.up_to) == len(VICTIMS) == len(WORK)
    assert move_shares.WORK.sum() == pytest.approx(1.0)


def test_crowded_machines_shift_the_work():
    few, many = CROWDED
    assert work_shares(1.0) == pytest.approx(WORK)
    assert work_shares(few) == pytest.approx(WORK)
    assert work_shares(many) == pytest.approx(CROWDED_WORK)
    assert work_shares(10 * many) == pytest.approx(CROWDED_WORK)
    assert work_shares((few * many) ** 0.5) == pytest.approx((WORK + CROWDED_WORK) / 2)
    assert CROWDED_WORK.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("items", "pairs"), [(10, 1), (1_500, 1), (5_000, 5), (10**6, MAX_PAIRS)])
def test_the_more_items_the_more_pairs_the_largest_ejection_is_chosen_from(items, pairs):
    assert MoveShares(items, 10).mixture.pairs.tolist() == [1, 1, 1, 1, pairs]
