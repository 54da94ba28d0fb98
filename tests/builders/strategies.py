"""Hypothesis strategies for every value of the model: small, quick to draw, easy to shrink.

    from tests.builders.strategies import clusters, placements, valid_snapshots

Sizes: 1-6 machines, 1-8 workloads of 0-3 replicas, 1-4 resources, 1-3 levels (not nested).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Allow,
    AntiAffinity,
    BalanceTarget,
    Capacity,
    Cluster,
    ClusterRequest,
    ClusterRequests,
    CoLocate,
    Confidence,
    Containers,
    Dependency,
    Interference,
    Level,
    Machines,
    MoveCosts,
    Objective,
    Pinned,
    Placement,
    Resource,
    Rule,
    Services,
    Skew,
    Snapshot,
    Spread,
    Term,
    TimedRequests,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    Zones,
    floats,
    ints,
    machine_level,
)

RESOURCES = (
    Resource(name="cpu", scale=1000, unit="cores"),
    Resource(name="memory", unit="bytes"),
    Resource(name="gpu"),
    Resource(name="disk", unit="bytes"),
)
ALPHAS = (0.5, 0.9, 0.99, 0.999)


def tables(rows: int, columns: int, elements: SearchStrategy) -> SearchStrategy[np.ndarray]:
    """A (row, column) array of drawn elements."""
    cells = st.lists(elements, min_size=rows * columns, max_size=rows * columns)
    return cells.map(lambda values: np.array(values).reshape(rows, columns))


def subsets(size: int, least: int = 1) -> SearchStrategy[tuple[int, ...]]:
    """Some of 0..size-1, ascending."""
    index = st.integers(0, size - 1)
    return st.sets(index, min_size=least, max_size=size).map(sorted).map(tuple)


# ---- clusters ------------------------------------------------------------------------------------------------------------------


@st.composite
def clusters(
    draw: DrawFn, *, rules: bool = True, max_machines: int = 6, max_workloads: int = 8, min_replicas: int = 0
) -> Cluster:
    """Any valid cluster; its rules may contradict each other and its machines may be too small."""
    bare = draw(bare_clusters(max_machines=max_machines, max_workloads=max_workloads, min_replicas=min_replicas))
    return replace(bare, rules=draw(rule_lists(bare))) if rules else bare


@st.composite
def bare_clusters(draw: DrawFn, *, max_machines: int = 6, max_workloads: int = 8, min_replicas: int = 0) -> Cluster:
    """A cluster without rules, but with machine sets for them."""
    n_m, n_w = draw(st.integers(1, max_machines)), draw(st.integers(1, max_workloads))
    resources = RESOURCES[: draw(st.integers(1, len(RESOURCES)))]
    machines = draw(_machines(n_m, len(resources)))
    n_s = draw(st.integers(1, n_w))
    replicas = draw(st.lists(st.integers(min_replicas, 3), min_size=n_w, max_size=n_w))
    owner = [(w, i) for w, count in enumerate(replicas) for i in range(count)]
    clique = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n_s, max_size=n_s))
    sets = draw(st.lists(subsets(n_m), max_size=2))
    return Cluster(
        name="drawn",
        resources=resources,
        machines=machines,
        levels=(machine_level(machines.name), *draw(_higher_levels(n_m))),
        services=Services(name=_names("s", n_s), clique=floats(clique)),
        workloads=draw(_workloads(n_w, n_s, len(resources))),
        containers=Containers(name=tuple(f"w-{w}/{i}" for w, i in owner), workload=ints([w for w, _ in owner])),
        traffic=draw(_traffic(n_w)),
        machine_sets={f"set-{i}": ints(machines_in) for i, machines_in in enumerate(sets)},
    )


def _names(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}-{i}" for i in range(count))


@st.composite
def _machines(draw: DrawFn, n_m: int, n_r: int) -> Machines:
    """Some have nothing of some resource; safety is at most the capacity."""
    capacity = draw(tables(n_m, n_r, st.integers(0, 12)))
    spare = draw(tables(n_m, n_r, st.integers(0, 4))) if draw(st.booleans()) else 0
    return Machines(name=_names("m", n_m), capacity=ints(capacity), safety=ints(np.maximum(capacity - spare, 0)))


@st.composite
def _higher_levels(draw: DrawFn, n_m: int) -> list[Level]:
    levels = []
    for name in ("rack", "zone")[: draw(st.integers(0, 2))]:
        group_of = draw(st.lists(st.integers(0, 2), min_size=n_m, max_size=n_m))
        levels.append(Level(name=name, group=_names(name, 3), group_of=ints(group_of)))  # a group may be empty
    return levels


@st.composite
def _workloads(draw: DrawFn, n_w: int, n_s: int, n_r: int) -> Workloads:
    request = draw(tables(n_w, n_r, st.integers(0, 6)))
    mean, std = request.astype(float), np.zeros((n_w, n_r))
    if draw(st.booleans()):
        mean = mean * draw(tables(n_w, n_r, st.sampled_from([0.25, 0.5, 1.0])))
        std = draw(tables(n_w, n_r, st.sampled_from([0.0, 0.5, 1.0, 2.0])))
    limit = np.full((n_w, n_r), NO_LIMIT)
    if draw(st.booleans()):
        limit = np.where(draw(tables(n_w, n_r, st.booleans())), request + draw(tables(n_w, n_r, st.integers(1, 6))), limit)
    return Workloads(
        name=_names("w", n_w),
        service=ints(draw(st.lists(st.integers(0, n_s - 1), min_size=n_w, max_size=n_w))),
        request=ints(request),
        usage_mean=floats(mean),
        usage_std=floats(std),
        limit=ints(limit),
    )


@st.composite
def _traffic(draw: DrawFn, n_w: int) -> Traffic:
    if n_w < 2:
        return Traffic.none()
    w = st.integers(0, n_w - 1)
    pairs = draw(st.lists(st.tuples(w, w, st.sampled_from([0.5, 1.0, 2.0, 7.0])), max_size=8))
    edges = [edge for edge in pairs if edge[0] != edge[1]]
    if not edges:
        return Traffic.none()
    a, b, weight = zip(*edges, strict=True)
    return Traffic.between(ints(a), ints(b), floats(weight))


# ---- rules ---------------------------------------------------------------------------------------------------------------------


@st.composite
def rule_lists(draw: DrawFn, cluster: Cluster) -> tuple[Rule, ...]:
    """Any mix of the eleven rules, kept or not."""
    many = [_anti_affinity(cluster), _spread(cluster), skew_rules(cluster), _dependency(cluster), _interference(cluster)]
    if cluster.machine_sets:
        many.append(_allow(cluster))
    rules = draw(st.lists(st.one_of(many), max_size=6))
    return (*draw(_capacity(cluster)), *rules, *draw(_co_locate(cluster)), *draw(_single_rules(cluster)))


@st.composite
def _capacity(draw: DrawFn, cluster: Cluster) -> list[Rule]:
    n_r = len(cluster.resources)
    resources = draw(st.one_of(st.just(tuple(range(n_r))), subsets(n_r, 0)))
    return [Capacity(resources=resources)] if resources else []


def _anti_affinity(cluster: Cluster) -> SearchStrategy[AntiAffinity]:
    workloads = subsets(len(cluster.workloads.name))
    return st.builds(AntiAffinity, workloads=workloads, limit=st.integers(1, 3), level=_levels(cluster))


def _spread(cluster: Cluster) -> SearchStrategy[Spread]:
    return st.builds(Spread, service=_services(cluster), minimum=st.integers(1, 3), level=_levels(cluster))


def skew_rules(cluster: Cluster) -> SearchStrategy[Skew]:
    n_w = len(cluster.workloads.name)
    return st.builds(
        Skew,
        workload=st.integers(0, n_w - 1),
        counted=st.one_of(st.just(()), subsets(n_w)),
        limit=st.sampled_from([1, 1, 2]),
        level=_levels(cluster),
        machines=st.sampled_from(["", "", *sorted(cluster.machine_sets)]),
        min_groups=st.sampled_from([0, 0, 0, 2, 4]),
    )


def _dependency(cluster: Cluster) -> SearchStrategy[Dependency]:
    return st.builds(Dependency, service=_services(cluster), on=_services(cluster), level=_levels(cluster))


def _interference(cluster: Cluster) -> SearchStrategy[Interference]:
    w = st.integers(0, len(cluster.workloads.name) - 1)
    drawn = st.builds(Interference, a=w, b=w, limit=st.integers(0, 2), level=_levels(cluster))
    return drawn.map(lambda rule: replace(rule, limit=1) if rule.a == rule.b and not rule.limit else rule)  # 0 would forbid `a`


def _allow(cluster: Cluster) -> SearchStrategy[Allow]:
    sets = st.sampled_from(sorted(cluster.machine_sets))
    return st.builds(Allow, workloads=subsets(len(cluster.workloads.name)), machines=sets)


def _levels(cluster: Cluster) -> SearchStrategy[int]:
    return st.integers(0, len(cluster.levels) - 1)


def _services(cluster: Cluster) -> SearchStrategy[int]:
    return st.integers(0, len(cluster.services.name) - 1)


@st.composite
def _co_locate(draw: DrawFn, cluster: Cluster) -> list[Rule]:
    """Up to two groups that share no container."""
    n_c = len(cluster.containers.name)
    label = draw(st.lists(st.integers(0, 4), min_size=n_c, max_size=n_c)) if draw(st.booleans()) else []
    groups = [tuple(c for c, k in enumerate(label) if k == wanted) for wanted in (1, 2)]
    return [CoLocate(containers=group) for group in groups if len(group) > 1]


@st.composite
def _single_rules(draw: DrawFn, cluster: Cluster) -> list[Rule]:
    """Transient and confidence: at most one per resource; pinned: at most one."""
    rules: list[Rule] = []
    n_c, n_r = len(cluster.containers.name), len(cluster.resources)
    modes = st.sampled_from(TransientMode)
    rules += [Transient(resource=r, mode=draw(modes)) for r in draw(st.one_of(st.just(()), subsets(n_r)))]
    if n_c and draw(st.booleans()):
        rules.append(Pinned(containers=draw(subsets(n_c))))
    alphas = st.sampled_from(ALPHAS)
    rules += [Confidence(resource=r, alpha=draw(alphas)) for r in draw(st.one_of(st.just(()), subsets(n_r)))]
    return rules


# ---- placements, objectives, snapshots -----------------------------------------------------------------------------------------


def placements(cluster: Cluster, complete: bool | None = None) -> SearchStrategy[Placement]:
    """Any placement; `complete`: True places every container, False leaves at least one out if there is one."""
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    machine_lists = st.lists(st.integers(0 if complete else UNPLACED, n_m - 1), min_size=n_c, max_size=n_c)
    if complete is False and n_c:
        machine_lists = st.builds(_leave_out, machine_lists, st.integers(0, n_c - 1))
    return machine_lists.map(lambda machine_of: Placement(machine_of=ints(machine_of)))


def _leave_out(machine_of: list[int], c: int) -> list[int]:
    return [*machine_of[:c], UNPLACED, *machine_of[c + 1 :]]


@st.composite
def objectives(draw: DrawFn, cluster: Cluster) -> Objective:
    """The default of [FreeContainer], free weights, or GMRP's costs."""
    make: Callable[[Cluster], SearchStrategy[Objective]] = draw(
        st.sampled_from([lambda cluster: st.just(Objective.default(cluster)), _free_objectives, gmrp_objectives])
    )
    return draw(make(cluster))


@st.composite
def _free_objectives(draw: DrawFn, cluster: Cluster) -> Objective:
    n_r, n_l = len(cluster.resources), len(cluster.levels)
    upper = np.triu(draw(tables(n_r, n_r, st.sampled_from([0.25, 0.5, 1.0, 2.0]))), 1)
    ratio = np.where(upper > 0, upper, 1.0)
    ratio = np.where(np.tril(np.ones((n_r, n_r)), -1) > 0, 1.0 / ratio.T, ratio)
    terms = [Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION, Term.OVERLOAD, Term.AFFINITY, Term.MOVES]
    return Objective(
        weight=draw(st.dictionaries(st.sampled_from(terms), st.sampled_from([0.0, 0.5, 1.0, 10.0]), min_size=1)),
        ratio=floats(ratio),
        hop=floats(draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n_l, max_size=n_l))),
        overload_weight=ints(draw(st.lists(st.integers(0, 10), min_size=n_r, max_size=n_r))),
        explicit=True,
    )


@st.composite
def gmrp_objectives(draw: DrawFn, cluster: Cluster) -> Objective:
    """GMRP's overload, balance targets and move costs; weight 1 each."""
    n_r, n_m, n_w = len(cluster.resources), len(cluster.machines.name), len(cluster.workloads.name)
    r = st.integers(0, n_r - 1)
    target = st.builds(BalanceTarget, r1=r, r2=r, target=st.integers(1, 3), weight=st.integers(0, 5))
    distance = (
        draw(tables(n_m, n_m, st.integers(0, 9))) * (1 - np.eye(n_m, dtype=int)) if draw(st.booleans()) else np.zeros((0, 0))
    )
    weights = {name: draw(st.integers(0, 9)) for name in ("container_weight", "service_weight", "machine_weight")}
    price = draw(st.lists(st.integers(0, 9), min_size=n_w, max_size=n_w))
    return replace(
        Objective.default(cluster),
        weight={Term.OVERLOAD: 1.0, Term.TARGETS: 1.0, Term.MOVE_COST: 1.0},
        overload_weight=ints(draw(st.lists(st.integers(0, 10), min_size=n_r, max_size=n_r))),
        targets=tuple(draw(st.lists(target, max_size=2))),
        move_costs=MoveCosts(container=ints(price), machine=ints(distance), **weights),
        explicit=True,
    )


@st.composite
def every_term_objectives(draw: DrawFn, cluster: Cluster) -> Objective:
    """Any weights of all eight terms, any ratios, hops, targets and move costs."""
    free, costs = draw(_free_objectives(cluster)), draw(gmrp_objectives(cluster))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 10.0]), min_size=len(Term), max_size=len(Term)))
    return replace(costs, weight=dict(zip(Term, weights, strict=True)), ratio=free.ratio, hop=free.hop)


@st.composite
def snapshots(draw: DrawFn, complete: bool | None = None) -> Snapshot:
    """Any cluster with any placement and any objective."""
    cluster = draw(clusters())
    return Snapshot(cluster=cluster, placement=draw(placements(cluster, complete)), objective=draw(objectives(cluster)))


@st.composite
def valid_snapshots(draw: DrawFn, complete: bool | None = None, *, max_machines: int = 6, max_workloads: int = 8) -> Snapshot:
    """A placement that keeps every rule: it is drawn first, then machines and rules are made to fit it."""
    bare = draw(bare_clusters(max_machines=max_machines, max_workloads=max_workloads))
    placement = draw(placements(bare, complete))
    roomy = replace(bare, machines=_grown(bare, placement))
    cluster = replace(roomy, machine_sets=_grown_sets(roomy, placement))
    kept = tuple(rule for drawn in draw(rule_lists(cluster)) if (rule := _kept(cluster, placement, drawn)) is not None)
    cluster = replace(cluster, rules=kept)
    return Snapshot(cluster=cluster, placement=placement, objective=draw(objectives(cluster)))


def _grown(cluster: Cluster, placement: Placement) -> Machines:
    """Machines that hold what runs on them at any confidence of ALPHAS; unused ones keep their size."""
    capacity = cluster.machines.capacity.copy()
    for m in range(len(capacity)):
        w = cluster.containers.workload[placement.machine_of == m]
        mean, var = cluster.workloads.usage_mean[w].sum(axis=0), (cluster.workloads.usage_std[w] ** 2).sum(axis=0)
        need = np.maximum(cluster.workloads.request[w].sum(axis=0), np.ceil(mean + 3.1 * np.sqrt(var)))
        capacity[m] = np.maximum(capacity[m], need)
    return replace(cluster.machines, capacity=ints(capacity), safety=ints(np.minimum(cluster.machines.safety, capacity)))


def _grown_sets(cluster: Cluster, placement: Placement) -> dict[str, np.ndarray]:
    """The first set also has every machine in use, so that some `allow` rules can be kept."""
    used = placement.machine_of[placement.placed]
    return {
        name: ints(np.union1d(machines, used) if name == "set-0" else machines) for name, machines in cluster.machine_sets.items()
    }


def _kept(cluster: Cluster, placement: Placement, rule: Rule) -> Rule | None:
    """The rule, weakened until the placement keeps it; None where that cannot be."""
    if isinstance(rule, AntiAffinity):
        together = _tally(cluster, placement, rule.workloads, rule.level)
        return replace(rule, limit=max(rule.limit, *together.values(), 1))
    if isinstance(rule, Spread):
        used = _tally(cluster, placement, _members(cluster, rule.service), rule.level)
        return replace(rule, minimum=max(1, min(rule.minimum, len(used))))
    if isinstance(rule, Skew):
        return replace(rule, limit=max([rule.limit, *skews(cluster, placement, rule)]))
    if isinstance(rule, Interference):
        a, b = (_tally(cluster, placement, (w,), rule.level) for w in (rule.a, rule.b))
        return replace(rule, limit=max([rule.limit, *(b.get(group, 0) for group in a)]))
    if isinstance(rule, Dependency):
        on = _tally(cluster, placement, _members(cluster, rule.on), rule.level)
        return rule if set(_tally(cluster, placement, _members(cluster, rule.service), rule.level)) <= set(on) else None
    if isinstance(rule, Allow):
        used = _tally(cluster, placement, rule.workloads, 0)
        return rule if set(used) <= set(cluster.machine_sets[rule.machines].tolist()) else None
    if isinstance(rule, CoLocate):
        first = placement.machine_of[rule.containers[0]]
        same = tuple(c for c in rule.containers if placement.machine_of[c] == first)
        return CoLocate(containers=same) if len(same) > 1 else None
    return rule


def skews(cluster: Cluster, placement: Placement, rule: Skew) -> list[int]:
    """What each judged group has more than the emptiest."""
    counting = set(rule.counting_machines(cluster).tolist())
    on_others = np.array([m not in counting for m in placement.machine_of.tolist()], dtype=np.bool_)
    counted = Placement(machine_of=ints(np.where(on_others, UNPLACED, placement.machine_of)))
    count, own = (_tally(cluster, counted, workloads, rule.level) for workloads in (rule.counts, (rule.workload,)))
    groups = {int(cluster.levels[rule.level].group_of[m]) for m in counting}
    low = min((count.get(group, 0) for group in groups), default=0) if len(groups) >= rule.min_groups else 0
    return [count.get(group, 0) - low for group in own]


def _members(cluster: Cluster, service: int) -> tuple[int, ...]:
    return tuple(w for w, s in enumerate(cluster.workloads.service.tolist()) if s == service)


def _tally(cluster: Cluster, placement: Placement, workloads: tuple[int, ...], level: int) -> dict[int, int]:
    """group -> containers of these workloads in it."""
    tally: dict[int, int] = {}
    for w, m in zip(cluster.containers.workload.tolist(), placement.machine_of.tolist(), strict=True):
        if m != UNPLACED and w in workloads:
            group = int(cluster.levels[level].group_of[m])
            tally[group] = tally.get(group, 0) + 1
    return tally


# ---- requests ------------------------------------------------------------------------------------------------------------------


@st.composite
def timed_requests(draw: DrawFn, max_requests: int = 7) -> TimedRequests:
    """Requests on a half-hour grid, so that ends often meet starts."""
    n, k = draw(st.integers(0, max_requests)), draw(st.integers(1, 3))
    start = np.array(draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)), dtype=float) / 2
    length = np.array(draw(st.lists(st.integers(1, 6), min_size=n, max_size=n)), dtype=float) / 2
    return TimedRequests(
        name=_names("q", n),
        resources=RESOURCES[:k],
        capacity=ints(draw(st.lists(st.integers(0, 8), min_size=k, max_size=k))),
        start=floats(start),
        end=floats(start + length),
        demand=ints(draw(tables(n, k, st.integers(0, 6)))),
        value=floats(draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n))),
    )


@st.composite
def admissions(draw: DrawFn, max_requests: int = 4) -> ClusterRequests:
    """Zones with some links missing, and requests in order of arrival."""
    n_z, k = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    zones = Zones(
        name=_names("z", n_z),
        resources=RESOURCES[:k],
        capacity=ints(draw(tables(n_z, k, st.integers(0, 12)))),
        request_cap=ints(draw(tables(n_z, k, st.integers(0, 12)))),
        bandwidth=ints(draw(tables(n_z, n_z, st.integers(0, 6)))),
    )
    drawn = [draw(_cluster_requests(i, k)) for i in range(draw(st.integers(0, max_requests)))]
    return ClusterRequests(zones=zones, requests=tuple(sorted(drawn, key=lambda request: request.arrival)))


@st.composite
def _cluster_requests(draw: DrawFn, number: int, n_r: int) -> ClusterRequest:
    v = draw(st.integers(1, 3))
    arrival, wait, length = draw(st.integers(0, 6)), draw(st.integers(0, 2)), draw(st.integers(1, 4))
    traffic = draw(tables(v, v, st.sampled_from([0.0, 0.5, 1.0, 3.0]))) * (1 - np.eye(v))
    return ClusterRequest(
        name=f"q-{number}",
        members=_names("v", v),
        demand=ints(draw(tables(v, n_r, st.integers(0, 6)))),
        traffic=floats(traffic),
        arrival=arrival / 2,
        start=(arrival + wait) / 2,
        end=(arrival + wait + length) / 2,
        value=draw(st.sampled_from([0.0, 1.0, 4.0])),
    )
