"""A few kills, and an end in order, under load; `tests/stress/serve_kills.py` makes hundreds."""

import pytest
from tests.builders import postgres
from tests.stress.serve_kills import BAD, killed


def _expect_nothing_lost(database, times, **how):
    rows = list(killed(database, range(times), **how))
    assert [{name: row[name] for name in BAD} for row in rows] == [dict.fromkeys(BAD, 0)] * times
    assert sum(row["acknowledged"] for row in rows) > 0


@pytest.mark.long
def test_kills_lose_nothing_on_sqlite():
    _expect_nothing_lost("sqlite", 2)


@pytest.mark.long
def test_ends_in_order_under_load_lose_nothing():
    _expect_nothing_lost("sqlite", 1, in_order=True)


@pytest.mark.postgres
def test_kills_lose_nothing_on_postgresql():
    if words := postgres.missing():
        postgres.skip_or_fail(words)
    _expect_nothing_lost("postgresql", 3)
