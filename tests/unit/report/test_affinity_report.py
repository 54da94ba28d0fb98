"""The section about affinity in a report of before and after."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.model import Placement, Reason, Result, Status, Traffic
from bayplan.report.answers.decision_tables import AffinityGain, MigrationOutline, collocate_outline, collocate_report
from bayplan.report.answers.placement_page import comparison_page
from bayplan.report.answers.placement_tables import pair_table
from bayplan.report.markup import html_table
from bayplan.report.pictures.placement.traffic import affinity_bars, heaviest_pairs
from bayplan.report.terminal import text_of
from bayplan.score.affinity import gained_affinity
from bayplan.score.summary import summarise


@pytest.fixture
def snapshot():
    snapshot = cluster_of(machines=6, services=8, replicas=3)
    edges = snapshot.cluster.traffic
    heavy = Traffic(a=edges.a, b=edges.b, weight=np.arange(1.0, len(edges.a) + 1))
    return replace(snapshot, cluster=replace(snapshot.cluster, traffic=heavy))


def together(snapshot):
    return Placement(machine_of=np.zeros(len(snapshot.cluster.containers.name), dtype=np.int64))


def shown(report) -> str:
    return " ".join(text_of(report, width=120).split())


def test_the_heaviest_pairs_come_first_and_add_up_to_what_is_gained(snapshot):
    edges = heaviest_pairs(snapshot.cluster, snapshot.placement, together(snapshot), top=100)
    assert [edge.traffic for edge in edges] == sorted((edge.traffic for edge in edges), reverse=True)
    assert sum(edge.traffic * edge.before for edge in edges) == pytest.approx(
        gained_affinity(snapshot.cluster, snapshot.placement)
    )
    assert all(edge.after == 1.0 for edge in edges)


def test_the_picture_has_a_line_for_all_traffic_and_one_per_pair(snapshot):
    picture = affinity_bars(snapshot.cluster, snapshot.placement, together(snapshot), top=4)
    assert len(re.findall(r"of traffic: [^<]*</text>", picture)) == 4
    assert "all traffic" in picture and "100\u00a0% after" in picture


def test_the_table_says_what_each_pair_gains(snapshot):
    table = html_table(pair_table(snapshot.cluster, snapshot.placement, together(snapshot)))
    assert table.count("<tr>") == 1 + len(snapshot.cluster.traffic.a)
    assert re.search(r'class="[^"]*better', table)


def test_a_page_has_the_section_only_where_there_is_traffic(snapshot):
    quiet = replace(snapshot, cluster=replace(snapshot.cluster, traffic=Traffic.none()))
    for case, wanted in ((snapshot, True), (quiet, False)):
        page = comparison_page(case, together(case), (summarise(case), summarise(replace(case, placement=together(case)))))
        assert (">Affinity</h2>" in page) is wanted


def test_a_collocation_says_what_is_gained_for_which_moves_and_what_is_left_out():
    result = Result(
        status=Status.FEASIBLE,
        solution=Placement.empty(1),
        score={"affinity": 0.8},
        goal="affinity",
        bound=0.88,
        left_out=(Reason("web", "0/3 machines fit"),),
        seconds=1.0,
    )
    gain = AffinityGain(before=0.07, after=0.8, moved=1164, share=0.334)
    text = shown(collocate_report(result, gain, method="best", counts={"seed": 0}))
    assert "0.0700 before, 0.8000 after" in text and "1,164 containers, 33" in text
    assert "bound of affinity 0.88 (gap 10" in text and "0/3 machines fit" in text


def test_a_collocation_says_why_nothing_moves():
    result = Result(status=Status.FEASIBLE, solution=Placement.empty(1), score={"affinity": 0.07}, goal="affinity")
    gain = AffinityGain(before=0.07, after=0.07, moved=0, share=0.0, stays="too little is gained")
    assert "nothing: too little is gained" in shown(collocate_report(result, gain, method="best"))


def test_an_outline_shows_before_beside_after_and_whether_the_migration_is_safe():
    gain = AffinityGain(before=0.07, after=0.8, moved=3, share=0.1)
    outline = MigrationOutline(counts={"batches": 2, "steps": 6}, safe=True, stuck=1, seconds=120.0, alive=0.75)
    text = shown(collocate_outline(gain, ({"affinity": 0.07, "machines": 4}, {"affinity": 0.8, "moves": 3}), [], outline, seed=5))
    assert "affinity 0.07 0.8 " in text and "machines" not in text.replace("machines;", "")
    assert "2 batches, 6 steps, about 2" in text and "safe, at least 75" in text and "1 container cannot arrive" in text
    assert "valid: every rule is kept" in text


def test_an_outline_without_a_plan_says_so():
    outline = MigrationOutline(counts={}, safe=False, stuck=0, seconds=0.0, alive=1.0)
    assert "no plan" in shown(collocate_outline(AffinityGain(before=0, after=0, moved=0, share=0), ({}, {}), [], outline, seed=0))
