"""The performance model by hand, by simulation and by the laws that it must keep."""

import time
from dataclasses import replace

import numpy as np
import pytest

import bayplan as bp
from bayplan.errors import ModelError
from bayplan.model import (
    Cluster,
    Containers,
    Machines,
    Placement,
    Resource,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.score import gained_affinity
from bayplan.score.performance import Assumptions, pair_performance, performance_of, service_max_load, walks_of
from bayplan.score.performance.call_graph import call_graph
from bayplan.score.performance.simulation import simulate_walks

ROUTERS = ("random", "prefer-local", "spill-over")


def cluster_of(replicas, edges=(), *, machines=2, capacity=1000, cpu=100, clique=0.0, one_service=False):
    """Workloads that use `cpu` thousandths of a core each, on equal machines; edges are (a, b, weight)."""
    n_w, names = len(replicas), tuple(f"w{i}" for i in range(len(replicas)))
    a, b, weight = (np.array(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    use = np.broadcast_to(np.asarray(cpu, dtype=float), n_w)
    machine_names = tuple(f"m{i}" for i in range(machines))
    sizes = ints(np.full((machines, 1), capacity))
    workloads = Workloads.by_request(names, ints(np.zeros(n_w) if one_service else np.arange(n_w)), ints(use[:, None] * 2))
    services = ("all",) if one_service else names
    return Cluster(
        name="hand",
        resources=(Resource(name="cpu", scale=1000),),
        machines=Machines(name=machine_names, capacity=sizes, safety=sizes),
        levels=(machine_level(machine_names),),
        services=Services(name=services, clique=floats(np.full(len(services), clique))),
        workloads=replace(workloads, usage_mean=floats(use[:, None])),
        containers=Containers.replicas_of(names, replicas),
        traffic=Traffic.between(ints(a), ints(b), floats(weight)) if edges else Traffic.none(),
    )


def figures(cluster, machine_of, **assumptions):
    return performance_of(walks_of(cluster, Placement(machine_of=machine_of), Assumptions.of(assumptions)))


def pair(cluster, machine_of, **assumptions):
    return pair_performance(walks_of(cluster, Placement(machine_of=machine_of), Assumptions.of(assumptions)))


# ---- by hand ------------------------------------------------------------------------------------------------------------------


def test_a_pair_on_two_machines_and_on_one():
    cluster = cluster_of([1, 1], [(0, 1, 5.0)])
    apart, together = (figures(cluster, at, serialisation=0) for at in ([0, 1], [0, 0]))
    assert apart.mean_ms == pytest.approx(2 * 1 / (1 - 0.1) + 0.5)
    assert together.mean_ms == pytest.approx(2 * 1 / (1 - 0.2) + 0.05)
    assert (apart.local_share, together.local_share, apart.calls) == (0, 1, 1)
    assert apart.error_rate == pytest.approx(0.001)
    assert together.error_rate == pytest.approx(0.0001)
    assert (apart.max_load, together.max_load) == (pytest.approx(10), pytest.approx(5))


def test_two_exponential_visits_have_the_quantiles_of_an_erlang_distribution():
    cluster = cluster_of([1, 1], [(0, 1, 1.0)], cpu=0)
    made = figures(cluster, [0, 1], network_ms=0)
    assert made.p50_ms == pytest.approx(1.67835, rel=2e-3)  # of Erlang-2 with mean 2
    assert made.p95_ms == pytest.approx(4.74386, rel=2e-3)


def test_the_curve_is_what_free_container_measured():
    cluster = cluster_of([1, 1], [(0, 1, 1.0)], cpu=[700, 850])
    made = pair(cluster, [0, 1], queue="curve", network_ms=0)
    assert made.callee[0] == pytest.approx(500)  # halfway from 200 ms at 80 % to 800 ms at 90 %
    cool = pair(cluster_of([1, 1], [(0, 1, 1.0)], cpu=[300, 590]), [0, 1], queue="curve")
    assert cool.callee[0] == 50


def test_routers_keep_their_shares_of_calls_on_a_machine():
    cluster = cluster_of([2, 4], [(0, 1, 1.0)], machines=3)
    at = [0, 1, 0, 0, 0, 2]  # callers on 0 and 1; callees 3 on 0, 1 on 2
    local = {router: pair(cluster, at, router=router).local[0] for router in ROUTERS}
    assert local == {"random": pytest.approx(0.5 * 0.75), "prefer-local": pytest.approx(0.5), "spill-over": pytest.approx(0.5)}


def test_spill_over_is_the_gained_affinity():
    snapshot = bp.generate("boutique")
    made = figures(snapshot.cluster, snapshot.placement.machine_of)
    assert made.local_share == pytest.approx(gained_affinity(snapshot.cluster, snapshot.placement), abs=0.02)  # 2 unplaced


def test_prefer_local_makes_replicas_beside_callers_busier():
    cluster = cluster_of([1, 2], [(0, 1, 1.0)], cpu=[0, 300])
    walks = walks_of(cluster, Placement(machine_of=[0, 0, 1]), Assumptions(router="prefer-local", serialisation=0))
    assert walks.load.used.tolist() == pytest.approx([0.6, 0.0])


def test_calls_that_move_onto_a_machine_save_cpu():
    cluster, before, after = cluster_of([1, 1], [(0, 1, 1.0)]), Placement(machine_of=[0, 1]), Placement(machine_of=[0, 0])
    walks = walks_of(cluster, after, Assumptions(serialisation=0.1), before)
    assert walks.load.used[0] == pytest.approx(0.2 * 0.9)
    back = walks_of(cluster, before, Assumptions(serialisation=0.1), after)
    assert back.load.used.tolist() == pytest.approx([0.11, 0.11])


def test_a_clique_calls_any_other_container_of_its_service():
    cluster = cluster_of([2, 2], clique=1.0, one_service=True)
    made = figures(cluster, [0, 0, 0, 1], peer_calls=2)
    assert made.calls == pytest.approx(2)
    assert made.local_share == pytest.approx(3 / 6)
    assert made.mean_ms == pytest.approx(3 * (0.75 / 0.7 + 0.25 / 0.9) + 2 * (0.5 * 0.05 + 0.5 * 0.5))


def test_one_service_alone_can_take_what_its_machines_leave_it():
    cluster = cluster_of([1, 1, 1], [(0, 1, 1.0), (1, 2, 1.0)], cpu=[100, 300, 200])
    walks = walks_of(cluster, Placement(machine_of=[0, 0, 1]), Assumptions(serialisation=0))
    assert service_max_load(cluster, walks, 0) == pytest.approx(7)
    assert service_max_load(cluster, walks, 2) == pytest.approx(5)


# ---- the call graph -----------------------------------------------------------------------------------------------------------


def test_requests_enter_where_most_traffic_is_and_every_edge_carries_its_weight():
    cluster = cluster_of([1] * 4, [(0, 1, 1.0), (1, 2, 5.0), (2, 3, 2.0)])
    graph = call_graph(cluster, 3)
    calls = {(int(graph.row[a]), int(graph.row[b])) for a, b in zip(graph.caller, graph.callee, strict=True)}
    assert calls == {(2, 1), (1, 0), (2, 3)}
    walks = walks_of(cluster, Placement(machine_of=[0] * 4), Assumptions())
    assert walks.routing.flow == pytest.approx(graph.rate)
    assert graph.entry.tolist() == [0, 0, 7, 0]


@pytest.mark.parametrize("name", ["boutique", "rasa-m3"])
def test_a_call_graph_has_no_cycle_and_conserves_requests(name):
    snapshot = bp.generate(name)
    graph = call_graph(snapshot.cluster, 3)
    assert (graph.depth[graph.callee] > graph.depth[graph.caller]).all()
    made, got = (np.bincount(end, weights=graph.rate, minlength=len(graph.row)) for end in (graph.caller, graph.callee))
    assert graph.entry + got == pytest.approx(np.maximum(made, got))
    assert (np.bincount(graph.caller, weights=graph.go_on) <= 1 + 1e-12).all()


# ---- at the limits ------------------------------------------------------------------------------------------------------------


def test_without_traffic_there_is_nothing_to_model():
    assert walks_of(cluster_of([1, 1]), Placement(machine_of=[0, 1]), Assumptions()) is None
    with pytest.raises(bp.UsageError, match="no traffic"):
        bp.performance(_without_traffic())


def _without_traffic():
    shop = bp.generate("boutique")
    return replace(shop, cluster=replace(shop.cluster, traffic=Traffic.none()))


def test_without_cpu_visits_take_their_service_time_and_nothing_limits_the_load():
    cluster = cluster_of([1, 1], [(0, 1, 1.0)])
    bare = replace(cluster, resources=(Resource(name="memory"),))
    made = figures(bare, [0, 1])
    assert made.mean_ms == pytest.approx(2.5)
    assert made.max_load is None


def test_a_saturated_machine_is_counted_and_stays_finite():
    cluster = cluster_of([1, 1], [(0, 1, 1.0)], cpu=[5000, 100])
    made = figures(cluster, [0, 1])
    assert made.saturated == 1
    assert np.isfinite([made.mean_ms, made.p50_ms, made.p95_ms, made.error_rate, made.max_load]).all()
    assert made.max_load == pytest.approx(0.2)
    assert made.mean_ms == pytest.approx(1 / 0.02 + 1 / 0.9 + 0.5)


def test_a_machine_without_cpu_that_runs_something_is_saturated():
    cluster = cluster_of([1, 1], [(0, 1, 1.0)])
    none = replace(cluster, machines=replace(cluster.machines, capacity=ints([[1000], [0]]), safety=ints([[1000], [0]])))
    assert figures(none, [0, 1]).saturated == 1


def test_calls_to_a_workload_that_does_not_run_fail():
    cluster = cluster_of([1, 1, 1], [(0, 1, 3.0), (0, 2, 1.0)], cpu=0)
    made = figures(cluster, [0, 0, -1], network_error=0, ipc_error=0)
    assert made.error_rate == pytest.approx(0.25)
    assert made.mean_ms == pytest.approx(1 + 0.75 * 1.05 + 0.25 * 0.5)
    nothing = figures(cluster, [-1, -1, -1])
    assert (nothing.error_rate, nothing.mean_ms, nothing.p95_ms) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network_ms": -1}, "assumption network_ms is '-1'; expected a number of 0 or more"),
        ({"network_ms": "fast"}, "assumption network_ms is 'fast'; expected a number of 0 or more"),
        ({"ipc_error": 2}, "assumption ipc_error is '2'; expected a number of 0 to 1"),
        ({"router": "nearest"}, "assumption router is 'nearest'; expected one of spill-over, prefer-local, random"),
        ({"peer_calls": 1.5}, "assumption peer_calls is '1.5'; expected a whole number"),
        ({"load": float("nan")}, "assumption load is 'nan'; expected a number of 0 or more"),
        ({"network": 1}, "no assumption 'network'; expected one of .*; did you mean 'network_ms'"),
    ],
)
def test_an_assumption_that_makes_no_sense_is_named(given, message):
    with pytest.raises(ModelError, match=message):
        Assumptions.of(given)


# ---- formula and simulation ---------------------------------------------------------------------------------------------------


def random_state_of(seed):
    rng = np.random.default_rng(seed)
    n_w, n_m = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    replicas = rng.integers(1, 5, n_w)
    edges = [
        (a, b, float(rng.uniform(0.1, 3))) for a in range(n_w) for b in range(a + 1, n_w) if rng.random() < 0.6 or b == a + 1
    ]
    cpu = rng.uniform(1, 60, n_w) * 8 / replicas.sum() * n_m
    cluster = cluster_of(replicas, edges, machines=n_m, cpu=np.ceil(cpu))
    return cluster, rng.integers(0, n_m, int(replicas.sum()))


@pytest.mark.parametrize("queue", ["ps", "curve"])
@pytest.mark.parametrize("seed", range(9))
def test_the_formula_agrees_with_the_simulation(seed, queue):
    cluster, machine_of = random_state_of(seed)
    given = Assumptions(router=ROUTERS[seed % 3], queue=queue, network_error=0.05)
    walks = walks_of(cluster, Placement(machine_of=machine_of), given)
    made, run = performance_of(walks), simulate_walks(walks, requests=60_000, seed=seed)
    assert abs(made.mean_ms - run.mean_ms) < 2.5 * run.half_width_ms
    assert made.p50_ms == pytest.approx(run.quantile_ms(0.5), rel=0.06)
    assert made.p95_ms == pytest.approx(run.quantile_ms(0.95), rel=0.06)
    assert made.local_share == pytest.approx(run.local_share, abs=0.015)
    assert made.error_rate == pytest.approx(run.error_rate, abs=0.006)


def test_the_same_seed_simulates_the_same_and_another_does_not():
    shop = bp.generate("boutique")
    first, again, other = (bp.performance(shop, distribution=True, requests=500, seed=seed).simulated for seed in (3, 3, 4))
    assert first.latency_ms.tolist() == again.latency_ms.tolist() != other.latency_ms.tolist()


def test_too_few_simulated_requests_are_refused():
    with pytest.raises(bp.UsageError, match="5 simulated requests: expected 20 or more"):
        bp.performance(bp.generate("boutique"), distribution=True, requests=5)


# ---- laws ---------------------------------------------------------------------------------------------------------------------


def at_equal_loads(cluster):
    """The cluster with machines that are all idle, whatever runs there."""
    return replace(cluster, resources=(Resource(name="none"),))


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("seed", range(8))
def test_a_pair_on_one_machine_has_the_fastest_calls_at_equal_loads(router, seed):
    cluster, machine_of = random_state_of(seed)
    owner = cluster.containers.workload
    together = np.where((owner == cluster.traffic.a[0]) | (owner == cluster.traffic.b[0]), 0, machine_of)
    before, after = (pair(at_equal_loads(cluster), at, router=router) for at in (machine_of, together))
    assert after.local[0] == pytest.approx(1.0)
    assert after.latency_ms[0] <= before.latency_ms[0] + 1e-12
    assert after.error_rate[0] <= before.error_rate[0] + 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_under_prefer_local_a_callee_that_joins_a_caller_makes_no_call_of_the_pair_slower(seed):
    cluster, machine_of = random_state_of(seed)
    graph, owner = call_graph(cluster, 3), cluster.containers.workload
    caller, callee = (owner == graph.row[end[0]] for end in (graph.caller, graph.callee))
    alone = [c for c in np.flatnonzero(callee) if machine_of[c] not in machine_of[caller]]
    joined = np.array(machine_of)
    joined[alone[:1]] = machine_of[caller][0]
    before, after = (pair(at_equal_loads(cluster), at, router="prefer-local") for at in (machine_of, joined))
    assert after.latency_ms[0] <= before.latency_ms[0] + 1e-12
    assert after.local[0] >= before.local[0] - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_more_load_is_slower_and_fails_more_while_the_most_load_is_the_same(seed):
    cluster, machine_of = random_state_of(seed)
    low, high = (figures(cluster, machine_of, load=load) for load in (0.5, 1.0))
    assert low.mean_ms < high.mean_ms
    assert low.p95_ms < high.p95_ms
    assert low.error_rate <= high.error_rate
    assert low.max_load == high.max_load


@pytest.mark.parametrize("seed", range(6))
def test_the_policies_stand_in_their_order(seed):
    cluster, machine_of = random_state_of(seed)
    local = {router: pair(cluster, machine_of, router=router).local for router in ROUTERS}
    assert (local["random"] <= local["spill-over"] + 1e-12).all()
    assert pair(cluster, machine_of, router="random").latency_ms.sum() >= pair(cluster, machine_of).latency_ms.sum() - 1e-9


def test_the_largest_cluster_takes_well_under_a_second():
    snapshot = bp.generate("rasa-m2")
    started = time.process_time()
    performance_of(walks_of(snapshot.cluster, snapshot.placement, Assumptions()))
    assert time.process_time() - started < 2.0  # 0.2 s on a quiet machine
