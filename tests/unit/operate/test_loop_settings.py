"""What may be said about a loop."""

import pytest

from bayplan.errors import UsageError
from bayplan.operate.settings import LoopSettings, Mode


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "maybe"},
        {"alive": 1.5},
        {"min_gain": -0.1},
        {"margin": float("nan")},
        {"every": 0.0},
        {"lease": -1.0},
        {"hold": -1.0},
        {"settle": float("nan")},
    ],
    ids=str,
)
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(UsageError, match=name.replace("_", " ")):
        LoopSettings(**wrong)


def test_only_auto_acts_without_asking():
    assert [mode for mode in Mode if LoopSettings(mode=mode).acts] == [Mode.AUTO]
