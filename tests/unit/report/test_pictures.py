import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.model import Containers, Machines, Placement, Services, Snapshot
from bayplan.report.change_page.affinity_graph import graph_picture
from bayplan.report.loads import machine_use
from bayplan.report.pictures import bay_plan, heat_map, traffic_bars, utilisation_cdf
from bayplan.report.pictures.colours import OWN, service_palette
from bayplan.report.pictures.placement.bay_plan import PLOT
from bayplan.report.pictures.placement.bay_plan_data import stacked, unplaced_blocks
from bayplan.report.pictures.placement.traffic import chatty_pairs

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('&\"')</script>\x00"

PICTURES = {
    "bay plan": lambda s: bay_plan(s.cluster, s.placement),
    "bay plan by zone": lambda s: bay_plan(s.cluster, s.placement, group_by="zone"),
    "highlighted bay plan": lambda s: bay_plan(s.cluster, s.placement, highlight=np.array([0])),
    "cdf": lambda s: utilisation_cdf(s.cluster, s.placement),
    "cdf with before": lambda s: utilisation_cdf(s.cluster, s.placement, before=_shifted(s)),
    "heat map": lambda s: heat_map(s.cluster, s.placement),
    "affinity": lambda s: graph_picture(s.cluster, s.placement, _shifted(s)),
    "traffic": lambda s: traffic_bars(s.cluster, s.placement),
}
SIZES = {"1": (1, 1, 1), "12": (12, 14, 5), "100": (100, 40, 20), "200": (200, 50, 10), "600": (600, 400, 3)}
every_picture = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


def _shifted(snapshot: Snapshot) -> Placement:
    moved = snapshot.placement.machine_of.copy()
    moved[::3] = np.maximum(0, (moved[::3] + 1) % len(snapshot.cluster.machines.name))
    return Placement(machine_of=moved)


def _small(**changes: int) -> Snapshot:
    return cluster_of(**{"machines": 12, "services": 14, "replicas": 5, **changes})


def _evil() -> Snapshot:
    snapshot = _small()
    cluster = snapshot.cluster
    evil = replace(
        cluster,
        name=EVIL,
        machines=Machines(
            name=tuple(f"{EVIL}{name}" for name in cluster.machines.name),
            capacity=cluster.machines.capacity,
            safety=cluster.machines.safety,
        ),
        services=Services(name=tuple(f"{EVIL}{name}" for name in cluster.services.name), clique=cluster.services.clique),
        workloads=replace(cluster.workloads, name=tuple(f"{EVIL}{name}" for name in cluster.workloads.name)),
        containers=Containers(
            name=tuple(f"{EVIL}{name}" for name in cluster.containers.name), workload=cluster.containers.workload
        ),
    )
    return replace(snapshot, cluster=evil)


def _blocks(picture: str) -> list[ET.Element]:
    stacks = (group for group in ET.fromstring(picture).iter(f"{SVG}g") if group.get("class") == "stacks")
    return [rect for group in stacks for rect in group.iter(f"{SVG}rect") if re.match(r"s\d", rect.get("class", ""))]


@every_picture
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_picture_is_well_formed_with_title_and_description(draw, size):
    machines, services, replicas = size
    root = ET.fromstring(draw(cluster_of(machines=machines, services=services, replicas=replicas)))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text


@every_picture
def test_nothing_is_fetched(draw):
    picture = draw(_small()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|href|src=|url\(|@import", picture)


@every_picture
def test_same_input_gives_the_same_bytes(draw):
    assert draw(_small()) == draw(_small())


@every_picture
def test_names_are_harmless(draw):
    picture = draw(_evil())
    tags = {element.tag for element in ET.fromstring(picture).iter()}
    assert f"{SVG}script" not in tags
    assert "<script" not in picture


@every_picture
def test_no_number_is_missing_or_infinite(draw):
    assert not re.search(r'="[^"]*\b(nan|inf)\b', draw(_small()))


def test_as_many_blocks_as_placed_containers():
    snapshot = cluster_of(machines=100, services=40, replicas=20)
    assert len(_blocks(bay_plan(snapshot.cluster, snapshot.placement))) == len(snapshot.placement.placed)


def test_heights_of_a_stack_add_up_to_the_utilisation():
    snapshot = _small()
    use = machine_use(snapshot.cluster, snapshot.placement)
    blocks = stacked(snapshot.cluster, snapshot.placement, use, service_palette(snapshot.cluster))
    total = np.bincount(blocks.machine, weights=blocks.height, minlength=12)
    assert total == pytest.approx(use.level)
    assert use.level == pytest.approx(np.nanmax(use.share, axis=1))


def test_drawn_heights_are_those_of_the_blocks():
    snapshot = _small()
    use = machine_use(snapshot.cluster, snapshot.placement)
    drawn: dict[str, float] = defaultdict(float)
    for rect in _blocks(bay_plan(snapshot.cluster, snapshot.placement)):
        drawn[rect.get("x")] += float(rect.get("height"))
    scale = PLOT / (max(1.0, use.level.max()) * 1.02)
    in_order = [drawn[x] for x in sorted(drawn, key=float)]
    assert in_order == pytest.approx((use.level[use.containers > 0] * scale).tolist(), abs=0.5)


def test_blocks_of_one_service_stand_together():
    snapshot = _small()
    use = machine_use(snapshot.cluster, snapshot.placement)
    blocks = stacked(snapshot.cluster, snapshot.placement, use, service_palette(snapshot.cluster))
    runs = 1 + int(((np.diff(blocks.machine) != 0) | (np.diff(blocks.service) != 0)).sum())
    assert runs == len(np.unique(np.stack([blocks.machine, blocks.service]), axis=1).T)


def test_a_machine_without_a_resource_is_normal():
    snapshot = _small()
    capacity = snapshot.cluster.machines.capacity.copy()
    capacity[0, 1] = 0
    capacity[1] = 0
    machines = Machines(name=snapshot.cluster.machines.name, capacity=capacity, safety=capacity)
    machine_of = snapshot.placement.machine_of.copy()
    machine_of[machine_of < 2] = 2
    bare = replace(snapshot, cluster=replace(snapshot.cluster, machines=machines), placement=Placement(machine_of=machine_of))
    use = machine_use(bare.cluster, bare.placement)
    assert use.fullest[0] == 0
    assert use.level[1] == 0
    assert not use.lacks.any()
    for draw in PICTURES.values():
        ET.fromstring(draw(bare))


def test_a_full_machine_is_marked_and_crosses_the_line():
    snapshot = _small()
    crowded = Placement(machine_of=np.zeros(len(snapshot.cluster.containers.name)))
    assert 'class="above"' in bay_plan(snapshot.cluster, crowded)
    assert 'class="above"' not in bay_plan(snapshot.cluster, Placement.empty(len(crowded.machine_of)))


def _lacking() -> Snapshot:
    """Machine 0 runs containers that need memory, and has none."""
    snapshot = _small()
    capacity = snapshot.cluster.machines.capacity.copy()
    capacity[:, 0] *= 100
    capacity[0, 1] = 0
    machines = Machines(name=snapshot.cluster.machines.name, capacity=capacity, safety=capacity)
    return replace(snapshot, cluster=replace(snapshot.cluster, machines=machines))


def test_a_machine_that_runs_what_it_has_none_of_crosses_the_line_in_red():
    snapshot = _lacking()
    use = machine_use(snapshot.cluster, snapshot.placement)
    assert (use.fullest[0], use.level[0]) == (1, use.level.max())
    assert use.level[0] >= 1.25
    assert np.flatnonzero(use.endless).tolist() == [0]
    blocks = stacked(snapshot.cluster, snapshot.placement, use, service_palette(snapshot.cluster))
    assert np.bincount(blocks.machine, weights=blocks.height, minlength=12) == pytest.approx(use.level)
    plan = bay_plan(snapshot.cluster, snapshot.placement)
    assert plan.count('class="above"') == int(use.full.sum())
    assert "memory: it has none, but runs what needs it" in plan
    assert "node-0: runs what needs memory, but has none" in heat_map(snapshot.cluster, snapshot.placement)
    assert "1 machine without it needs it" in utilisation_cdf(snapshot.cluster, snapshot.placement)
    for draw in PICTURES.values():
        ET.fromstring(draw(snapshot))


def test_an_overview_marks_what_is_over_capacity_and_has_one_calm_safety_band():
    snapshot = cluster_of(machines=600, services=200, replicas=3)
    machines = snapshot.cluster.machines
    capacity, safety = machines.capacity.copy(), machines.safety.copy()
    capacity[5, 1] = safety[5, 1] = 0
    safety[::2] //= 2
    placed = Placement(machine_of=np.where(np.arange(600) < 10, 5, snapshot.placement.machine_of))
    mixed = replace(snapshot.cluster, machines=Machines(name=machines.name, capacity=capacity, safety=safety))
    picture = bay_plan(mixed, placed)
    assert picture.count('class="band"') == 1
    assert len(re.findall(r'l-2 -6h4z" class="h11"', picture)) == 1
    assert "1 machine over capacity" in picture


def test_tooltips_say_container_workload_service_and_request():
    snapshot = _small()
    titles = [rect.find(f"{SVG}title").text for rect in _blocks(bay_plan(snapshot.cluster, snapshot.placement))]
    c = int(snapshot.placement.placed[0])
    (mine,) = [title for title in titles if title.split("\n")[0] == snapshot.cluster.containers.name[c]]
    assert "workload work-0, service svc-0" in mine
    assert re.search(r"cpu (250m|500m|1), memory [124]Gi", mine)


def test_unplaced_containers_are_drawn_beside_the_machines():
    snapshot = _small()
    empty = Placement.empty(len(snapshot.cluster.containers.name))
    assert ">unplaced<" in bay_plan(snapshot.cluster, empty)
    assert _blocks(bay_plan(snapshot.cluster, empty)) == []
    piles = unplaced_blocks(snapshot.cluster, empty, service_palette(snapshot.cluster))
    tops = piles.base + piles.height
    assert len(piles) == len(empty.machine_of)
    assert tops[piles.height <= 1].max() <= 1 + 1e-9
    full = Placement(machine_of=np.zeros(len(empty.machine_of)))
    assert ">unplaced<" not in bay_plan(snapshot.cluster, full)


def test_highlighted_containers_stay_and_the_others_pale():
    snapshot = _small()
    chosen = snapshot.placement.placed[:7]
    blocks = _blocks(bay_plan(snapshot.cluster, snapshot.placement, highlight=chosen))
    assert sum("pale" not in rect.get("class") for rect in blocks) == 7


def test_the_biggest_services_have_their_own_colours_in_every_picture():
    snapshot = cluster_of(machines=12, services=30, replicas=3)
    palette = service_palette(snapshot.cluster)
    assert len(set(palette.colour[palette.own].tolist())) == OWN
    assert (palette.colour[palette.rank >= OWN] >= OWN).all()


def test_thousands_of_machines_give_a_small_file():
    snapshot = cluster_of(machines=5000, services=3000, replicas=50)
    pictures = [
        draw(snapshot) for draw in (PICTURES["bay plan"], PICTURES["bay plan by zone"], PICTURES["cdf"], PICTURES["heat map"])
    ]
    assert max(map(len, pictures)) < 500_000
    assert pictures[0].count("h5v5h-5z") == 5000  # one cell per machine


@pytest.mark.parametrize(("machines", "replicas"), [(240, 2), (240, 10), (240, 16), (20, 16), (20, 100)])
def test_every_plan_stays_below_a_megabyte(machines, replicas):
    snapshot = cluster_of(machines=machines, services=500, replicas=replicas)
    long_names = Containers(
        name=tuple(f"{name}-{'x' * 60}" for name in snapshot.cluster.containers.name),
        workload=snapshot.cluster.containers.workload,
    )
    picture = bay_plan(replace(snapshot.cluster, containers=long_names), snapshot.placement)
    assert len(picture) < 1_000_000
    ET.fromstring(picture)


def test_chatty_pairs_come_worst_first_and_add_up():
    snapshot = _small()
    pairs = chatty_pairs(snapshot.cluster, snapshot.placement, top=100)
    remote = [pair.remote for pair in pairs]
    assert remote == sorted(remote, reverse=True)
    assert sum(pair.traffic for pair in pairs) == pytest.approx(1)


def test_traffic_of_containers_that_do_not_run_does_not_cross_machines():
    snapshot = cluster_of(machines=3, services=2, replicas=2)
    empty = Placement.empty(4)
    assert chatty_pairs(snapshot.cluster, empty) == []
    assert "No traffic between machines" in traffic_bars(snapshot.cluster, empty)
    (half,) = chatty_pairs(snapshot.cluster, Placement(machine_of=np.array([0, -1, 1, 1])))
    assert (half.local, half.remote, half.idle) == (0.0, 0.5, 0.5)
    assert "does not run" in traffic_bars(snapshot.cluster, Placement(machine_of=np.array([0, -1, 1, 1])))


def _renamed(snapshot: Snapshot, machines: str, workloads: str) -> Snapshot:
    cluster = snapshot.cluster
    named = Machines(
        name=tuple(machines.format(m) for m in range(len(cluster.machines.name))),
        capacity=cluster.machines.capacity,
        safety=cluster.machines.safety,
    )
    words = tuple(workloads.format(w) for w in range(len(cluster.workloads.name)))
    services = Services(name=words, clique=cluster.services.clique)
    return replace(
        snapshot,
        cluster=replace(cluster, machines=named, services=services, workloads=replace(cluster.workloads, name=words)),
    )


def _texts(picture: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("machines", "workloads"),
    [
        ("machine-in-the-very-long-row-{:05}-of-the-data-centre-in-the-north", "team-of-the-shop-and-its-basket-{:05}-service"),
        ("{:05}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{:05}"),
    ],
)
def test_long_names_can_be_told_apart(machines, workloads):
    snapshot = _renamed(_small(), machines, workloads)
    for draw in ("bay plan", "heat map"):
        shown = {text for text in _texts(PICTURES[draw](snapshot)) if "…" in text and re.search(r"000\d\d", text)}
        assert {re.search(r"000\d\d", text)[0] for text in shown} >= {f"{m:05}" for m in range(12)}
    bars = [text for text in _texts(PICTURES["traffic"](snapshot)) if " – " in text]
    assert all(len(re.findall(r"000\d\d", text)) == 2 for text in bars)


def test_crowded_rows_name_the_fullest_machines_and_some_others():
    snapshot = cluster_of(machines=100, services=40, replicas=20)
    use = machine_use(snapshot.cluster, snapshot.placement)
    for group_by in (None, "zone"):
        texts = _texts(bay_plan(snapshot.cluster, snapshot.placement, group_by=group_by))
        named = {text for text in texts if text.startswith("node-")}
        assert snapshot.cluster.machines.name[int(use.level.argmax())] in named
        assert len(named) >= 15


def test_many_unplaced_containers_are_a_number():
    snapshot = cluster_of(machines=3, services=40, replicas=20)
    empty = Placement.empty(800)
    picture = bay_plan(snapshot.cluster, empty)
    drawn = len(re.findall(r"without a machine</title>", picture))
    assert f"+{800 - drawn}" in _texts(picture)
    assert any(re.fullmatch(r"about \d+ machines' worth", text) for text in _texts(picture))


def test_a_very_full_machine_leaves_round_shares_on_the_axis():
    snapshot = cluster_of(machines=3, services=40, replicas=20)
    crowded = Placement(machine_of=np.zeros(800))
    shares = [text for text in _texts(utilisation_cdf(snapshot.cluster, crowded)) if re.fullmatch(r"\d+\u00a0%", text)]
    along_x = [text for text in shares if int(text[:-2]) > 100]
    assert len(along_x) >= 3
    assert all(int(text[:-2]) % 50 == 0 for text in along_x)


def test_a_cluster_without_a_name_is_called_cluster():
    snapshot = cluster_of(machines=3, services=2, replicas=2, name="")
    for draw in PICTURES.values():
        assert not re.search(r">(:| of:| of <|- )| of  | of per", draw(snapshot))
    assert "cluster: 3 machines" in bay_plan(snapshot.cluster, snapshot.placement)


def test_a_picture_without_traffic_says_so():
    snapshot = cluster_of(machines=3, services=1, replicas=2)
    assert "No traffic between machines" in traffic_bars(snapshot.cluster, snapshot.placement)


def test_an_unknown_level_is_an_error():
    snapshot = _small()
    with pytest.raises(KeyError):
        bay_plan(snapshot.cluster, snapshot.placement, group_by="continent")
