"""Fixtures that all kinds of tests share."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("BAYPLAN_DEBUG", "1")  # warnings and internal faults come out of the command line


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with real data, or a skip that says where it was looked for."""
    folder = Path(os.environ.get("BAYPLAN_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set BAYPLAN_DATA")
    return folder
