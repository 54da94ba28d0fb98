import json
from dataclasses import replace

import numpy as np
import pytest
from experiments.calibration import losses, run
from experiments.calibration.measured import MEASURED
from experiments.calibration.quantities import quantities

from bayplan.check import violations
from bayplan.decide.collocate.partition import affinity_graph
from bayplan.decide.collocate.partition.multi_stage import multi_stage
from bayplan.errors import ModelError, UsageError
from bayplan.formats.rasa import read_rasa
from bayplan.generate.rasa import make, rasa_m1, rasa_m3
from bayplan.generate.rasa.cluster import filters_of, make_cluster, original_placement
from bayplan.generate.rasa.machines import apportion, joining_order
from bayplan.generate.rasa.settings import M1, M2, M3, M4, RULES, scaled
from bayplan.generate.rasa.workloads import replica_counts
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    Cluster,
    Containers,
    Machines,
    Placement,
    Resource,
    Services,
    Traffic,
    Workloads,
    machine_level,
)

TABLE_II = {
    "rasa-m1": (5904, 25640, 977),
    "rasa-m2": (10180, 152833, 5284),
    "rasa-m3": (547, 3485, 96),
    "rasa-m4": (10682, 113261, 4365),
}


@pytest.fixture(scope="module")
def m3():
    return rasa_m3(seed=0)


def disagreeing(snapshot):
    made = quantities(snapshot)
    return {name: (fact.value, made[name]) for name, fact in MEASURED.items() if fact.agrees(made[name]) is False}


def rules_of(cluster, kind):
    return [rule for rule in cluster.rules if isinstance(rule, kind)]


def test_rasa_m3_agrees_with_what_was_measured_on_m3(m3):
    assert disagreeing(m3) == {}


@pytest.mark.data
def test_what_was_measured_on_m3_is_so(data_folder):
    path = data_folder / "rasa" / "M3.json"
    real = quantities(read_rasa(json.loads(path.read_text()), str(path)))
    assert set(real) == set(MEASURED)
    assert real == pytest.approx({name: fact.value for name, fact in MEASURED.items()}, rel=1e-3)


@pytest.mark.data
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rasa_m3_agrees_with_the_real_m3(data_folder, seed):
    path = data_folder / "rasa" / "M3.json"
    real = quantities(read_rasa(json.loads(path.read_text()), str(path)))
    made = quantities(rasa_m3(seed=seed))
    assert [n for n, fact in MEASURED.items() if fact._replace(value=real[n]).agrees(made[n]) is False] == []


@pytest.mark.parametrize("settings", [M1, M2, M3, M4], ids=lambda settings: settings.name)
def test_sizes_are_those_of_table_ii(settings):
    assert (settings.services, settings.containers, settings.machines) == TABLE_II[settings.name]
    counts = replica_counts(settings)
    assert (len(counts), counts.sum(), counts.min()) == (settings.services, settings.containers, 1)


@pytest.mark.parametrize(("settings", "factor"), [(M2, 0.1), (M2, 6), (M3, 0.2), (M1, 2.5)])
def test_a_scale_multiplies_services_containers_and_machines(settings, factor):
    large = scaled(settings, factor)
    assert (large.services, large.containers, large.machines) == tuple(round(factor * n) for n in TABLE_II[settings.name])
    assert large.rank_shift / large.services == pytest.approx(settings.rank_shift / settings.services, rel=0.01)
    assert replica_counts(large).sum() == large.containers


def test_a_scaled_cluster_keeps_every_rule_and_says_its_scale():
    made = rasa_m3(seed=0, scale=2.0)
    sizes = (len(made.cluster.workloads.name), len(made.cluster.containers.name), len(made.cluster.machines.name))
    assert sizes == (1094, 6970, 192)
    assert made.notes[0] == "generated: rasa-m3, seed 0, scale 2"
    assert not len(made.placement.unplaced) and not list(violations(made.cluster, made.placement))


@pytest.mark.parametrize("factor", [0, -1, 0.001, 1e6, float("nan"), float("inf")])
def test_a_scale_that_makes_no_cluster_is_refused(factor):
    with pytest.raises(UsageError, match=r"generator 'rasa-m2': scale is .*; expected 0.01 to 65"):
        scaled(M2, factor)


def test_a_scale_of_one_changes_nothing():
    assert scaled(M2, 1.0) is M2


@pytest.mark.parametrize("snapshot", [rasa_m3, rasa_m1])
def test_original_places_every_container_and_breaks_no_rule(snapshot):
    made = snapshot(seed=4)
    cluster = made.cluster
    sizes = (len(cluster.workloads.name), len(cluster.containers.name), len(cluster.machines.name))
    assert sizes == TABLE_II[cluster.name]
    assert len(made.placement.unplaced) == 0
    assert list(violations(cluster, made.placement)) == []


def test_the_rules_can_be_broken(m3):
    # all containers on one machine: capacity, allow and anti-affinity are all there to object
    crowd = Placement(machine_of=np.zeros(M3.containers, dtype=np.int64))
    kinds = {violation.rule for violation in violations(m3.cluster, crowd)}
    assert {"capacity", "allow", "anti-affinity"} <= kinds


def test_stated_shares_of_services_have_rules(m3):
    cluster = m3.cluster
    allow, apart = rules_of(cluster, Allow), rules_of(cluster, AntiAffinity)
    assert {rule.machines: len(rule.workloads) for rule in allow} == {n: round(s * 547) for n, s in RULES.allow.items()}
    alone = [rule for rule in apart if len(rule.workloads) == 1]
    assert len(alone) == round(RULES.alone * np.count_nonzero(cluster.replicas > 1))
    groups = [rule.workloads for rule in apart if len(rule.workloads) > 1]
    assert len(groups) == round(RULES.sets_per_service * 547)
    members = [w for group in groups for w in group]
    assert len(members) == len(set(members))
    assert {len(group) for group in groups} <= {3, 4, 5, 6}


def test_rules_are_a_setting():
    free = replace(M3, rules=replace(RULES, allow={}, alone=0.0, sets_per_service=0.0))
    assert [rule.kind for rule in make(free, 0).cluster.rules] == ["capacity"]


def test_equal_seeds_give_equal_snapshots_and_others_do_not(m3):
    again, other = rasa_m3(seed=0), rasa_m3(seed=1)
    for name in ("replicas", "traffic.weight", "workloads.request", "machines.capacity"):
        values = [_get(snapshot.cluster, name) for snapshot in (m3, again, other)]
        assert np.array_equal(values[0], values[1])
        assert not np.array_equal(values[0], values[2])
    assert m3.cluster.rules == again.cluster.rules
    assert np.array_equal(m3.placement.machine_of, again.placement.machine_of)


def _get(value, path):
    for part in path.split("."):
        value = getattr(value, part)
    return value


def test_names_are_short_and_amounts_are_natural(m3):
    cluster = m3.cluster
    assert (cluster.workloads.name[12], cluster.machines.name[5]) == ("svc-12", "node-05")
    first = np.flatnonzero(cluster.containers.workload == 12)[0]
    assert cluster.containers.name[first] == "svc-12-0"
    assert not (cluster.workloads.request[:, 0] % 50).any()
    assert not (cluster.workloads.request[:, 1] % 2**20).any()


def test_every_service_may_use_enough_machines(m3):
    cluster = m3.cluster
    room = np.full(547, 96)
    for rule in rules_of(cluster, Allow):
        room[list(rule.workloads)] = len(cluster.machine_sets[rule.machines])
    for rule in rules_of(cluster, AntiAffinity):
        members = list(rule.workloads)
        assert rule.limit * room[members].min() >= 4 * cluster.replicas[members].sum()


def small_cluster(capacity, request, replicas):
    names = tuple(f"svc-{w}" for w in range(len(request)))
    machines = Machines(name=("x", "y"), capacity=capacity, safety=capacity)
    zero = np.zeros_like(request)
    return Cluster(
        name="small",
        resources=(Resource(name="cpu"),),
        machines=machines,
        levels=(machine_level(machines.name),),
        services=Services(name=names, clique=np.zeros(len(names))),
        workloads=Workloads(
            name=names, service=np.arange(len(names)), request=request, usage_mean=request, usage_std=zero, limit=request
        ),
        containers=Containers(
            name=tuple(f"c{c}" for c in range(sum(replicas))), workload=np.repeat(np.arange(len(names)), replicas)
        ),
        traffic=Traffic.none(),
        rules=(Capacity(resources=(0,)),),
    )


def test_containers_that_find_no_machine_arrive_first_in_the_next_round():
    cluster = small_cluster([[10], [10]], np.array([[6], [4]]), [2, 2])
    rounds = set()
    for seed in range(20):
        placement, needed = original_placement(cluster, np.random.default_rng(seed))
        rounds.add(needed)
        assert list(violations(cluster, placement)) == []
        assert len(placement.unplaced) == 0
    assert rounds == {1, 2}  # both small ones come first, or not


def test_the_bar_moves_while_containers_are_placed():
    ticks = []
    rasa_m1(progress=ticks.append)
    done = [tick.done for tick in ticks if tick.stage == "placing"]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, 1.0)
    assert max(np.diff(done)) < 0.1


def test_every_allow_rule_of_a_service_holds():
    cluster = rasa_m3().cluster
    both = (Allow(workloads=(3, 4), machines="ipv4"), Allow(workloads=(4,), machines="large-memory"))
    twice = replace(cluster, rules=(Capacity(resources=(0, 1)), *both))
    placement, _ = original_placement(twice, np.random.default_rng(0))
    assert list(violations(twice, placement)) == []
    order = np.random.default_rng(1).permutation(96)
    filters = filters_of(twice, order)
    inside = set(cluster.machine_sets["ipv4"]) & set(cluster.machine_sets["large-memory"])
    assert set(order[filters.allowed[filters.allow_row[4]]]) == inside


def test_machines_that_stand_idle_in_m3_join_last(m3):
    machines = m3.cluster.machines
    order = joining_order(machines, np.random.default_rng(3))
    assert sorted(order) == list(range(96))
    assert machines.capacity[order[-12:], 0].tolist() == [71_600, 71_400, 71_400, 71_300, 71_300] + [29_400] * 7


def test_a_cluster_that_is_too_small_is_said_so():
    cluster = small_cluster([[10], [10]], np.array([[7]]), [3])
    with pytest.raises(ModelError, match="1 containers found no machine"):
        original_placement(cluster, np.random.default_rng(0))


def test_apportions_by_largest_remainders():
    assert apportion(10, [1, 1, 1]).tolist() == [4, 3, 3]
    assert apportion(96, [39, 17, 14, 11, 7, 4, 1, 1, 1, 1]).tolist() == [39, 17, 14, 11, 7, 4, 1, 1, 1, 1]


def test_traffic_follows_the_shifted_power_law(m3):
    # [RASA] Assumption 4.1: falling totals, in a graph where every active service has an edge
    cluster = m3.cluster
    total = np.bincount(cluster.traffic.a, cluster.traffic.weight, 547) + np.bincount(
        cluster.traffic.b, cluster.traffic.weight, 547
    )
    share = np.sort(total[total > 0])[::-1] / total.sum()
    law = (np.arange(1, len(share) + 1) + M3.rank_shift) ** -3.26
    assert np.abs(np.cumsum(share) - np.cumsum(law / law.sum())).max() < 0.05


def test_the_tables_in_the_docs_are_those_of_the_csv_files():
    text = run.DOCS.read_text()
    assert run.written(text, run.HERE) == text


def test_the_csv_file_is_what_the_generator_gives_now(m3):
    noted = {row["quantity"]: float(row["generated"]) for row in run.rows(run.HERE / run.M3) if row["seed"] == "0"}
    assert noted == pytest.approx(quantities(m3), rel=1e-4)


@pytest.mark.parametrize("settings", [M1, M2, M4], ids=lambda settings: settings.name)
def test_the_partition_loses_what_the_authors_report(settings):
    lost = [float(row["lost"]) for row in run.rows(run.HERE / run.LOSSES) if row["cluster"] == settings.name]
    assert len(lost) == 10 * losses.PARTITIONS
    assert sum(lost) / len(lost) == pytest.approx(losses.REPORTED[settings.name], abs=0.004)
    graph = affinity_graph(make_cluster(settings, np.random.default_rng(0)))
    assert multi_stage(graph, masters=None, seed=0).lost == pytest.approx(lost[0], abs=1e-6)


def test_a_quick_run_measures_rasa_m3_and_a_second_one_nothing(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    first = (tmp_path / run.M3).read_text()
    assert {row["quantity"] for row in run.rows(tmp_path / run.M3)} == set(MEASURED)
    assert {row["cluster"] for row in run.rows(tmp_path / run.ALL)} == {"rasa-m3"}
    assert "| edges | 344 | 344 (344 .. 344) | 10 % | 1 of 1 |" in (tmp_path / run.DOCS.name).read_text()
    monkeypatch.setattr(run, "append", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])
    assert (tmp_path / run.M3).read_text() == first
