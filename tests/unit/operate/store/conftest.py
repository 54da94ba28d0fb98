"""The same tests over both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bayplan.operate.store import Store

BOTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


@pytest.fixture(params=BOTH)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store can be opened."""
    if request.param == "sqlite":
        return str(tmp_path / "bayplan.db")
    return request.getfixturevalue("postgres_server").address()


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    """An empty store."""
    with Store.open(where) as opened:
        yield opened


@pytest.fixture
def fence(store: Store) -> int:
    """The fence of the one that acts."""
    fence = store.acquire("loop", now=0.0, seconds=60.0)
    assert fence is not None
    return fence
