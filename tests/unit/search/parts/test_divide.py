"""How machines are divided into parts: by zones, and by what talks."""

import numpy as np

import bayplan as bp
from bayplan.model import AntiAffinity
from bayplan.model.problem import Problem
from bayplan.score.counts import containers_on
from bayplan.search.parts.divide import divide
from bayplan.search.parts.divided_moves import divided_moves
from bayplan.search.parts.part import part_of
from bayplan.search.parts.part_rules import RuleIndex


def zoned(*rules: AntiAffinity, zones: int = 2, racks: int = 8):
    builder = bp.ClusterBuilder("zoned").machines(
        "m-{:02}", 16, cpu=8, memory="16Gi", rack=lambda i: f"r{i % racks}", zone=lambda i: f"z{i % zones}"
    )
    for w in range(8):
        builder = builder.workload(f"w{w}", replicas=4, cpu=1, memory="1Gi", on=[f"m-{(4 * w + i) % 16:02}" for i in range(4)])
    for rule in rules:
        builder = builder.rule(rule)
    return builder.build()


def level_of(snapshot, name: str):
    return snapshot.cluster.level(name).group_of


def test_a_part_stays_in_one_zone_if_rules_are_about_zones_that_are_larger():
    snapshot = zoned(AntiAffinity(workloads=(0,), limit=2, level=2))
    sets = divide(snapshot.cluster, snapshot.placement, 4)
    assert len(sets) == 4
    assert all(len(np.unique(level_of(snapshot, "zone")[machines])) == 1 for machines in sets)


def test_a_rack_is_not_divided_if_rules_are_about_racks():
    snapshot = zoned(AntiAffinity(workloads=(0,), limit=1, level=1))
    sets = divide(snapshot.cluster, snapshot.placement, 4)
    assert sum(len(np.unique(level_of(snapshot, "rack")[machines])) for machines in sets) == 8


def test_rules_about_zones_hold_nothing_where_parts_lie_inside_of_them():
    snapshot = zoned(AntiAffinity(workloads=(0, 1), limit=2, level=2))
    problem = Problem.of(snapshot)
    index = RuleIndex.of(problem.cluster, problem.start)
    parts = [part_of(problem, index, machines) for machines in divide(problem.cluster, problem.start, 4)]
    assert not any(part.problem.frozen.any() for part in parts)
    assert not any(isinstance(rule, AntiAffinity) for part in parts for rule in part.problem.cluster.rules)


def test_a_rule_that_spans_parts_holds_what_it_names():
    problem = Problem.of(zoned(AntiAffinity(workloads=(0,), limit=2, level=2)))
    half = part_of(problem, RuleIndex.of(problem.cluster, problem.start), np.arange(8))  # some machines of both zones
    names = [half.problem.cluster.containers.name[c] for c in np.flatnonzero(half.problem.frozen)]
    assert names == ["w0-0", "w0-1", "w0-2", "w0-3"]


def test_what_talks_comes_into_one_part():
    builder = bp.ClusterBuilder("pairs").machines("m-{}", 8, cpu=8, memory="16Gi")
    for w in range(8):  # w0 talks to w4, which runs far from it by number
        builder = builder.workload(f"w{w}", replicas=2, cpu=1, memory="1Gi", on=[f"m-{w}", f"m-{w}"])
    for w in range(4):
        builder = builder.traffic(f"w{w}", f"w{w + 4}", 1.0 + w)
    snapshot = builder.build()
    for machines in divide(snapshot.cluster, snapshot.placement, 2):
        assert sorted(m % 4 for m in machines.tolist()) == sorted([m % 4 for m in machines.tolist() if m < 4] * 2)


def test_parts_are_of_about_the_same_size():
    snapshot = bp.generate("rasa-m3")
    sizes = containers_on(snapshot.cluster, snapshot.placement)
    held = [int(sizes[machines].sum()) for machines in divide(snapshot.cluster, snapshot.placement, 6)]
    assert max(held) < 1.3 * min(held)


def test_moves_go_where_traffic_can_be_gained_and_add_up():
    snapshot = bp.generate("rasa-m3")
    problem = Problem.of(snapshot, max_moves=100)
    sets = divide(problem.cluster, problem.start, 4)
    part = np.zeros(len(problem.cluster.machines.name), dtype=np.int64)
    for number, machines in enumerate(sets):
        part[machines] = number
    for limit in (0, 1, 7, 100):
        shares = divided_moves(problem, part, limit)
        assert shares.sum() == limit and shares.min() >= 0
    heaviest = int(np.argmax(np.bincount(part[problem.start.machine_of], minlength=4)))
    assert divided_moves(problem, part, 100).max() > 100 / 4, heaviest
