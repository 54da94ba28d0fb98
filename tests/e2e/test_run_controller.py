"""`bayplan run` on a live cluster, as a user types it: what is refused before anything is connected to."""

import pytest

from bayplan.cli.main import main

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: me, user: {token: very-secret}}]
contexts: [{name: here, context: {cluster: here, user: me, namespace: shop}}]
current-context: here
"""


@pytest.fixture
def kubeconfig(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)
    return str(file)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "which cluster?"),
        (["--context", "here", "--simulate", "boutique"], "which cluster?"),
        (["--in-cluster", "--context", "here"], "expected no --context"),
        (["--context", "here", "-n", "shop", "-A"], "-n shop and -A"),
        (["--context", "here", "--listen", "8080"], "such as 127.0.0.1:8080"),
        (["--context", "here", "--lease", "a/b/c"], "expected a name such as bayplan, or NAMESPACE/NAME"),
        (["--context", "here", "--grace", "soon"], "expected a time such as 90s"),
        (["--context", "here", "--log", "xml"], "no form of the log 'xml'"),
        (["--context", "here", "--mode", "sometimes"], "no mode 'sometimes'"),
        (["--context", "here", "--measure", "2h"], "expected --prometheus too"),
        (["--context", "elsewhere"], "no context 'elsewhere'; expected one of here"),
        (["--in-cluster"], "does not run in a pod"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_was_expected(arguments, said, kubeconfig, monkeypatch, capsys):
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main(["run", *arguments]) == 2
    shown = capsys.readouterr()
    assert said in " ".join(shown.err.split()) and shown.out == ""


def test_help_says_what_a_controller_is(capsys):
    assert main(["run", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for word in ("--in-cluster", "--lease", "--listen", "lease acts", "SIGTERM"):
        assert word in text
