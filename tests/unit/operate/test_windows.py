"""Windows of time in which acting is allowed."""

import pytest

from bayplan.errors import UsageError
from bayplan.operate.simulated import MONDAY
from bayplan.operate.windows import closing_time, read_window

HOUR, DAY = 3600.0, 86400.0


def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins():
    nights = read_window("mon-fri 22:00-06:00")
    assert nights.closes(MONDAY + 23 * HOUR) == MONDAY + 30 * HOUR
    assert nights.closes(MONDAY + 29 * HOUR) == MONDAY + 30 * HOUR
    assert nights.closes(MONDAY + 5 * HOUR) is None  # that night began on a Sunday
    assert nights.closes(MONDAY + 5 * DAY + 5 * HOUR) == MONDAY + 5 * DAY + 6 * HOUR  # Saturday morning, begun on Friday
    assert nights.closes(MONDAY + 30 * HOUR) is None


def test_days_alone_are_whole_days_and_hours_alone_are_every_day():
    assert read_window("sat,sun").closes(MONDAY + 6 * DAY + HOUR) == MONDAY + 7 * DAY
    assert read_window("sat,sun").closes(MONDAY) is None
    assert read_window("01:00-05:00").closes(MONDAY + 3 * DAY + 2 * HOUR) == MONDAY + 3 * DAY + 5 * HOUR
    assert read_window("fri-mon").days == {4, 5, 6, 0}


def test_a_window_follows_its_time_zone_through_the_change_to_summer_time():
    berlin = read_window("22:00-06:00", "Europe/Berlin")
    sunday = 1_743_289_200.0  # 2025-03-30 00:00 in Berlin; the clocks go forward at 02:00
    assert berlin.closes(sunday + HOUR) == sunday + 5 * HOUR
    assert berlin.closes(MONDAY + 20 * HOUR) is None  # 21:00 in Berlin
    assert berlin.closes(MONDAY + 21 * HOUR) == MONDAY + 29 * HOUR


def test_of_several_windows_the_last_to_close_counts_and_none_means_always():
    windows = (read_window("01:00-02:00"), read_window("01:00-05:00"))
    assert closing_time(windows, MONDAY + 1.5 * HOUR) == MONDAY + 5 * HOUR
    assert closing_time(windows, MONDAY + 6 * HOUR) is None
    assert closing_time((), MONDAY) == float("inf")


@pytest.mark.parametrize("text", ["", "xyz", "mon 10:00", "10:00-10:00", "mon-xyz", "25:00-26:00", "10:61-12:00", "a b c"])
def test_what_is_no_window_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="22:00-06:00"):
        read_window(text)


def test_an_unknown_time_zone_is_refused():
    with pytest.raises(UsageError, match="Mars/Base"):
        read_window("sat", "Mars/Base")
