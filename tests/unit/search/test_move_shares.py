"""How moves share the work of a walk."""

import numpy as np
import pytest

from bayplan.search import move_shares
from bayplan.search.move_shares import LIMIT, VICTIMS, WORK, MoveShares


def counted(shares, steps, work, gain):
    """What a walk counts, per move."""
    shares.mixture.steps[:], shares.mixture.work[:], shares.mixture.gain[:] = steps, work, gain
    shares.update()
    return np.diff(shares.mixture.up_to, prepend=0.0)


def test_shares_are_shares_of_the_work():
    each = np.array([1.0, 2.0, 10.0, 100.0, 1000.0])
    steps = counted(MoveShares(), 1e9 / each, 1e9, 0.0)
    work = steps * each / (steps * each).sum()
    assert work == pytest.approx(WORK, rel=1e-3)


def test_what_gains_more_for_its_work_gets_more_but_none_gets_all():
    gain = np.array([1.0, 1.0, 1e30, 1.0, 0.0])
    steps = counted(MoveShares(), 1e6, 1e9, gain)
    change = steps / WORK
    assert change[2] == change.max()
    assert change[4] == change.min()
    assert change.max() / change.min() <= LIMIT**2 * (1 + 1e-9)


def test_old_gains_are_forgotten():
    shares, gain = MoveShares(), np.array([1e9, 0.0, 0.0, 0.0, 0.0])
    counted(shares, 1e6, 1e9, gain)
    later = counted(shares, 1e6, 1e9, gain[::-1])
    assert later[0] / WORK[0] < later[4] / WORK[4]


def test_shares_add_up_before_anything_was_counted():
    shares = MoveShares()
    assert shares.mixture.up_to[-1] == pytest.approx(1.0)
    assert len(shares.mixture.up_to) == len(VICTIMS) == len(WORK)
    assert move_shares.WORK.sum() == pytest.approx(1.0)
