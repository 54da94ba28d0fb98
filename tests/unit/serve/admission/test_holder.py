"""The name of a server says whether its process is certainly gone."""

import subprocess
import sys

import pytest

from bayplan.serve.admission.holder import holder_name, is_gone

PRINT = "from bayplan.serve.admission.holder import holder_name; print(holder_name())"


def test_every_server_has_a_name_of_its_own():
    assert holder_name() != holder_name()


def test_a_process_that_runs_is_not_gone():
    assert not is_gone(holder_name())


def test_a_process_that_has_ended_on_this_machine_is_gone():
    name = subprocess.run([sys.executable, "-c", PRINT], capture_output=True, text=True, check=True).stdout.strip()
    assert is_gone(name)
    host, rest = name.split("/", 1)
    assert not is_gone(f"other-{host}/{rest}")  # another machine: only its lease can tell


@pytest.mark.parametrize("name", ["", "a", "a/b", "a/b/c", "///", "host/boot/pid:[1]/x/y", "host/boot/pid:[1]/-1/y"])
def test_a_name_that_says_nothing_is_not_gone(name):
    assert not is_gone(name)
