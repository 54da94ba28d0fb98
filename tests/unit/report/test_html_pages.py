import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.model import Containers, Machines, Placement
from bayplan.report.answers.placement_page import comparison_page, report_page
from bayplan.report.answers.placement_tables import change_table
from bayplan.report.markup import html_table
from bayplan.score.summary import summarise

EVIL = "</style><script>alert(1)</script>"


def _report(snapshot, violations=(), **options):
    return report_page(snapshot, summarise(snapshot), violations, **options)


def _comparison(snapshot):
    after = Placement(machine_of=np.roll(snapshot.placement.machine_of, 3))
    summaries = (summarise(snapshot), summarise(replace(snapshot, placement=after)))
    return comparison_page(snapshot, after, summaries, violations=["machine 'a' is full"], made={"seed": "7"})


@pytest.fixture(scope="module")
def pages():
    snapshot = cluster_of(machines=12, services=14, replicas=5)
    return {"report": _report(snapshot, made={"command": "bayplan show x.json"}), "comparison": _comparison(snapshot)}


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_page_is_well_formed(pages, kind):
    root = ET.fromstring(pages[kind].removeprefix("<!DOCTYPE html>\n"))
    assert root.tag == "html"
    assert root.find("head/title").text


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_page_needs_no_network(pages, kind):
    assert not re.search(r"""(src|href|action)\s*=|url\(|@import|fetch\(|https?://(?!www\.w3\.org/2000/svg)""", pages[kind])
    policy = ET.fromstring(pages[kind].removeprefix("<!DOCTYPE html>\n")).find("head/meta[@http-equiv]")
    assert policy.get("content").startswith("default-src 'none';")


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_html_elements_are_closed_and_styles_come_once(pages, kind):
    assert not re.search(r"<(td|th|div|p|span|dl|dt|dd|ul|li|script|table|figure)\b[^>]*/>", pages[kind])
    assert pages[kind].count("<style>") == 2


def test_verdict_and_sentences():
    snapshot = cluster_of(machines=12, services=14, replicas=5)
    assert "valid: every rule is kept" in _report(snapshot)
    violated = _report(snapshot, ["machine 'a' is full", "web is split"])
    assert "not valid: 2 rule violations" in violated
    assert "web is split" in violated
    many = _report(snapshot, [f"rule {k}" for k in range(250)])
    assert "and 230 more" in many


def test_names_from_files_are_harmless():
    snapshot = cluster_of(machines=4, services=3, replicas=2, name=EVIL)
    containers = Containers(name=tuple(f"{EVIL}{c}" for c in range(6)), workload=snapshot.cluster.containers.workload)
    evil = replace(snapshot, cluster=replace(snapshot.cluster, containers=containers), notes=(EVIL,))
    page = _report(evil, [EVIL], title=EVIL, made={EVIL: EVIL})
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    assert len(list(root.iter("script"))) == 1
    assert "alert(1)</script>" not in page


CONTROLS = "".join(map(chr, [*range(32), *range(0x7F, 0xA0), 0x202E, 0x2028, 0xD800, 0xFFFE]))


def test_control_characters_leave_the_page_well_formed():
    snapshot = cluster_of(machines=4, services=3, replicas=2, name=CONTROLS)
    cluster = snapshot.cluster
    odd = replace(
        cluster,
        machines=replace(cluster.machines, name=tuple(f"{CONTROLS}{name}" for name in cluster.machines.name)),
        containers=Containers(name=tuple(f"{CONTROLS}{c}" for c in range(6)), workload=cluster.containers.workload),
    )
    page = _report(replace(snapshot, cluster=odd), [CONTROLS])
    ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    assert not set(page) & set(CONTROLS) - {"\n"}
    page.encode()


def test_what_a_machine_has_none_of_is_flagged_everywhere():
    snapshot = cluster_of(machines=4, services=3, replicas=4)
    machines = snapshot.cluster.machines
    capacity, safety = machines.capacity.copy(), machines.safety.copy()
    capacity[0, 1] = safety[0, 1] = 0
    placement = Placement(machine_of=np.arange(12) % 4)
    bare = replace(snapshot.cluster, machines=Machines(name=machines.name, capacity=capacity, safety=safety))
    page = _report(replace(snapshot, cluster=bare, placement=placement))
    assert "<h3>1 machine over capacity</h3>" in page
    assert re.search(r"<li>node-0: over capacity \(memory: \d+Gi of 0\), 3 containers</li>", page)
    assert '<small class="worse">1 machine over capacity</small>' in page
    assert 'class="n worse" data-v="Infinity">over capacity</td>' in page


def test_a_change_that_is_only_rounding_is_none():
    table = html_table(change_table({"affinity": 0.3}, {"affinity": 0.1 + 0.2}))
    assert 'data-v="0.0">0</td>' in table
    assert "better" not in table.replace("higher is better", "")


def test_unplaced_containers_are_counted_in_their_heading(pages):
    assert "<h3>1 container without a machine</h3>" in pages["report"]


def test_a_page_about_a_nameless_cluster_has_a_title():
    page = _report(cluster_of(machines=2, services=1, replicas=1, name=""))
    assert "<title>cluster – bayplan</title>" in page
    assert "1 service, 1 workload" in page


def test_page_says_how_it_was_made(pages):
    assert "bayplan show x.json" in pages["report"]
    assert ">seed<" in pages["comparison"]


def test_page_has_every_picture(pages):
    assert pages["report"].count('role="img"') == 4
    assert pages["comparison"].count("<svg xmlns") == 4  # the curves, the heat map, and the affinity graph before and after
    assert pages["comparison"].count("<canvas") == 3  # both bay plans and the timeline


def test_pictures_have_words_for_screen_readers(pages):
    for page in pages.values():
        root = ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
        svgs = list(root.iter("{http://www.w3.org/2000/svg}svg"))
        assert all(svg.get("aria-label") and svg.find("{http://www.w3.org/2000/svg}desc").text for svg in svgs)


def test_page_of_a_big_cluster_stays_small():
    assert len(_report(cluster_of(machines=2000, services=500, replicas=20))) < 1_000_000
