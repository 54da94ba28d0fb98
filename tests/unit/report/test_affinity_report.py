"""The section about affinity in a report of before and after."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.model import Placement, Reason, Result, Status, Traffic
from bayplan.report.answers.decision_tables import decision_report, frame, placement_headline
from bayplan.report.answers.placement_page import comparison_page
from bayplan.report.answers.placement_tables import pair_table
from bayplan.report.change_page.affinity_graph import graph_picture
from bayplan.report.markup import html_table
from bayplan.report.pictures.placement.traffic import heaviest_pairs
from bayplan.report.table import report
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


def test_the_picture_has_every_pair_before_and_after(snapshot):
    picture = graph_picture(snapshot.cluster, snapshot.placement, together(snapshot))
    assert picture.count('class="tie"') == 2 * len(snapshot.cluster.traffic.a)
    assert "After: 100\u00a0% of all traffic is local" in picture and "100\u00a0% after" in picture


def test_the_table_says_what_each_pair_gains(snapshot):
    table = html_table(pair_table(snapshot.cluster, snapshot.placement, together(snapshot)))
    assert table.count("<tr>") == 1 + len(snapshot.cluster.traffic.a)
    assert re.search(r'class="[^"]*better', table)


def test_a_page_has_the_section_only_where_there_is_traffic(snapshot):
    quiet = replace(snapshot, cluster=replace(snapshot.cluster, traffic=Traffic.none()))
    for case, wanted in ((snapshot, True), (quiet, False)):
        page = comparison_page(case, together(case), (summarise(case), summarise(replace(case, placement=together(case)))))
        assert (">Affinity: which traffic stays on one machine</h2>" in page) is wanted
        assert (">The heaviest traffic</h2>" in page) is wanted


def test_a_decision_says_what_is_gained_for_which_moves_and_what_is_left_out(snapshot):
    after = together(snapshot)
    result = Result(
        status=Status.FEASIBLE,
        solution=after,
        score={"affinity": 0.8},
        goal="affinity",
        bound=0.88,
        left_out=(Reason("web", "0/3 machines fit"),),
        still_violated=("machine 'm-0': too much",),
        notes=("nothing moves: too little is gained",),
        seconds=1.0,
    )
    headline = placement_headline(snapshot, after, result, {"affinity": 0.07})
    assert re.match(r"\d+ of \d+ containers moves? \(", headline)
    assert headline.endswith("affinity 0.07 -> 0.8 (at most 0.88 is possible)")
    frame_words = shown(report(frame(result, method="best", seed=0, wall=2.0)))
    assert "feasible, at most 10" in frame_words and "2 s, of which 1 s for the method" in frame_words
    text = shown(decision_report(result, {"affinity": 0.07}))
    assert "affinity 0.07 0.8 +0.73" in text and "0/3 machines fit" in text
    assert "still violated: machine 'm-0': too much" in text and "note: nothing moves: too little is gained" in text
