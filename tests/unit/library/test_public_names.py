"""The names that others may use. A change here is a change for everybody."""

import doctest
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayplan as bp

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = [
    "read",
    "read_requests",
    "read_fleet",
    "read_stream",
    "write",
    "generate",
    "kubernetes",
    "ClusterBuilder",
    "Snapshot",
    "Placement",
    "Objective",
    "Budget",
    "WhatIf",
    "Capacity",
    "AntiAffinity",
    "Spread",
    "Skew",
    "CoLocate",
    "Allow",
    "Dependency",
    "Transient",
    "Interference",
    "Pinned",
    "Confidence",
    "score",
    "check",
    "explain",
    "performance",
    "simulate",
    "plan",
    "plan_fleet",
    "Goal",
    "capacity",
    "engine",
    "place",
    "rebalance",
    "collocate",
    "pack",
    "OnlinePacking",
    "machines_needed",
    "admit",
    "Admission",
    "schedule",
    "migrate",
    "run",
    "LoopSettings",
    "Client",
    "methods",
    "register",
    "BayplanError",
    "InputError",
    "UsageError",
    "WorldError",
    "ModelError",
    "__version__",
]
FOLDERS = ("score", "check", "generate", "migrate")  # functions that have the name of a folder


def test_public_names_are_pinned():
    assert sorted(bp.__all__) == sorted(NAMES)
    assert all(hasattr(bp, name) for name in NAMES)
    assert set(NAMES) <= set(dir(bp))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_function_keeps_its_name_whatever_is_imported(name):
    code = f"import bayplan.{name}, bayplan as bp; assert callable(bp.{name}), bp.{name}; bp.{name}.__doc__"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'rebalanse'"):
        _ = bp.rebalanse


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_every_public_name_has_a_docstring_with_an_example_that_runs(name, tmp_path, monkeypatch):
    for file in EXAMPLES.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bayplan.api.registry._registered", {})
    value = getattr(bp, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(value, name, globs={"bp": bp})
    assert test.examples, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    outcome = runner.run(test)
    assert outcome.failed == 0


def test_importing_the_library_loads_nothing_heavy():
    code = (
        "import sys, bayplan; heavy = {'numpy', 'scipy', 'numba', 'highspy', 'typer', 'rich', 'yaml'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
