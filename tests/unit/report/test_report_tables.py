import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.api.check import CheckResult
from bayplan.api.inspect import inspect
from bayplan.api.placement import PlacementAnswer
from bayplan.check import Violation
from bayplan.formats.document.schemas import schema
from bayplan.model import Placement, Reason, Resource, Result, Status
from bayplan.report.amounts import human_amount, percent, score, written
from bayplan.report.answers.decision_tables import decision_report, frame
from bayplan.report.answers.explain_tables import explain_report
from bayplan.report.answers.placement_tables import check_report, show_report
from bayplan.report.json import explain_object, plain, to_json
from bayplan.report.names import elided, printable, told_apart
from bayplan.report.score_help import MEANINGS, higher_is_better
from bayplan.report.table import report
from bayplan.report.terminal import text_of
from bayplan.score.explain import explain
from bayplan.score.summary import summarise
from bayplan.words import count

CPU, MEMORY = Resource(name="cpu", scale=1000, unit="cores"), Resource(name="memory", unit="bytes")


def _printed(*reports, width=80):
    return "\n".join(text_of(report, width=width) for report in reports)


@pytest.fixture(scope="module")
def snapshot():
    return cluster_of(machines=6, services=4, replicas=5)


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (500, CPU, "500m"),
        (1500, CPU, "1.5"),
        (68600, CPU, "68.6"),
        (12_345_000, CPU, "12.3k"),
        (0, CPU, "0"),
        (3 * 2**29, MEMORY, "1.5Gi"),
        (163 * 2**30, MEMORY, "163Gi"),
        (512, MEMORY, "512"),
        (0, MEMORY, "0"),
    ],
)
def test_amounts_are_short_and_in_written_units(amount, resource, text):
    assert human_amount(amount, resource) == text


def test_requests_in_words():
    assert written([250, 2**30], (CPU, MEMORY)) == "cpu 250m, memory 1Gi"
    assert written([0, 0], (CPU, MEMORY)) == "requests nothing"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.0001, "< 0.1 %"),
        (1e-15, "0 %"),
        (0.034, "3.4 %"),
        (0.834, "83 %"),
        (0.994, "99 %"),
        (0.9951, "99.5 %"),
        (0.99999, "99.9 %"),
        (1 - 1e-15, "100 %"),
        (1, "100 %"),
        (1.00001, "100.1 %"),
        (1.004, "100.4 %"),
        (1.5, "150 %"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_percentages(share, text):
    assert percent(share).replace("\u00a0", " ") == text


def test_counts_and_scores():
    assert count(1, "machine") == "1 machine"
    assert count(5284, "machine") == "5,284 machines"
    assert score(0.069951) == "0.069951"
    assert score(1234567) == "1,234,567"
    assert score(float("nan")) == "–"
    assert score(7.5e-37) == "0"
    assert score(1.2e-9) == "1.2e-09"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 130])
def test_show_fits_the_terminal_and_says_everything(snapshot, width):
    text = _printed(show_report(summarise(snapshot), snapshot.cluster.resources), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "affinity" in text
    assert "…" not in text  # no number is cut
    assert all(percent(use.maximum) in text for use in summarise(snapshot).use)
    assert all(score(value) in text for value in summarise(snapshot).score.values())
    if width >= 80:
        assert all(word in text for word in ("sample", "cpu", "memory", "containers", "resource", "top"))


def test_one_of_a_kind_is_singular():
    lonely = cluster_of(machines=1, services=1, replicas=1)
    text = _printed(show_report(summarise(lonely), lonely.cluster.resources))
    assert "0 of 1 machine used, 1 service, 1 workload, 1 container, 1 unplaced, 0 edges, 0 rules" in " ".join(text.split())


def test_show_says_what_a_machine_has_none_of(snapshot):
    machines = snapshot.cluster.machines
    capacity, safety = machines.capacity.copy(), machines.safety.copy()
    capacity[0, 1] = safety[0, 1] = 0
    bare = replace(snapshot.cluster, machines=replace(machines, capacity=capacity, safety=safety))
    summary = summarise(replace(snapshot, cluster=bare))
    text = _printed(show_report(summary, bare.resources), width=100)
    assert re.search(r"node-0 +memory +– +\d+ +over capacity \(memory: \d+Gi of 0\)", text)
    assert re.search(r"memory .* over ", text)
    answer = json.loads(to_json(plain(summary)))
    assert (answer["hot"][0]["utilisation"], answer["hot"][0]["over_capacity"]) == (None, True)
    assert (answer["use"][1]["maximum"], answer["use"][1]["over_capacity"]) == (None, 1)


def test_a_score_beyond_its_bounds_has_no_rank(snapshot):
    summary = replace(summarise(snapshot), normalised={"utilisation": float("nan"), "balance": 0.5})
    text = _printed(show_report(summary, snapshot.cluster.resources))
    assert re.search(r"utilisation +\S+ +– ", text)
    assert re.search(r"balance +\S+ +0\.500 ", text)


CONTROLS = "\x1b[31m\r\x07\n\x7f\x9b\u2028\u202e\ud800"


def test_control_characters_are_written_out():
    assert printable(f"a{CONTROLS}") == r"a\x1b[31m\r\x07\n\x7f\x9b\u2028\u202e\ud800"
    assert printable("größe\n", keep="\n") == "größe\n"


def test_no_name_speaks_to_the_terminal(snapshot):
    def odd(names):
        return tuple(f"{name}{CONTROLS}" for name in names)

    cluster = snapshot.cluster
    evil = replace(
        cluster,
        name=CONTROLS,
        machines=replace(cluster.machines, name=odd(cluster.machines.name)),
        workloads=replace(cluster.workloads, name=odd(cluster.workloads.name)),
        containers=replace(cluster.containers, name=odd(cluster.containers.name)),
    )
    explanation = explain(evil, snapshot.placement, 0, objective=snapshot.objective)
    summary = summarise(replace(snapshot, cluster=evil))
    result = _result(snapshot, left_out=(Reason(CONTROLS, CONTROLS),))
    printed = _printed(
        show_report(summary, evil.resources),
        check_report([CONTROLS]),
        explain_report(explanation),
        report(frame(result, method=CONTROLS, seed=0, wall=0.0)) + decision_report(result, {}),
    )
    assert not set(printed) & set(CONTROLS) - set("\n[31m")
    for answer in (plain(summary), explain_object(explanation)):
        line = to_json(answer)
        assert not set(line) & {"\x1b", "\r", "\x07", "\n", "\x7f", "\x9b", "\u2028", "\ud800"}
        assert json.loads(line)


def test_long_names_keep_their_ends_and_differences():
    assert told_apart(["a", "b"], 3) == ["a", "b"]
    assert told_apart(["node-in-hall-7-north", "node-in-hall-8-north"], 9) == ["…7…", "…8…"]
    assert elided("abcdefghij", 5) == "ab…ij"
    assert elided("\x1b" * 10, 5) == r"\x…1b"
    assert told_apart([f"{'x' * 40}{k:03}" for k in range(3)], 9) == ["…xx000", "…xx001", "…xx002"]
    names = [f"{k}{'x' * 30}{k}" for k in range(100)]
    assert len(set(told_apart(names, 8))) == 100


def test_every_score_of_a_summary_has_a_meaning(snapshot):
    assert set(summarise(snapshot).score) <= set(MEANINGS)
    assert higher_is_better("affinity")
    assert not higher_is_better("total")


def test_check_says_the_verdict_and_counts_the_rest():
    assert "valid: every rule is kept" in _printed(check_report([]))
    text = _printed(check_report([f"rule [red]{k}[/red] violated" for k in range(30)]))
    assert "not valid: 30 rule violations" in text
    assert "rule [red]0[/red] violated" in text  # markup of a name is text
    assert "and 10 more" in text


def test_explain_prints_its_sentences(snapshot):
    explanation = explain(snapshot.cluster, snapshot.placement, 0)
    text = _printed(explain_report(explanation))
    assert str(explanation).splitlines()[0][:40] in text
    assert "talks to" in text
    assert "If it ran elsewhere" not in text


def test_explain_says_where_it_would_be_better(snapshot):
    explanation = explain(snapshot.cluster, snapshot.placement, 0, objective=snapshot.objective)
    text = _printed(explain_report(explanation))
    best = explanation.alternatives[0]
    verdict = "better" if best.change < 0 else "worse"
    assert re.search(rf"{best.machine} +{re.escape(f'{best.change:+.3g}')} +{verdict}", text)


def _result(snapshot, **changes):
    after = Placement(machine_of=np.zeros(len(snapshot.placement.machine_of)))
    fields = {"status": Status.FEASIBLE, "solution": after, "score": {"total": 2.0, "balance": float("nan")}, "bound": 1.5}
    return Result(**{**fields, "seconds": 0.25, "left_out": (Reason("web", "0/6 machines fit"),), **changes})


def test_result_prints_status_scores_and_reasons(snapshot):
    result = _result(snapshot)
    facts = frame(result, method="binpack", seed=0, wall=1.0, more=[("moved", "3")])
    text = _printed(report(facts) + decision_report(result, {}))
    assert all(word in text for word in ("binpack", "feasible, at most 25", "moved", "0/6 machines fit"))


def _answer(snapshot, **changes):
    return PlacementAnswer(verb="place", method="binpack", seed=3, snapshot=snapshot, result=_result(snapshot, **changes))


def test_decision_has_the_promised_keys_in_order(snapshot):
    answer = _answer(snapshot).to_dict()
    assert list(answer) == list(schema("answer")["properties"])
    assert answer["score"] == answer["after"] == {"total": 2.0, "balance": None}
    assert answer["gap"] == pytest.approx(0.25)
    moved = int((snapshot.placement.machine_of > 0).sum())
    assert (answer["placed"], answer["moved"]) == (len(snapshot.placement.unplaced), moved)
    assert answer["left_out"] == [{"name": "web", "reason": "0/6 machines fit"}]


def test_decision_without_a_solution(snapshot):
    answer = json.loads(to_json(_answer(snapshot, status=Status.INFEASIBLE, solution=None, bound=None, score={}).to_dict()))
    assert list(answer) == list(schema("answer")["properties"])
    assert (answer["placed"], answer["moved"], answer["bound"], answer["gap"]) == (0, 0, None, None)


def test_json_is_strict():
    text = to_json(
        {"a": float("nan"), "b": np.float64("inf"), "c": np.arange(2), "d": Status.OPTIMAL, "e": {2, 1}, "f": np.True_}
    )
    assert text == '{"a": null, "b": null, "c": [0, 1], "d": "optimal", "e": [1, 2], "f": true}'


def test_show_object_is_the_summary(snapshot):
    inspection = inspect(snapshot)
    answer = json.loads(to_json(inspection.to_dict()))
    assert list(answer) == ["verb", "name", "counts", "use", "hot", "score", "normalised", "valid", "violated"]
    assert answer["counts"] == dict(inspection.state.counts)


def test_check_object_lists_every_sentence():
    right = CheckResult(name="shop", violations=(), score={"total": 1.0}).to_dict()
    assert (right["valid"], right["violated"], right["violations"]) == (True, 0, [])
    assert right["score"] == {"total": 1.0}
    violation = Violation(rule="capacity", subject=("m",), excess=1, sentence="m is full", number=0)
    answer = CheckResult(name="shop", violations=(violation, violation)).to_dict()
    assert not answer["valid"]
    assert [v["sentence"] for v in answer["violations"]] == ["m is full", "m is full"]
    assert answer["violations"][0]["rule"] == "capacity"


def test_explain_object_has_fields_and_text(snapshot):
    explanation = explain(snapshot.cluster, snapshot.placement, 0)
    answer = explain_object(explanation)
    assert answer["container"] == "work-0-0"
    assert answer["text"] == str(explanation)
