"""Every kernel module can be warmed up, and has a naive twin and a test."""

import importlib
import pkgutil
from pathlib import Path

import pytest

import bayplan.kernels
from bayplan.kernels import KERNELS

SHARED = {"ahead", "jit", "lowering", "machine_code", "random"}  # what all kernels are made with
TESTS = Path(__file__).parents[1]

every_kernel = pytest.mark.parametrize("name", KERNELS)


def test_every_module_is_registered_or_shared():
    names = {module.name for module in pkgutil.iter_modules(bayplan.kernels.__path__)}
    assert names == {*KERNELS, *SHARED}


@every_kernel
def test_has_a_warm_up(name):
    importlib.import_module(f"bayplan.kernels.{name}").warm_up()


@every_kernel
def test_has_a_naive_twin_and_a_comparison(name):
    assert (TESTS / "naive" / f"{name}.py").exists()
    assert (TESTS / "kernels" / f"test_{name}.py").exists()
