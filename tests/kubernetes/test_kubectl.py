"""`kubectl bayplan` through the real kubectl, which finds the plugin on the PATH, on a real control plane."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kubernetes import binary
from tests.kubernetes.objects import Json, deployment
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

pytestmark = pytest.mark.kubernetes


@pytest.fixture
def kubectl(kubeconfig: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs kubectl with our plugin on its PATH and the test's kubeconfig."""
    command = shutil.which("kubectl")
    if command is None:
        binary.skip_or_fail("no kubectl on the PATH")
    plugin = tmp_path / "bin" / "kubectl-bayplan"
    plugin.parent.mkdir()
    entry = "import sys; from bayplan.cli.operating.kubectl import run; sys.exit(run())"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{entry}" "$@"\n')
    plugin.chmod(0o755)
    environment = {**os.environ, "PATH": f"{plugin.parent}:{os.environ['PATH']}", "KUBECONFIG": str(kubeconfig)}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], env=environment, capture_output=True, text=True, check=False)

    return run


def test_kubectl_finds_the_plugin_and_it_asks_about_the_current_context(
    kubectl: Callable[..., subprocess.CompletedProcess[str]],
    client: Client,
    namespace: str,
    fake_nodes: Callable[..., list[str]],
    make: Callable[[Json], Json],
) -> None:
    fake_nodes(2)
    make(deployment("web", 3))
    pods = f"/api/v1/namespaces/{namespace}/pods"
    wait_until(lambda: sum("nodeName" in one["spec"] for one in client.list(pods).items) == 3, "three pods on nodes")
    shown = kubectl("bayplan", "show", "-n", namespace, "--json")
    assert shown.returncode == 0, shown.stderr
    counts = json.loads(shown.stdout)["counts"]
    assert (counts["machines"], counts["containers"]) == (2, 3)


def test_another_context_can_be_named_and_one_that_is_not_there_is_said(
    kubectl: Callable[..., subprocess.CompletedProcess[str]], namespace: str
) -> None:
    failed = kubectl("bayplan", "show", "-n", namespace, "--context", "prod")
    assert failed.returncode == 2 and "no context 'prod'; expected one of tests" in failed.stderr


def test_usage_lines_say_kubectl_bayplan(kubectl: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert "kubectl bayplan plan [OPTIONS]" in kubectl("bayplan", "plan", "--help").stdout
