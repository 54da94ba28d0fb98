"""`admit` as a user meets it."""

import html
import inspect
import io
import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from bayplan.check import check_admission
from bayplan.cli import admit as command
from bayplan.cli.main import main
from bayplan.decide.admit import ADMITTERS, Admission
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.formats import read_accepted, write
from bayplan.formats.streams import json_lines, read_stream, table_text
from bayplan.generate.container_clusters import container_clusters
from bayplan.model import ClusterRequests

KEYS = {"method", "status", "score", "bound", "gap", "seconds", "seed", "placed", "moved", "left_out", "interrupted"}
DETAILS = {"accepted", "refused", "offered_value", "parameters", "utilisation", "refusals", "skipped"}


def tight() -> ClusterRequests:
    """Two zones, not enough for all: some are refused by every method."""
    made = container_clusters(zones=2, members_least=2, members_most=3, slots=6, count=30, seed=5)
    smaller = replace(made.zones, capacity=made.zones.capacity // 3)
    return replace(made, zones=smaller)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "stream.json"
    write(tight(), path)
    return path


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def refused_usage(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main([*map(str, arguments), "--quiet"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_the_help_says_what_every_method_does():
    lines = inspect.getdoc(command.admit).splitlines()
    assert {line[2:].split(":")[0] for line in lines if line.startswith("- ")} == {*ADMITTERS, *ONE_SHOTS}


@pytest.mark.parametrize("method", ADMITTERS)
def test_every_method_accepts_what_fits_and_the_referee_agrees(method, file, tmp_path, capsys):
    out, stream = tmp_path / "accepted.json", tight()
    answer = answer_of(capsys, "admit", file, "--method", method, "--seconds", "5", "--out", out)
    acceptance = read_accepted(out, stream)
    assert answer.keys() >= KEYS and answer["details"].keys() >= DETAILS and answer["score"].keys() == {"value", "served"}
    assert check_admission(stream, acceptance) == ()
    accepted = acceptance.accepted.tolist()
    assert (
        answer["placed"] == answer["details"]["accepted"] == len(accepted)
        and answer["details"]["refused"] == 30 - len(accepted) > 0
    )
    assert answer["score"]["value"] == pytest.approx(sum(stream.requests[i].value for i in accepted))
    assert {entry["name"] for entry in answer["left_out"]} == {
        request.name for i, request in enumerate(stream.requests) if i not in accepted
    }
    assert sum(group["requests"] for group in answer["details"]["refusals"]) == answer["details"]["refused"]
    assert answer_of(capsys, "check", file, "--accepted", out)["score"] == pytest.approx(answer["score"])


@pytest.mark.parametrize("one_shot", ONE_SHOTS)
def test_every_one_shot_method_serves(one_shot, file, capsys):
    more = ["--epsilon", "0.9"] if one_shot == "sampling" else []
    answer = answer_of(capsys, "admit", file, "--method", "primal-dual", "--one-shot", one_shot, *more)
    assert 0 < answer["details"]["accepted"] < 30
    assert answer["details"]["parameters"]["alpha_from"] == ("exact" if one_shot == "exact" else "estimated")


def test_given_parameters_are_used_and_said(file, capsys):
    given = answer_of(capsys, "admit", file, "--method", "primal-dual", "--value-ratio", "50", "--alpha", "2")["details"][
        "parameters"
    ]
    assert (given["value_ratio"], given["value_ratio_from"], given["alpha"], given["alpha_from"]) == (50, "given", 2, "given")
    assert given["base"] == 2 * (2 * 50 + 1)
    estimated = answer_of(capsys, "admit", file, "--method", "primal-dual")["details"]["parameters"]
    assert estimated["value_ratio_from"] == estimated["alpha_from"] == "estimated" and estimated["base"] < given["base"]
    assert main(["admit", str(file), "--quiet"]) == 0
    assert "(estimated)" in capsys.readouterr().out


def test_swmoa_has_a_number_of_slots(file, capsys):
    said = answer_of(capsys, "admit", file, "--method", "swmoa", "--slots", "6", "--value-ratio", "50")["details"]["parameters"]
    assert (said["slots"], said["slots_from"]) == (6, "given")
    assert said["base"] == 2 * ((2 * 2 + 2) * 6 * 50 + 1)


def test_longer_slots_make_a_request_more_expensive(file, capsys):
    short, long = (
        answer_of(capsys, "admit", file, "--slot", slot, "--value-ratio", "50", "--alpha", "1", "--method", "primal-dual")
        for slot in (1, 6)
    )
    assert long["details"]["accepted"] <= short["details"]["accepted"]
    assert short != long


def test_the_letter_of_the_paper_never_accepts_what_does_not_fit(file, tmp_path, capsys):
    out = tmp_path / "literal.json"
    answer_of(capsys, "admit", file, "--literal", "--one-shot", "greedy", "--out", out)
    assert check_admission(tight(), read_accepted(out, tight())) == ()


def test_samples_can_be_stated(file, capsys):
    assert answer_of(capsys, "admit", file, "--one-shot", "sampling", "--samples", "1")["details"]["accepted"] > 0


def test_a_bound_is_proven_and_the_ratio_is_to_it(file, capsys):
    answer = answer_of(capsys, "admit", file, "--bound", "--seconds", "5")
    assert answer["bound"] >= answer["score"]["value"]
    assert answer["details"]["ratio"] == pytest.approx(answer["bound"] / answer["score"]["value"])
    best = answer_of(capsys, "admit", file, "--method", "offline", "--seconds", "5")
    assert answer["score"]["value"] <= best["score"]["value"] <= answer["bound"] * (1 + 1e-9)
    assert answer_of(capsys, "admit", file)["bound"] is None
    assert main(["admit", str(file), "--bound", "--seconds", "2", "--quiet"]) == 0
    assert "the best possible is worth at most" in " ".join(capsys.readouterr().out.split())


def test_the_same_seed_gives_the_same_answer(file, capsys):
    options = ["admit", file, "--one-shot", "sampling", "--samples", "1", "--seed"]
    one, again = (answer_of(capsys, *options, 3)["left_out"] for _ in range(2))
    assert one == again


@pytest.mark.parametrize("form", ["jsonl", "csv", "stdin"])
def test_every_form_of_a_stream_gets_the_same_answer(form, file, tmp_path, capsys, monkeypatch):
    expected, stream = answer_of(capsys, "admit", file), tight()
    path, more = tmp_path / f"stream.{form}", []
    if form == "stdin":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json_lines(stream).encode())))
        path = Path("-")
    else:
        path.write_text(json_lines(stream) if form == "jsonl" else table_text(stream), encoding="utf-8")
        more = ["--zones", file] if form == "csv" else []
    answer = answer_of(capsys, "admit", path, *more)
    assert answer["score"] == expected["score"] and answer["left_out"] == expected["left_out"]


FAULTY = {  # what a user may get wrong in a request -> its number
    "zero length": ({"end": 0}, "E1501"),
    "starts before it arrives": ({"arrival": 99}, "E1511"),
    "no members": ({"members": []}, "E1111"),
    "fits nowhere": ({"demand": {"cpu": [1, 999_999]}, "members": ["a", "b"], "traffic": [[0, 1], [1, 0]]}, "E1518"),
    "negative value": ({"value": -1}, "E1102"),
    "negative demand": ({"demand": {"cpu": [-1] * 2}}, "E1102"),
    "duplicate": ({"name": "r0001"}, "E1503"),
    "out of order": ({"arrival": -5, "start": -5, "end": -4}, "E1517"),
    "unknown resource": ({"demand": {"gpu": [1, 1]}}, "E1504"),
}


def with_fault(change: dict, tmp_path: Path) -> Path:
    """The stream with one more request that is wrong."""
    path = tmp_path / "faulty.jsonl"
    lines = json_lines(tight()).splitlines()
    last = {**json.loads(lines[-1]), "name": "faulty", **change}
    path.write_text("\n".join([*lines, json.dumps(last)]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_request_is_named_by_number_and_line_and_can_be_skipped(name, tmp_path, capsys):
    change, code = FAULTY[name]
    path = with_fault(change, tmp_path)
    assert main(["admit", str(path), "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and f"{code} line '32, request " in said.err
    answer = answer_of(capsys, "admit", path, "--keep-going")
    assert (answer["details"]["skipped"], answer["details"]["accepted"] + answer["details"]["refused"]) == (1, 30)
    assert main(["admit", str(path), "--keep-going"]) == 0
    said = capsys.readouterr()
    assert "1 requests left out because of their faults" in said.err and code in said.err
    assert "1 more requests had faults" in said.out


def test_not_a_number_is_refused(tmp_path, capsys):
    path = with_fault({"value": 12345}, tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("12345", "NaN"), encoding="utf-8")
    assert main(["admit", str(path), "--quiet"]) == 1
    assert "E1103" in capsys.readouterr().err


def test_a_link_to_an_unknown_zone_is_refused_in_any_case(file, tmp_path, capsys):
    document = json.loads(file.read_text(encoding="utf-8"))
    document["links"].append(["zone-1", "mars", 5])
    path = tmp_path / "mars.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main(["admit", str(path), "--keep-going", "--quiet"]) == 1
    assert "E1507" in capsys.readouterr().err


def test_a_cluster_is_not_a_stream(capsys):
    cluster = Path(__file__).parents[2] / "examples" / "small.json"
    assert main(["admit", str(cluster), "--quiet"]) == 1
    assert "E1011" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "guess"], "no method 'guess'; expected one of learned"),
        (["--one-shot", "guess"], "no one-shot method 'guess'; expected one of local"),
        (["--value-ratio", "0.5"], "value_ratio 0.5: expected a number of 1 or more"),
        (["--alpha", "nan"], "alpha nan"),
        (["--slot", "0"], "slot 0: expected a length above 0"),
        (["--slots", "0", "--method", "swmoa"], "slots 0"),
        (["--slots", "5"], "slots has no effect on method learned"),
        (["--epsilon", "0.5"], "epsilon has no effect"),
        (["--epsilon", "0", "--one-shot", "sampling"], "epsilon 0: expected a number above 0"),
        (["--samples", "0", "--one-shot", "sampling"], "samples 0"),
        (["--alpha", "2", "--method", "available"], "alpha has no effect"),
        (["--one-shot", "greedy", "--method", "offline"], "one_shot has no effect"),
        (["--literal", "--method", "available"], "literal has no effect"),
        (["--out", "-"], "--out '-'"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, words, file, capsys):
    assert words in refused_usage(capsys, "admit", file, *arguments)


def test_nothing_overwrites_an_input(file, capsys):
    assert "would overwrite" in refused_usage(capsys, "admit", file, "--out", file)
    assert "would overwrite" in refused_usage(capsys, "admit", file, "--report", file)


def test_zones_are_given_once(file, capsys):
    assert "zones of its own" in refused_usage(capsys, "admit", file, "--zones", file)


def test_an_interrupt_keeps_what_was_decided_before(file, tmp_path, capsys, monkeypatch):
    offer, offers = Admission.offer, []

    def slow(self, request):
        offers.append(request.name)
        if len(offers) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return offer(self, request)

    monkeypatch.setattr(Admission, "offer", slow)
    out, page = tmp_path / "best.json", tmp_path / "page.html"
    assert main(["admit", str(file), "--out", str(out), "--report", str(page), "--json", "--bound"]) == 0
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert "interrupted: this is the best so far" in said.err and answer["interrupted"]
    assert len(offers) < 30 and 0 < answer["details"]["accepted"] <= len(offers) and answer["bound"] is None
    assert answer["details"]["refusals"][0]["why"] == "not examined: stopped before"
    assert check_admission(tight(), read_accepted(out, tight())) == () and page.is_file()


def test_seconds_that_are_over_leave_the_rest_undecided(file, capsys):
    answer = answer_of(capsys, "admit", file, "--seconds", "0")
    assert answer["details"]["accepted"] == 0 and answer["details"]["refusals"] == [
        {
            "why": "not examined: the budget ended before",
            "cause": {"kind": "not examined: the budget ended before", "resource": "", "zone": "", "to": ""},
            "requests": 30,
            "value": pytest.approx(answer["details"]["offered_value"]),
        }
    ]


def test_the_page_says_every_option_that_was_given(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    options = ["--method", "primal-dual", "--one-shot", "sampling", "--samples", "2", "--alpha", "2.0", "--literal", "--bound"]
    answer_of(capsys, "admit", file, "--report", page, *options)
    said = html.unescape(page.read_text())
    pairs = ("--method primal-dual", "--one-shot sampling", "--samples 2", "--alpha 2.0", "--literal", "--bound", "<dt>seed</dt>")
    assert not [words for words in pairs if words not in said]


def test_the_page_tells_the_story(file, tmp_path, capsys):
    page = tmp_path / "admitted.html"
    answer_of(capsys, "admit", file, "--report", page, "--bound", "--seconds", "3")
    text = page.read_text(encoding="utf-8")
    said = ("What does capacity cost?", "How full is it?", "Refused, and why", "zone-1 → zone-2", "lambda", "best possible")
    assert [words for words in said if words not in text] == [] and "bayplan admit" in text
    answer_of(capsys, "admit", file, "--report", page, "--method", "available")
    assert "Where is it full?" in page.read_text(encoding="utf-8")


def test_check_finds_what_is_too_much(file, tmp_path, capsys):
    out = tmp_path / "crowd.json"
    crowd = {request.name: dict.fromkeys(request.members, "zone-1") for request in tight().requests}
    out.write_text(json.dumps({"accepted": crowd}), encoding="utf-8")
    answer = answer_of(capsys, "check", file, "--accepted", out, code=3)
    assert not answer["valid"] and {"capacity", "request-cap"} <= {violation["rule"] for violation in answer["violations"]}
    assert main(["check", str(file), "--accepted", str(out), "--quiet"]) == 3
    assert "zone 'zone-1'" in capsys.readouterr().out


def test_check_reads_streams_and_leaves_faulty_requests_out(file, tmp_path, capsys):
    path, out = with_fault({"value": -1}, tmp_path), tmp_path / "accepted.json"
    answer = answer_of(capsys, "admit", path, "--keep-going", "--out", out)
    judged = answer_of(capsys, "check", path, "--accepted", out)
    assert judged["valid"] and judged["skipped"] == 1 and judged["score"] == pytest.approx(answer["score"])
    table = tmp_path / "stream.csv"
    table.write_text(table_text(read_stream(file).admission), encoding="utf-8")
    assert answer_of(capsys, "check", table, "--zones", file, "--accepted", out)["valid"]


def test_options_of_check_that_do_not_go_together_are_refused(file, capsys):
    assert "--accepted" in refused_usage(capsys, "check", file, "--zones", file)
    assert "--placement" in refused_usage(capsys, "check", file, "--accepted", "x.json", "--placement", "y.json")


def test_show_says_what_a_stream_asks_for(file, capsys):
    assert main(["show", str(file)]) == 0
    said = capsys.readouterr().out
    assert "zones" in said and "30" in said


def test_an_empty_stream_is_answered(tmp_path, capsys):
    path, page = tmp_path / "empty.json", tmp_path / "empty.html"
    write(replace(tight(), requests=()), path)
    answer = answer_of(capsys, "admit", path, "--report", page, "--bound")
    assert (answer["details"]["accepted"], answer["score"]["value"], answer["left_out"]) == (0, 0, [])
    assert "Nothing: every request was accepted" in page.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(monkeypatch, capsys):
    monkeypatch.chdir(Path(__file__).parents[2])
    (code,) = re.findall(r"```python\n(.*?)```", Path("docs/verbs/admit.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert names["verdict"].accepted and not names["admission"].prices().zone.any() and not names["admission"].running
    assert names["later"].now == 0 and len(names["later"].running) == 1
