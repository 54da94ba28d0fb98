"""`bayplan serve` says what it offers, refuses what makes no sense, and logs lines that a machine can read."""

import json

import pytest

from bayplan.cli.main import main
from bayplan.cli.operating.serve import _log


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--certificate", "tls.crt"], "--certificate and --key belong together"),
        (["--listen", "here"], "--listen 'here': expected an address and a port"),
        (["--listen", ":0"], "'all interfaces' can be reached by other machines, so a token is needed"),
        (["--listen", "10.0.0.1:0"], "'10.0.0.1' can be reached by other machines, so a token is needed"),
        (["--token-file", "no-such-file"], "cannot read the tokens of 'no-such-file'"),
        (["--store", "mysql://host/database"], "no store of the kind 'mysql'"),
        (["--store", "no-such-folder/serve.db"], "the file cannot be opened"),
    ],
)
def test_a_service_that_makes_no_sense_does_not_start(options, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYPLAN_TOKEN", raising=False)
    assert main(["serve", *options]) in (1, 2)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--certificate", "tls.crt"], "--certificate and --key belong together"),
        (["--key", "tls.key"], "--certificate and --key belong together"),
        (["--kubeconfig", "no-such-file"], "no kubeconfig: 'no-such-file' does not exist"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words, capsys):
    assert main(["serve", "--extender", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--candidates", "all"], "'all' candidate machines: expected a whole number of 1 or more, or a share"),
        (["--patience", "soon"], "--patience 'soon': expected a time such as 90s"),
        (["--listen", "here"], "--listen 'here': expected an address and a port"),
    ],
)
def test_values_that_are_none_are_refused_with_what_was_expected(options, words, capsys, tmp_path):
    user = {"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}], "users": [{"name": "u", "user": {}}]}
    contexts = {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **user, **contexts}))
    assert main(["serve", "--extender", "--kubeconfig", str(file), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_line_of_the_log_is_one_json_object(capsys):
    _log("answered", {"verb": "filter", "nodes": 3})
    line = json.loads(capsys.readouterr().err)
    assert line["event"] == "answered" and line["nodes"] == 3 and line["time"].endswith("+00:00")
