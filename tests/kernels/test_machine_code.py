"""Machine code is compiled once, kept, found again, and never trusted blindly."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import types

from bayplan.kernels import KERNELS, ahead, machine_code
from bayplan.kernels.jit import ENTRIES, plain_type
from bayplan.kernels.random import below
from bayplan.kernels.schedule.free_tree import build_tree

SMALL = "schedule.free_tree.build_tree"
COUNT = """
import numpy as np
from numba.core import event

class Compiled(event.Listener):
    names = []
    def on_start(self, e): pass
    def on_end(self, e): self.names.append(e.data["dispatcher"].py_func.__name__)

event.register("numba:compile", Compiled())
from bayplan.kernels.schedule.free_tree import build_tree
tree = np.zeros((2, 1), dtype=np.int64)
build_tree(np.full(1, 7), 1, tree)
print(tree.max(), "build_tree" in Compiled.names)
"""


def run(folder, code=COUNT, **variables):
    """What a process with that folder of machine code prints."""
    environment = {**os.environ, "BAYPLAN_CACHE_DIR": str(folder), **variables}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine-code")
    assert run(folder) == ["7", "True"]
    return folder


def copy_of(folder, to):
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def test_a_second_process_compiles_nothing(filled):
    assert [file.name.rpartition(".")[0].rpartition(".")[0] for file in filled.iterdir()] == [SMALL]
    assert run(filled) == ["7", "False"]


@pytest.mark.long
@pytest.mark.parametrize("content", [b"", b"x" * 10_000, None])
def test_a_damaged_file_is_compiled_anew(filled, tmp_path, content):
    for file in copy_of(filled, tmp_path).iterdir():
        file.write_bytes(file.read_bytes()[:-100] if content is None else content)
    assert run(tmp_path) == ["7", "True"]
    assert run(tmp_path) == ["7", "False"]


def test_machine_code_for_another_processor_is_not_used(filled, tmp_path):
    assert run(copy_of(filled, tmp_path), NUMBA_CPU_NAME="nehalem", NUMBA_CPU_FEATURES="+sse4.2") == ["7", "True"]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "folder") == ["7", "True"]


def test_the_name_of_a_file_depends_on_the_text_of_its_folder(monkeypatch):
    cache = machine_code.KernelCache(build_tree.py_func)
    name = cache.file_name((types.int64,), "t", "c", "f")
    assert name != cache.file_name((types.float64,), "t", "c", "f")
    monkeypatch.setattr(machine_code, "edition", lambda folder: f"another edition of {folder}")
    assert name != cache.file_name((types.int64,), "t", "c", "f")


@pytest.mark.long
def test_what_is_shipped_is_used_where_the_processor_can_run_it(tmp_path):
    if not machine_code.runs_shipped():
        pytest.skip("this processor lacks x86-64-v3")
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    assert run(shipped, NUMBA_CPU_NAME=machine_code.SHIPPED_FOR, NUMBA_CPU_FEATURES="") == ["7", "True"]
    point = f"from pathlib import Path\nfrom bayplan.kernels import machine_code\nmachine_code.SHIPPED = Path({str(shipped)!r})\n"
    assert run(own, point + COUNT) == ["7", "False"]
    assert not own.exists()
    assert run(own, point + "machine_code.runs_shipped = lambda: False\n" + COUNT) == ["7", "True"]


@pytest.mark.parametrize("lacking", machine_code.NEEDS)
def test_a_processor_without_a_feature_does_not_run_what_is_shipped(monkeypatch, lacking):
    features = {need: need != lacking for need in machine_code.NEEDS}
    monkeypatch.setattr(machine_code.binding, "get_host_cpu_features", lambda: features)
    assert not machine_code.runs_shipped.__wrapped__()


def test_every_kind_of_integer_and_array_is_one_signature():
    rng, entry = np.ones(1, dtype=np.uint64), ENTRIES["random.below"]
    for n in (5, np.int32(5), np.int64(5), np.int8(5)):
        assert 0 <= below(rng, n) < 5
    assert len(entry.overloads) == 1
    fixed = np.full(1, 7)
    fixed.flags.writeable = False
    tree = np.zeros((2, 1), dtype=np.int64)
    build_tree(fixed, 1, tree)
    build_tree(fixed.copy(), 1, tree)
    assert len(ENTRIES[SMALL].overloads) == 1 and tree.max() == 7


def test_plain_types():
    whole, fixed = types.Array(types.int64, 1, "C"), types.Array(types.int64, 1, "C", readonly=True)
    assert plain_type(types.literal(3)) == plain_type(types.int32) == types.int64
    assert plain_type(fixed) == whole
    assert plain_type(types.uint64) == types.uint64 and plain_type(types.boolean) == types.boolean


def test_calls_are_noted_in_this_thread_only(tmp_path):
    code = (
        "import threading, numpy as np\n"
        "from bayplan.kernels.jit import noting_calls\n"
        "from bayplan.kernels.random import uniform\n"
        "rng, seen = np.ones(1, dtype=np.uint64), []\n"
        "with noting_calls() as calls:\n"
        "    first = uniform(rng)\n"
        "    thread = threading.Thread(target=lambda: seen.append(uniform(rng)))\n"
        "    thread.start(); thread.join()\n"
        "print(first, list(calls)[0], len(calls), 0 < seen[0] <= 1)\n"
    )
    assert run(tmp_path, code) == ["None", "random.uniform", "1", "True"]


@pytest.mark.long
def test_kernels_are_compiled_ahead_by_several_processes(tmp_path):
    code = (
        "from bayplan.kernels import ahead\n"
        "ahead._cores, ahead.WORTH_A_PROCESS, seen = (lambda: 2), 1, []\n"
        "names = ['schedule.free_tree.build_tree', 'schedule.local_ratio.push']\n"
        "print(ahead.compile_ahead(names, lambda done, of: seen.append((done, of))), ahead.missing(names), seen)\n"
    )
    assert "".join(run(tmp_path, code)) == "2[][(0,2),(1,2),(2,2)]"


@pytest.mark.long
def test_a_process_that_dies_leaves_its_kernels_to_us(tmp_path):
    code = (
        "from bayplan.kernels import ahead\n"
        "ahead._cores, ahead.WORTH_A_PROCESS, ahead.SERVE = (lambda: 2), 1, 'raise SystemExit(1)'\n"
        "names = ['schedule.free_tree.build_tree', 'schedule.local_ratio.push']\n"
        "print(ahead.compile_ahead(names, lambda done, of: None), ahead.missing(names))\n"
    )
    assert "".join(run(tmp_path, code)) == "2[]"


def test_names_are_of_kernels_that_python_calls():
    names = ahead.all_kernels()
    assert set(names) <= set(ENTRIES)
    assert {name.partition(".")[0] for name in names} <= set(KERNELS)
