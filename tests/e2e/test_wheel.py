"""What `make wheel` built works for a stranger: an empty environment, outside of the clone, an empty HOME, without any extra.

Run by `make test-wheel`, because it downloads packages and compiles all kernels anew, which takes minutes.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]
UNPACKED = {".gitattributes", ".github"}  # of a clone, not of a source archive
PURE, WITH_MACHINE_CODE = "*-none-any.whl", "*-manylinux*.whl"
COMPILED = """
import sys
from numba.core import event

class Compiled(event.Listener):
    names = []
    def on_start(self, e): pass
    def on_end(self, e): self.names.append(e.data["dispatcher"].py_func.__qualname__)

event.register("numba:compile", Compiled())
from bayplan.cli.main import app
try:
    app()
except SystemExit as end:
    print(f"exit {end.code}, compiled {len(Compiled.names)}: {Compiled.names[:3]}", file=sys.stderr)
"""
COMMANDS = {
    "place": ["place", "boutique.json", "--seconds", "1"],
    "rebalance": ["rebalance", "boutique.json", "--seconds", "1"],
    "collocate": ["collocate", "boutique.json", "--seconds", "1"],
    "pack": ["pack", "boutique.json", "--confidence", "0.9", "--seconds", "1"],
    "admit": ["admit", "stream.jsonl", "--seconds", "1"],
    "schedule": ["schedule", "requests.json", "--machines", "10", "--seconds", "1"],
}


def _built(pattern: str) -> Path:
    files = list((ROOT / "dist").glob(pattern))
    assert len(files) == 1, f"expected one {pattern} in dist/, not {len(files)}: run `make dist`"
    return files[0]


def _package_files() -> set[str]:
    """Files of the package, as paths inside of a wheel."""
    source = ROOT / "src"
    paths = (path for path in (source / "bayplan").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(source).as_posix() for path in paths}


class Stranger:
    """A folder with an environment that has the wheel and what it depends on, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scripts = folder / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", str(folder / "environment")], check=True)
        install = [str(self.scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*install, *constraints, str(_built(WITH_MACHINE_CODE))], check=True, env=self._environment(os.environ))
        (folder / "home").mkdir()

    @staticmethod
    def _environment(variables: "os._Environ[str]") -> dict[str, str]:
        """Without what would lead Python back to the clone."""
        return {name: value for name, value in variables.items() if not name.startswith(("PYTHON", "NUMBA", "BAYPLAN", "COV"))}

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.scripts / script), *arguments]
        environment = {**self._environment(os.environ), "HOME": str(self.folder / "home")}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stranger")
    assert ROOT not in folder.parents
    yield Stranger(folder)
    shutil.rmtree(folder / "environment")  # half a gigabyte


def test_the_wheel_holds_the_package_and_nothing_else():
    with zipfile.ZipFile(_built(PURE)) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == _package_files()


@pytest.mark.parametrize("ending", [".css", ".js", ".json", "py.typed"])
def test_the_wheel_holds_data_of_every_kind(ending):
    with zipfile.ZipFile(_built(PURE)) as wheel:
        assert any(name.startswith("bayplan/") and name.endswith(ending) for name in wheel.namelist())


def test_the_wheel_with_machine_code_holds_the_same_and_machine_code():
    with zipfile.ZipFile(_built(PURE)) as pure, zipfile.ZipFile(_built(WITH_MACHINE_CODE)) as wheel:
        added = set(wheel.namelist()) - set(pure.namelist())
        assert set(pure.namelist()) <= set(wheel.namelist())
        text = {name.rpartition("/")[2]: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert added and all(name.startswith("bayplan/kernels/shipped/") and name.endswith(".kernel") for name in added)
    assert re.search(r"(?m)^Requires-Dist: numba==\d", text["METADATA"]) and "Root-Is-Purelib: false" in text["WHEEL"]
    assert sorted(added) == sorted(line.split(",")[0] for line in text["RECORD"].splitlines() if "/shipped/" in line)


@pytest.fixture(scope="module")
def inputs(stranger):
    """Files for every command, made by the stranger."""
    for name in ("boutique", "container-clusters", "requests"):
        out = {"boutique": "boutique.json", "container-clusters": "stream.jsonl", "requests": "requests.json"}[name]
        settings = {
            "container-clusters": ["--set", "zones=3", "--set", "count=40"],
            "requests": ["--set", "n=2000", "--set", "machines=10", "--set", "load=3"],
        }.get(name, [])
        assert stranger.run("bayplan", "generate", name, *settings, "--out", out).returncode == 0
    return stranger


@pytest.mark.parametrize("verb", COMMANDS)
def test_nothing_is_compiled(inputs, verb):
    done = inputs.run("python", "-c", COMPILED, *COMMANDS[verb], "--quiet")
    assert done.stderr.splitlines()[-1].startswith("exit 0, compiled 0:"), done.stderr
    assert not list((inputs.folder / "home").rglob("*.kernel"))


def test_a_damaged_file_of_machine_code_costs_only_time(inputs):
    shipped = next(inputs.scripts.parent.rglob("bayplan/kernels/shipped"))
    damaged = next(shipped.glob("schedule.free_tree.build_tree.*"))
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    try:
        done = inputs.run("python", "-c", COMPILED, *COMMANDS["schedule"], "--quiet")
    finally:
        damaged.write_bytes(content)
    assert re.match(r"exit 0, compiled [1-9]", done.stderr.splitlines()[-1]), done.stderr
    compiled = [*shipped.parent.rglob("*.kernel"), *(inputs.folder / "home").rglob("*.kernel")]
    for path in compiled:
        if path.parent != shipped:
            path.unlink()


def test_the_sdist_holds_what_the_clone_holds():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone: nothing to compare the sdist with")
    committed = {name for name in listed.stdout.split("\0") if name and name.split("/")[0] not in UNPACKED}
    with tarfile.open(_built("*.tar.gz")) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert committed - inside == set()
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".pyc", ".kernel"))]


def test_the_library_comes_from_the_wheel(stranger):
    done = stranger.run("python", "-c", "import bayplan; print(bayplan.__file__, bayplan.__version__)")
    assert done.stdout.startswith(str(stranger.folder / "environment")), done.stderr


def test_every_module_can_be_imported_without_an_extra_but_those_of_the_service(stranger):
    code = (
        "import importlib, pkgutil, bayplan\n"
        "for module in pkgutil.walk_packages(bayplan.__path__, 'bayplan.'):\n"
        "    if not module.name.endswith('__main__') and not module.name.startswith('bayplan.serve.'):\n"
        "        importlib.import_module(module.name)\n"
        "import bayplan.serve.client\n"
    )
    done = stranger.run("python", "-W", "error", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_demo_runs(stranger):
    done = stranger.run("bayplan", "demo", "--out", "demo", "--seconds", "1", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    report = (stranger.folder / "demo" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in report and "<style>" in report and "<script>" in report


def test_the_python_of_the_readme_runs_as_printed(stranger):
    printed = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert printed, "the README shows no Python"
    for block in printed:
        done = stranger.run("python", "-W", "error", "-c", block)
        assert (done.returncode, done.stderr) == (0, ""), block
        assert done.stdout


def test_experiments_are_refused_by_a_sentence(stranger):
    done = stranger.run("bayplan", "reproduce", "rasa", "--quick")
    assert done.returncode == 2
    assert "not part of the installed package" in done.stderr and "Traceback" not in done.stderr
