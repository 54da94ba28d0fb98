"""A method that an installed package offers works in the library, on the command line and with the claims for authors."""

import json

import pytest

import bayplan as bp
from bayplan.api.contract import CLAIMS, keeps
from bayplan.api.registry import GROUP
from bayplan.cli.main import main

MODULE = '''
"""A method of another package: nothing moves."""


def mine(problem, options, *, budget, seed, progress):
    from bayplan.search.answer import answer

    return answer(problem, problem.start)
'''
METADATA = "Metadata-Version: 2.1\nName: my-methods\nVersion: 1.0\n"


@pytest.fixture(autouse=True)
def _installed(tmp_path, monkeypatch):
    """A package as pip would leave it: its module, and a folder that says what it offers."""
    described = tmp_path / "my_methods-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(METADATA, encoding="utf-8")
    offers = f"[{GROUP}]\nrebalance.mine = my_methods:mine\nrebalance.search = my_methods:mine\n"
    (described / "entry_points.txt").write_text(offers, encoding="utf-8")
    (tmp_path / "my_methods.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def shop(tmp_path):
    file = tmp_path / "shop.json"
    bp.write(bp.generate("boutique"), file)
    return file


def test_it_is_listed_after_our_own():
    assert bp.methods("rebalance")[-1] == "mine"
    assert "mine" not in bp.methods("place")


def test_it_works_in_the_library():
    answer = bp.rebalance(bp.generate("boutique"), method="mine")
    assert (answer.method, answer.status, answer.moved) == ("mine", "feasible", 0)


def test_it_works_on_the_command_line(shop, capsys):
    assert main(["rebalance", str(shop), "--method", "mine", "--json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["method"], answer["moved"]) == ("mine", 0)


def test_it_is_suggested_where_its_name_is_mistyped(shop, capsys):
    assert main(["rebalance", str(shop), "--method", "mines"]) == 2
    assert "did you mean 'mine'?" in capsys.readouterr().err


def test_its_author_can_run_the_claims_that_ours_keep():
    for claim in CLAIMS["rebalance"]:
        keeps("rebalance", "mine", claim)


def test_it_does_not_replace_a_method_of_ours():
    answer = bp.rebalance(bp.generate("boutique"), method="search", budget=bp.Budget(iterations=20_000))
    assert bp.methods("rebalance").count("search") == 1
    assert answer.moved > 0


def test_without_the_package_there_is_no_such_method(tmp_path):
    (tmp_path / "my_methods-1.0.dist-info" / "entry_points.txt").unlink()
    with pytest.raises(bp.UsageError, match="no method 'mine'"):
        bp.rebalance(bp.generate("boutique"), method="mine")
