"""Fixtures that all kinds of tests share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from bayplan.engine import Engine
from tests.builders import postgres, ray_cluster

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)  # the same examples in every run
settings.register_profile("explore", deadline=None, max_examples=1000)  # HYPOTHESIS_PROFILE=explore: new ones, many
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
os.environ.setdefault("BAYPLAN_DEBUG", "1")  # warnings and internal faults come out of the command line


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real data, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("BAYPLAN_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set BAYPLAN_DATA")
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A PostgreSQL server of our own, or a skip that says what is missing. Mark tests that use it with `postgres`."""
    if words := postgres.missing():
        postgres.skip_or_fail(words)
    with postgres.server() as server:
        yield server


@pytest.fixture(scope="session")
def ray_nodes() -> Iterator[ray_cluster.RayCluster]:
    """A real Ray cluster of three nodes on this machine, or a skip that says what is missing. Mark tests with `ray`."""
    if words := ray_cluster.missing():
        ray_cluster.skip_or_fail(words)
    with ray_cluster.ray_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ray_engine(ray_nodes: ray_cluster.RayCluster) -> Iterator[Engine]:
    """The engine on that cluster, connected once for all tests."""
    with ray_cluster.connected(ray_nodes) as engine:
        yield engine


def pytest_configure(config: pytest.Config) -> None:
    """Compile all kernels once, before several workers would each compile them."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        from bayplan.api.warm_up import warm_up
        from bayplan.model import silent

        warm_up(silent)
