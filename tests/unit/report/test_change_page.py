"""The page about a change: its data come back as they went in, names are harmless, the same input gives the same bytes."""

import base64
import json
import re
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.change_pages import change_of, with_notes
from tests.builders.report_clusters import cluster_of

from bayplan.model import UNPLACED, Action, Containers, Placement, Plan, Running, Step, Traffic
from bayplan.report.change_page import Card, FrontPoint, MoveNote, change_page, number_card
from bayplan.report.change_page.affinity_graph import affinity_graph, label_places
from bayplan.report.change_page.data import all_moves, batch_of
from bayplan.report.change_page.encoding import encoded, narrow, packed
from bayplan.report.change_page.front import front_picture

EVIL = '</script><!--<script>alert("\'&")</script>\x00\ud800\u202e'


@pytest.fixture(scope="module")
def data():
    return with_notes(change_of(cluster_of(machines=10, services=8, replicas=6), 9, per_batch=3))


def decoded(text: str) -> tuple[dict, dict[str, np.ndarray]]:
    """What the script of the page reads."""
    block = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(block[:4], "little")
    header, at, arrays = json.loads(block[4 : 4 + size]), -(-(4 + size) // 8) * 8, {}
    for name, kind, length in header["arrays"]:
        arrays[name] = np.frombuffer(block, dtype=f"<{kind}", count=length, offset=at)
        at = -(-(at + arrays[name].nbytes) // 8) * 8
    return header, arrays


def text_of_data(page: str) -> str:
    return re.search(r'<script type="text/plain" id="data">([^<]*)</script>', page)[1]


def tree(page: str) -> ET.Element:
    return ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


@pytest.mark.parametrize("numbers", [[], [0], [-1, 127], [-129, 5], [40_000], [2**31], [2**52]])
def test_numbers_come_back_as_they_went_in(numbers):
    _, arrays = decoded(packed({}, {"x": np.array(numbers, dtype=np.int64), "y": np.array([0.1, np.pi])}))
    assert arrays["x"].tolist() == numbers
    assert arrays["y"].tolist() == [0.1, np.pi]
    assert narrow(np.array([1, 2])).dtype.itemsize == 1


def test_placement_moves_and_steps_are_in_the_data(data):
    header, arrays = decoded(encoded(data))
    assert arrays["before"].tolist() == data.snapshot.placement.machine_of.tolist()
    assert arrays["container"].tolist() == [move.container for move in data.moves]
    assert arrays["target"].tolist() == [move.target for move in data.moves]
    assert header["gains"] == ["load above safety", "local traffic"]
    assert arrays["gain"].reshape(-1, 2)[0, 0] == 100_000
    assert len(arrays["step_container"]) == len(data.plan)
    assert arrays["batch_end"][-1] == data.timetable.seconds


def test_names_that_follow_the_pattern_are_left_out():
    snapshot = cluster_of(machines=3, services=2, replicas=3)
    cluster = snapshot.cluster
    regular = replace(snapshot, cluster=replace(cluster, containers=Containers.replicas_of(cluster.workloads.name, [3, 3])))
    assert decoded(encoded(change_of(regular, 2)))[0]["names"] == {}
    names = ("work-0-0", "work-0-1", "work-0-2", "x", "y", "z")
    odd = replace(cluster, containers=Containers(name=names, workload=cluster.containers.workload))
    assert decoded(encoded(change_of(replace(snapshot, cluster=odd), 2)))[0]["names"] == {"1": ["x", "y", "z"]}


def test_the_same_data_give_the_same_page(data):
    assert change_page(data) == change_page(data)


def test_names_from_files_are_harmless(data):
    cluster = data.snapshot.cluster
    odd = replace(
        cluster,
        name=EVIL,
        machines=replace(cluster.machines, name=tuple(f"{EVIL}{m}" for m in range(10))),
        workloads=replace(cluster.workloads, name=tuple(f"{EVIL}{w}" for w in range(8))),
        containers=Containers(name=tuple(f"{EVIL}{c}" for c in range(48)), workload=cluster.containers.workload),
    )
    odd = replace(odd, levels=(replace(odd.levels[0], group=odd.machines.name), *odd.levels[1:]))
    moves = tuple(replace(move, why=EVIL, reason=EVIL, gain={EVIL: 0.1}) for move in data.moves)
    evil = replace(
        data,
        snapshot=replace(data.snapshot, cluster=odd, notes=(EVIL,)),
        headline=EVIL,
        details=(EVIL,),
        cards=(Card(label=EVIL, before=EVIL, after=EVIL, note=EVIL),),
        warnings=(EVIL,),
        moves=moves,
        front=(FrontPoint(moved=1, share=0.1, gain=1.0, figures={EVIL: EVIL}),),
        made={EVIL: EVIL},
    )
    page = change_page(evil)
    root = tree(page)
    assert len(list(root.iter("script"))) == 3
    assert "alert(" not in page.replace("alert(&quot;", "")
    page.encode()
    header, _ = decoded(text_of_data(page))
    assert header["machines"][0] == '</script><!--<script>alert("\'&")</script>\\x00\\ud800\\u202e0'
    assert header["gains"] == [header["machines"][0][:-1]]


def test_the_page_says_everything_without_a_script(data):
    words = " ".join(tree(change_page(data)).itertext())
    for sentence in (data.headline, *data.details, *data.warnings, "✓ better", "✕ worse", "bayplan plan shop.yaml"):
        assert sentence in words


def test_a_container_that_changes_without_a_note_gets_one(data):
    before = data.snapshot.placement.machine_of
    after = data.after.machine_of.copy()
    unplaced = int(np.flatnonzero(before == UNPLACED)[0])
    goes = next(c for c in range(len(before)) if before[c] == after[c] and c != unplaced)
    after[unplaced], after[goes] = 3, UNPLACED
    moves = all_moves(replace(data, after=Placement(machine_of=after)))
    assert moves[: len(data.moves)] == data.moves
    assert {(move.container, move.reason) for move in moves[len(data.moves) :]} == {
        (unplaced, "gets a machine"),
        (goes, "is taken away"),
    }


def test_a_move_belongs_to_the_batch_in_which_it_starts_on_its_target():
    steps = (Step(Action.CREATE, 0, 1), Step(Action.DELETE, 0, 0), Step(Action.CREATE, 0, 2), Step(Action.DELETE, 0, 1))
    plan = Plan(batches=tuple((step,) for step in (*steps, Step(Action.DELETE, 1, 0))))
    moves = [MoveNote(container=c, source=0, target=t) for c, t in ((0, 2), (1, UNPLACED), (2, 1))]
    assert batch_of(moves, plan).tolist() == [3, 5, 0]


def test_what_runs_twice_at_the_start_is_in_the_data(data):
    second = np.full(48, UNPLACED)
    second[5] = (int(data.snapshot.placement.machine_of[5]) + 1) % 10
    running = Running(machine_of=data.snapshot.placement.machine_of, second=second)
    _, arrays = decoded(encoded(replace(data, running=running)))
    assert (arrays["twice"].tolist(), arrays["twice_machine"].tolist()) == ([5], [int(second[5])])


@pytest.mark.parametrize(
    ("before", "after", "more", "verdict"),
    [(0.5, 0.4, False, "better"), (0.5, 0.4, True, "worse"), (0.3, 0.1 + 0.2, True, "same"), (np.inf, 0.9, False, "better")],
)
def test_a_card_says_whether_its_number_is_better(before, after, more, verdict):
    assert number_card("x", before, after, more_is_better=more).verdict == verdict


def test_the_graph_has_the_heaviest_edges_and_is_always_the_same():
    snapshot = cluster_of(machines=10, services=80, replicas=2)
    edges = snapshot.cluster.traffic
    heavy = Traffic(a=edges.a, b=edges.b, weight=np.arange(1.0, len(edges.a) + 1))
    cluster = replace(snapshot.cluster, traffic=heavy)
    one, again = (affinity_graph(cluster, snapshot.placement, snapshot.placement) for _ in range(2))
    assert sorted(one.weight.tolist())[-1] == pytest.approx(heavy.weight[-1] / heavy.weight.sum())
    assert (one.x == again.x).all() and (one.y == again.y).all()
    assert one.x.min() == 0 and one.x.max() == 1
    distance = np.hypot(one.x[:, None] - one.x, one.y[:, None] - one.y) + np.eye(len(one.x))
    assert distance.min() > 0.01


def test_names_of_neighbours_do_not_cover_each_other():
    places = label_places(["left", "right"], np.array([100.0, 112.0]), np.array([50.0, 50.0]), np.array([5.0, 5.0]))
    assert places[0] != places[1]
    assert {anchor for *_, anchor in places} != {""}


@pytest.mark.parametrize("points", [[(0, 0.0)], [(0, 0.0), (5, 0.0)], [(0, -1.0), (3, 2.0)]])
def test_the_front_is_drawn_for_any_points(points):
    front = tuple(FrontPoint(moved=k, share=k / 100, gain=gain, chosen=k == 0) for k, gain in points)
    picture = front_picture(front)
    ET.fromstring(picture)
    assert "nan" not in picture and picture.count('class="dot"') == len(points)
    assert "chosen: 0 containers moved" in picture
