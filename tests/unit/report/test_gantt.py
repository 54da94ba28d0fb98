"""Plans in time: the picture, its bars, its words, and the page around it."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.model import Action, Plan, Reason, Result, Running, Snapshot, Status, Step
from bayplan.report.amounts import about, seconds
from bayplan.report.answers.plan_page import PlanPageData, plan_page
from bayplan.report.answers.plan_tables import MOST_BATCHES, BatchFigures, aggregated, batch_table, both_ends
from bayplan.report.pictures import gantt
from bayplan.report.pictures.gantt import MOST_ROWS
from bayplan.report.pictures.step_bars import StepBars, step_bars, stopovers
from bayplan.score.duration import StepCosts, duration

EVIL = "<script>alert('&\"')</script>\x00"
COSTS = StepCosts(pull=20.0, start=10.0, stop=5.0)


def moves(snapshot: Snapshot, number: int, per_batch: int) -> Plan:
    """Some containers to the next machine, batch by batch: first deletes, then creates."""
    machine_of, n_m = snapshot.placement.machine_of, len(snapshot.cluster.machines.name)
    batches: list[tuple[Step, ...]] = []
    for first in range(0, number, per_batch):
        containers = range(first, min(number, first + per_batch))
        batches.append(tuple(Step(Action.DELETE, c, int(machine_of[c])) for c in containers))
        batches.append(tuple(Step(Action.CREATE, c, (int(machine_of[c]) + 1) % n_m) for c in containers))
    return Plan(batches=tuple(batches))


def timed(snapshot: Snapshot, plan: Plan) -> StepBars:
    times = duration(snapshot.cluster, Running.of(snapshot.placement), plan, COSTS)
    return step_bars(snapshot.cluster, plan, times, COSTS)


def titles(picture: str) -> list[str]:
    return re.findall(r"<g><title>(.*?)</title>", picture, re.DOTALL)


def test_every_step_has_a_bar_that_says_what_it_does_and_when():
    snapshot = cluster_of(machines=12, services=14, replicas=5)
    plan = moves(snapshot, 30, 10)
    tips = titles(gantt(snapshot.cluster, timed(snapshot, plan)))
    assert len(tips) == len(plan)
    words = tips[0].replace("\u00a0", " ")
    assert re.match(r"(create|delete) work-\d+-\d+ on node-\d+\nbatch \d+, from .* s to .* s: ", words)


@pytest.mark.parametrize("width", [500, 1120, 1400])
@pytest.mark.parametrize(("machines", "number"), [(1, 1), (12, 40), (96, 1500)])
def test_a_picture_is_well_formed_and_stays_inside(machines, number, width):
    snapshot = cluster_of(machines=machines, services=40, replicas=40)
    picture = gantt(snapshot.cluster, timed(snapshot, moves(snapshot, number, 150)), width=width)
    root = ET.fromstring(picture)
    rects = [element for element in root.iter() if element.tag.endswith("rect")]
    assert max(float(rect.get("x")) + float(rect.get("width")) for rect in rects) <= width
    tall = float(root.get("height"))
    assert max(float(rect.get("y")) + float(rect.get("height")) for rect in rects) <= tall
    assert len(picture) < 1_000_000


def test_beyond_forty_machines_the_busiest_have_rows_and_the_caption_says_so():
    snapshot = cluster_of(machines=96, services=40, replicas=40)
    picture = gantt(snapshot.cluster, timed(snapshot, moves(snapshot, 1200, 100)))
    assert picture.count('class="bay"') == MOST_ROWS
    assert "Rows are the 40 machines with most" in picture.replace("</text>", " ")


def test_bars_of_one_machine_never_overlap():
    snapshot = cluster_of(machines=3, services=5, replicas=12)
    picture = gantt(snapshot.cluster, timed(snapshot, moves(snapshot, 50, 50)))
    boxes = []
    for group in re.findall(r"<g><title>.*?</g>", picture, re.DOTALL):
        drawn = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', group)
        x, y, width, height = zip(*(map(float, box) for box in drawn), strict=True)
        boxes.append((min(x), max(a + w for a, w in zip(x, width, strict=True)), y[0], y[0] + height[0]))
    assert boxes
    for k, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[:k]:
            apart = left >= other[1] - 0.02 or other[0] >= right - 0.02 or top >= other[3] - 0.02 or other[2] >= bottom - 0.02
            assert apart


def test_only_the_time_before_a_container_starts_is_a_pull():
    snapshot = cluster_of(machines=4, services=2, replicas=2)
    bars = timed(snapshot, moves(snapshot, 2, 2))
    assert (bars.end - bars.pulled)[bars.create].tolist() == [10.0, 10.0]
    assert (bars.pulled >= bars.start).all() and (bars.pulled[~bars.create] == bars.start[~bars.create]).all()


def test_a_create_that_is_taken_back_is_a_stopover():
    steps = [
        (Step(Action.CREATE, 0, 1),),
        (Step(Action.DELETE, 0, 0),),
        (Step(Action.CREATE, 0, 2),),
        (Step(Action.DELETE, 0, 1),),
    ]
    assert stopovers(Plan(batches=tuple(steps))).tolist() == [True, False, False, False]


def test_a_plan_of_nothing_is_a_picture_that_says_so():
    snapshot = cluster_of(machines=2, services=1, replicas=2)
    assert "Nothing has to move." in gantt(snapshot.cluster, timed(snapshot, Plan(batches=())))


def test_names_from_files_are_harmless():
    snapshot = cluster_of(machines=3, services=2, replicas=3)
    machines = replace(snapshot.cluster.machines, name=tuple(f"{EVIL}{m}" for m in range(3)))
    containers = replace(snapshot.cluster.containers, name=tuple(f"{EVIL}{c}" for c in range(6)))
    evil = replace(snapshot, cluster=replace(snapshot.cluster, name=EVIL, machines=machines, containers=containers))
    picture = gantt(evil.cluster, timed(evil, moves(evil, 4, 2)))
    ET.fromstring(picture)
    assert "<script" not in picture


def rows(number: int) -> list[BatchFigures]:
    times = {"steps": 2, "creates": 1, "deletes": 1, "stopovers": 0, "doubled": 0, "alive": 0.8, "peak": 1.0}
    return [BatchFigures(number=k + 1, start=10.0 * k, end=10.0 * k + 10, **times) for k in range(number)]


def test_a_long_plan_is_shown_from_both_ends():
    short, long = (both_ends(batch_table(rows(number)), rows(number)) for number in (MOST_BATCHES, 40))
    assert short == batch_table(rows(MOST_BATCHES))
    assert [row[0].value for row in long.rows] == [1, 2, 3, 4, 5, 6, None, 36, 37, 38, 39, 40]
    assert [cell.text for cell in long.rows[6][:6]] == ["29 more", "", "", "58", "29", "29"]


def test_containers_that_share_a_reason_share_a_line():
    reasons = [Reason(f"web-{k}", "no capacity") for k in range(5)] + [Reason("db", "pinned")]
    assert aggregated([Reason("db", "pinned"), *reasons[:5]]) == (
        Reason("web-0, web-1, web-2 and 2 more", "no capacity"),
        reasons[5],
    )


def test_the_page_has_the_picture_the_batches_and_the_stuck():
    snapshot = cluster_of(machines=12, services=4, replicas=5, name="shop")
    plan = moves(snapshot, 6, 3)
    result = Result(
        status=Status.FEASIBLE, solution=plan, score={"batches": 4, "steps": 12}, left_out=(Reason("web-0", "is full"),)
    )
    running = Running.of(snapshot.placement)
    page_data = PlanPageData(
        snapshot=snapshot,
        after=running.after(plan).placement,
        headline="6 containers change machines",
        result=result,
        timetable=duration(snapshot.cluster, running, plan, COSTS),
        costs=COSTS,
        batches=rows(4),
    )
    page = plan_page(page_data, made={"command": "bayplan migrate"})
    ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))
    assert "1 container stuck" in page and "web-0: is full" in page and "bayplan migrate" in page
    assert "6 containers change machines</h1>" in page and "Batches" in page
    assert page.count('class="bayplan" role="img"') == 1 and page.count("<style>") == 2
    done = plan_page(replace(page_data, held_back=1), made={})
    assert "complete: every container arrives" in done


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 s"), (0.4, "0.4 s"), (45, "45 s"), (59.6, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (7199, "2 h"),
     (97_200, "1 d 3 h"), (0.01, "0.01 s"), (3600, "1 h")],
)  # fmt: skip
def test_spans_of_time_have_two_units_at_most(number, words):
    assert seconds(number).replace("\u00a0", " ") == words


@pytest.mark.parametrize(
    ("number", "words"), [(1615, "27 min"), (250, "4 min 10 s"), (5, "5 s"), (0.5, "0.5 s"), (90_000, "25 h")]
)
def test_what_takes_long_is_said_in_one_unit(number, words):
    assert about(number).replace("\u00a0", " ") in (words, "1 d 1 h")


def test_the_strip_counts_what_runs_at_once():
    snapshot = cluster_of(machines=12, services=14, replicas=5)
    picture = gantt(snapshot.cluster, timed(snapshot, moves(snapshot, 30, 10)))
    assert "up to 10" in picture
    assert not np.isnan(float(ET.fromstring(picture).get("height")))
