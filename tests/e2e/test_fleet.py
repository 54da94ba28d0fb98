"""A fleet of clusters as a user types it: plans, report, pages, JSON, exit codes, zones."""

import json
import re
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bayplan.cli.main import main

ROOT = Path(__file__).parents[2]
QUICK = ["--seconds", "1", "--engine", "here", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr("bayplan.api.fleet.plan.GRACE", (1.0, 600.0))  # a busy machine is no reason to leave clusters out here
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_plans_pages_and_the_report_belong_together(folder, capsys):
    files = ["--out", "plans", "--pages", "--report", "site/fleet.html"]
    (folder / "site").mkdir()
    assert main(["plan", "clusters.yaml", "--max-moves", "6", *files, *QUICK, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    schema = json.loads((ROOT / "docs" / "schema" / "answer.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(answer)
    assert 0 < answer["moved"] == len(answer["moves"]) <= 6 == answer["details"]["division"]["total"]
    assert answer["files"] == {"plans": "plans", "report": "site/fleet.html"}
    for cluster in answer["details"]["clusters"]:
        name = cluster["cluster"]
        assert (folder / "plans" / f"{name}.plan.json").exists() == (cluster["status"] == "planned")
        if cluster["status"] == "planned":
            assert main(["simulate", cluster["file"], "--plan", f"plans/{name}.plan.json", "-q"]) == 0
    page = (folder / "site" / "fleet.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', page)
    assert links and all((folder / "site" / link).is_file() for link in links)
    assert "berlin" in page and "bayplan plan clusters.yaml" in page


def test_a_bad_cluster_is_exit_code_1_and_the_others_have_plans(folder, capsys):
    (folder / "clusters" / "paris.json").write_text("{", encoding="utf-8")
    assert main(["plan", "clusters.yaml", "--out", "plans", *QUICK]) == 1
    printed = capsys.readouterr()
    assert "paris" in printed.out and "E1006" in printed.out and "no plan for paris ('clusters/paris.json')" in printed.err
    assert (folder / "plans" / "berlin.plan.json").is_file()
    shutil.rmtree(folder / "clusters")
    assert main(["plan", "clusters.yaml", *QUICK, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in answer["left_out"]] == ["berlin", "paris", "oslo"]
    assert all("E1001" in entry["reason"] for entry in answer["left_out"])


def test_what_is_not_worth_it_is_exit_code_3_and_writes_nothing(folder, capsys):
    text = "bayplan: 1\nkind: clusters\nclusters: [{name: oslo, file: clusters/oslo.json}]\n"
    (folder / "one.yaml").write_text(text, encoding="utf-8")
    assert main(["plan", "one.yaml", "--min-gain", "99%", "--out", "plans", *QUICK]) == 3
    assert "not worth it" in capsys.readouterr().out
    assert not list((folder / "plans").iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clusters.yaml", "--drain", "a1"], "--drain is for one cluster"),
        (["clusters.yaml", "--front"], "--front is for one cluster"),
        (["clusters.yaml", "--pages"], "--pages: expected --out"),
        (["clusters.yaml", "--out", "shop.yaml"], "is not a folder"),
        (["clusters.yaml", "--goal", "fewer-machines"], "has no front"),
    ],
)
def test_options_that_make_no_sense_are_refused(folder, capsys, arguments, words):
    assert main(["plan", *arguments, "-q"]) == 2
    assert words in capsys.readouterr().err


def test_clusters_become_zones_and_machines(folder, capsys):
    assert main(["convert", "clusters.yaml", "--to", "zones", "--out", "zones.json", "-q"]) == 0
    zones = json.loads((folder / "zones.json").read_text(encoding="utf-8"))
    assert [zone["name"] for zone in zones["zones"]] == ["berlin", "paris", "oslo"] and len(zones["links"]) == 2
    assert main(["admit", "stream.csv", "--zones", "zones.json", "--method", "available", "-q"]) == 0
    assert main(["admit", "stream.csv", "--zones", "zones.json", "--method", "available", "--out", "accepted.json", "-q"]) == 0
    accepted = json.loads((folder / "accepted.json").read_text(encoding="utf-8"))["accepted"]
    assert accepted and {zone for members in accepted.values() for zone in members.values()} <= {"berlin", "paris", "oslo"}
    assert main(["check", "stream.csv", "--zones", "zones.json", "--accepted", "accepted.json", "-q"]) == 0
    assert main(["pack", "web.yaml", "--confidence", "0.99", "--method", "bf-ucac", "--fleet", "clusters.yaml", "-q"]) == 0
    assert "migrate" not in capsys.readouterr().out
    assert main(["convert", "shop.yaml", "--to", "zones", "--out", "zones.json", "-q"]) == 2
    assert main(["show", "clusters.yaml", "-q"]) == 1
    assert "a native file of clusters" in capsys.readouterr().err


def test_a_fleet_is_generated_and_can_be_read(folder, capsys):
    arguments = ["generate", "fleet", "--clusters", "2", "--machines", "12", "--out", "made", "-q"]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "made/fleet.yaml"
    first = (folder / "made" / "cluster-0.json").read_bytes()
    assert main(arguments) == 0
    assert (folder / "made" / "cluster-0.json").read_bytes() == first
    assert main(["check", "made/cluster-1.json", "-q"]) == 0
    assert main(["generate", "fleet", "--machines", "3", "--out", "made", "-q"]) == 2
