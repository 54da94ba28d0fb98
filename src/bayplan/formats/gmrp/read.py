"""The Google Machine Reassignment Problem (ROADEF/EURO challenge 2012): models, assignments, solutions.

An assignment and a solution are P machine numbers. A process becomes a workload with one container.
"""

from pathlib import Path

import numpy as np

from bayplan.errors import Fault, InputError, UsageError
from bayplan.formats.document.text import read_text
from bayplan.formats.gmrp.fields import Fields, index_fault, read_model
from bayplan.formats.gmrp.integers import integer_stream
from bayplan.model import (
    UNPLACED,
    AntiAffinity,
    BalanceTarget,
    Capacity,
    Cluster,
    Containers,
    Dependency,
    IntArray,
    Level,
    Machines,
    MoveCosts,
    Objective,
    Placement,
    Resource,
    Rule,
    Services,
    Snapshot,
    Spread,
    Term,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    floats,
    machine_level,
)

LOCATION, NEIGHBOURHOOD = 1, 2  # levels


def read_gmrp(path: Path | str, assignment: Path | str | None = None, *, text: str | None = None) -> Snapshot:
    """The cluster, its initial assignment and its objective.

    Without `assignment` it is the model's neighbour: `assignment_a1_1.txt` beside `model_a1_1.txt`.
    `text` is what the model's file holds, for a caller that has read it already.
    """
    path = Path(path)
    raw = read_model(integer_stream(read_text(path) if text is None else text, str(path)))
    cluster = _cluster(path.name.split(".")[0], raw)
    beside = Path(assignment) if assignment is not None else _beside(path)
    placement = read_gmrp_solution(read_text(beside), cluster, str(beside))
    objective, notes = _objective(cluster, raw), _notes(beside, raw)
    return Snapshot(cluster=cluster, placement=placement, objective=objective, notes=notes, format="gmrp")


def read_gmrp_solution(text: str, cluster: Cluster, source: str) -> Placement:
    """The placement that P machine numbers say."""
    machine_of = integer_stream(text, source).number
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    faults = []
    if len(machine_of) != n_c:
        value, expected = f"{len(machine_of)} integers", f"{n_c}, one per process"
        problem = "not one machine per process"
        faults.append(Fault(code="E1707", kind="assignment", name="", problem=problem, value=value, expected=expected))
    outside = np.flatnonzero((machine_of < 0) | (machine_of >= n_m))
    faults += [index_fault("process", f"p{c}", "its machine does not exist", machine_of[c], n_m) for c in outside]
    if faults:
        raise InputError(source, faults)
    return Placement(machine_of=machine_of)


def gmrp_solution_text(placement: Placement) -> str:
    """One line of machine numbers."""
    if (placement.machine_of == UNPLACED).any():
        missing = int((placement.machine_of == UNPLACED).sum())
        raise UsageError(f"a GMRP solution gives every process a machine; {missing} have none: write a native placement instead")
    return " ".join(map(str, placement.machine_of.tolist())) + "\n"


def _beside(path: Path) -> Path:
    beside = path.with_name(path.name.replace("model", "assignment"))
    if beside.name != path.name and beside.exists():
        return beside
    wanted = beside if beside.name != path.name else path.with_name(f"assignment_{path.name}")
    problem, expected = "the initial assignment is not there", f"the file '{wanted}', or name another one"
    raise InputError(str(path), [Fault(code="E1706", kind="assignment", name=wanted.name, problem=problem, expected=expected)])


def _notes(beside: Path, raw: Fields) -> tuple[str, ...]:
    alone = sum(s == on for s, on in raw.depends.tolist())
    return (
        *((f"{alone} dependencies of a service on itself left out: they say nothing",) if alone else ()),
        f"the initial assignment is '{beside}'",
        "each process is a workload with one container",
        "transient resources: joint, a leaving process frees nothing before all moves have ended",
    )


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))


def _cluster(name: str, raw: Fields) -> Cluster:
    n_r, n_m, n_s, n_p = len(raw.resource), len(raw.machine), len(raw.spread), len(raw.process)
    machines, processes = _names("m", n_m), _names("p", n_p)
    return Cluster(
        name=name,
        resources=tuple(Resource(name=f"r{r}") for r in range(n_r)),
        machines=Machines(name=machines, capacity=raw.machine[:, 2 : 2 + n_r], safety=raw.machine[:, 2 + n_r : 2 + 2 * n_r]),
        levels=(
            machine_level(machines),
            _level("location", "l", raw.machine[:, 1]),
            _level("neighbourhood", "n", raw.machine[:, 0]),
        ),
        services=Services(name=_names("s", n_s), clique=np.zeros(n_s)),
        workloads=Workloads.by_request(processes, raw.process[:, 0], raw.process[:, 1 : 1 + n_r]),
        containers=Containers(name=processes, workload=np.arange(n_p)),
        traffic=Traffic.none(),
        rules=tuple(_rules(raw)),
    )


def _level(name: str, letter: str, number: IntArray) -> Level:
    group, group_of = np.unique(number, return_inverse=True)
    return Level(name=name, group=tuple(f"{letter}{g}" for g in group), group_of=group_of.ravel())


def _rules(raw: Fields) -> list[Rule]:
    rules: list[Rule] = [Capacity(resources=tuple(range(len(raw.resource))))]
    rules += [Transient(resource=int(r), mode=TransientMode.JOINT) for r in np.flatnonzero(raw.resource[:, 0])]
    order = np.argsort(raw.process[:, 0], kind="stable")
    bounds = np.searchsorted(raw.process[order, 0], np.arange(len(raw.spread) + 1))
    for s in np.flatnonzero(np.diff(bounds) > 1):
        rules.append(AntiAffinity(workloads=tuple(order[bounds[s] : bounds[s + 1]].tolist()), limit=1))
    rules += [Spread(service=int(s), minimum=int(raw.spread[s]), level=LOCATION) for s in np.flatnonzero(raw.spread > 1)]
    rules += [Dependency(service=s, on=on, level=NEIGHBOURHOOD) for s, on in raw.depends.tolist() if s != on]
    return rules


def _objective(cluster: Cluster, raw: Fields) -> Objective:
    n_r = len(raw.resource)
    process_weight, service_weight, machine_weight = raw.weight.tolist()
    return Objective(
        weight={Term.OVERLOAD: 1.0, Term.TARGETS: 1.0, Term.MOVE_COST: 1.0},
        ratio=np.ones((n_r, n_r)),
        hop=np.array([1.0, 0.0, 0.0]),
        overload_weight=floats(raw.resource[:, 1]),
        targets=tuple(BalanceTarget(r1=a, r2=b, target=t, weight=w) for a, b, t, w in raw.balance.tolist()),
        move_costs=MoveCosts(
            container=raw.process[:, -1],
            machine=raw.machine[:, 2 + 2 * n_r :],
            container_weight=process_weight,
            service_weight=service_weight,
            machine_weight=machine_weight,
        ),
        explicit=True,
    )
