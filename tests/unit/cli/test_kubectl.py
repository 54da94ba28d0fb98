"""`kubectl bayplan` asks about the cluster that kubectl talks to, unless another one is named."""

import subprocess
import sys

import pytest

from bayplan.cli.operating.kubectl import with_context
from bayplan.errors import UsageError


def reads_files(file, context=None):
    """A command that takes a file or a cluster."""


def acts(plan, context=None, kubeconfig=None):
    """A command that takes a plan and a cluster."""


def needs_none(name):
    """A command without a cluster."""


COMMANDS = {"plan": reads_files, "apply": acts, "generate": needs_none}


def completed(*arguments):
    return with_context(arguments, COMMANDS, lambda: "prod")


@pytest.mark.parametrize(
    "arguments", [("plan",), ("plan", "-n", "shop"), ("plan", "--max-moves", "5"), ("apply", "plan.json", "--yes")]
)
def test_a_command_about_a_cluster_gets_the_current_context(arguments):
    assert completed(*arguments) == [*arguments, "--context", "prod"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--context", "test"),
        ("plan", "--context=test"),
        ("apply", "plan.json", "--sandbox", "shop.sock"),
        ("apply", "plan.json", "--simulate=shop.json"),
        ("plan", "--help"),
        ("plan", "-"),
        ("generate", "boutique"),
        ("no-such-command",),
        ("--version",),
        (),
    ],
)
def test_what_names_a_cluster_or_needs_none_stays_as_it_is(arguments):
    assert completed(*arguments) == list(arguments)


@pytest.mark.parametrize("name", ["show", "plan", "explain", "apply", "run", "rollback", "uninstall"])
def test_every_command_of_ours_about_a_cluster_gets_it(name):
    from bayplan.cli.main import COMMANDS as OURS

    assert with_context([name, "-n", "shop"], OURS, lambda: "prod") == [name, "-n", "shop", "--context", "prod"]


def test_a_file_is_a_cluster_where_files_are_read(tmp_path):
    file = tmp_path / "shop.yaml"
    file.touch()
    assert completed("plan", str(file)) == ["plan", str(file)]
    assert completed("apply", str(file)) == ["apply", str(file), "--context", "prod"]


def test_no_kubeconfig_is_a_usage_error_and_not_needed_for_commands_without_a_cluster():
    def none():
        raise UsageError("no kubeconfig")

    with pytest.raises(UsageError):
        with_context(["plan"], COMMANDS, none)
    assert with_context(["generate", "boutique"], COMMANDS, none) == ["generate", "boutique"]


@pytest.mark.parametrize(("arguments", "code"), [(["version"], 0), (["serve", "--extender"], 2)])
def test_the_entry_point_runs_commands_and_says_what_is_missing(arguments, code, tmp_path):
    entry = "import sys; from bayplan.cli.operating.kubectl import run; sys.exit(run())"
    environment = {"PATH": "", "HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "none"), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", entry, *arguments], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == code
    assert "bayplan 0" in done.stdout if code == 0 else "bayplan: no kubeconfig" in done.stderr


def test_it_is_installed_under_the_name_that_kubectl_looks_for():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"]["kubectl-bayplan"] == "bayplan.cli.operating.kubectl:run"
