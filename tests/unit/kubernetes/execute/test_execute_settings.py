"""What may be said about carrying out steps."""

import pytest

from bayplan.errors import UsageError
from bayplan.kubernetes.execute import ExecuteSettings


def test_a_time_below_zero_is_refused():
    with pytest.raises(UsageError, match="pending -1: expected 0 seconds or more"):
        ExecuteSettings(pending=-1)


def test_nothing_surges_unless_it_is_asked_for():
    assert not ExecuteSettings().surge
