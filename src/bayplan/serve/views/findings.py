"""What is wrong with a snapshot, in sentences that name the machines and containers they are about."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from bayplan.api.inspect import Inspection, inspect
from bayplan.model import Snapshot
from bayplan.report.amounts import percent
from bayplan.report.json import plain
from bayplan.report.loads import MachineUse, machine_use
from bayplan.report.names import printable
from bayplan.words import count, first_names

Severity: TypeAlias = Literal["bad", "warn", "note", "good"]
SHOWN = 30  # sentences of one kind; the others are counted
NAMED = 3  # names in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One sentence, how bad it is, and what it is about by name."""

    severity: Severity
    text: str
    machines: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()


def findings_of(snapshot: Snapshot) -> dict[str, Any]:
    """The headline that `show` has, the verdict of the referee, the scores, and every finding, the worst first."""
    inspection = inspect(snapshot)
    use = machine_use(snapshot.cluster, snapshot.placement)
    found = [*_violated(inspection), *_unplaced(snapshot), *_full(snapshot, use), *_at_risk(snapshot), *_traffic(inspection)]
    if not any(finding.severity in ("bad", "warn") for finding in found):
        found.insert(0, Finding(severity="good", text="Every rule is kept, and no machine is above its safety capacity."))
    order = {"bad": 0, "warn": 1, "good": 2, "note": 3}
    answer: dict[str, Any] = plain(
        {
            "headline": printable(inspection.headline),
            "valid": inspection.valid,
            "counts": inspection.state.counts,
            "score": inspection.score,
            "findings": sorted(found, key=lambda finding: order[finding.severity]),
        }
    )
    return answer


def _violated(inspection: Inspection) -> Iterator[Finding]:
    cluster = inspection.snapshot.cluster
    machines, workloads = set(cluster.machines.name), set(cluster.workloads.name)
    for violation in inspection.violations[:SHOWN]:
        yield Finding(
            severity="bad",
            text=printable(violation.sentence),
            machines=_shown(name for name in violation.subject if name in machines),
            workloads=_shown(name for name in violation.subject if name in workloads),
        )
    hidden = len(inspection.violations) - SHOWN
    if hidden > 0:
        yield Finding(severity="bad", text=f"and {count(hidden, 'further rule violation')}; bayplan check lists them all")


def _unplaced(snapshot: Snapshot) -> Iterator[Finding]:
    names = [snapshot.cluster.containers.name[c] for c in snapshot.placement.unplaced.tolist()]
    owners = dict.fromkeys(
        snapshot.cluster.workloads.name[snapshot.cluster.containers.workload[c]] for c in snapshot.placement.unplaced.tolist()
    )
    if names:
        have = "has" if len(names) == 1 else "have"
        words = printable(f"{count(len(names), 'container')} {have} no machine: {first_names(names, NAMED)}")
        yield Finding(severity="bad", text=words, workloads=_shown(owners))


def _full(snapshot: Snapshot, use: MachineUse) -> Iterator[Finding]:
    """Machines over their capacity or above their safety capacity, the fullest first."""
    cluster = snapshot.cluster
    hot = np.flatnonzero(use.hot | use.full)
    ranked = hot[np.argsort(-use.level[hot], kind="stable")].tolist()
    for m in ranked[:SHOWN]:
        name, full = printable(cluster.machines.name[m]), bool(use.full[m])
        yield Finding(severity="bad" if full else "warn", text=_fullness_words(snapshot, use, m), machines=(name,))
    if len(ranked) > SHOWN:
        further = ranked[SHOWN:]
        names = _shown(cluster.machines.name[m] for m in further)
        yield Finding(
            severity="warn", text=f"and {count(len(further), 'further machine')} above the safety capacity", machines=names
        )


def _fullness_words(snapshot: Snapshot, use: MachineUse, m: int) -> str:
    """'b1: 96 % of its cpu is requested, above its safety capacity'."""
    name = printable(snapshot.cluster.machines.name[m])
    resource = printable(snapshot.cluster.resources[int(use.fullest[m])].name)
    if use.endless[m]:
        return f"{name} has no {resource}, but runs what requests it"
    limit = "more than it has" if use.full[m] else "above its safety capacity"
    return f"{name}: {percent(float(use.level[m]))} of its {resource} is requested, {limit}"


def _at_risk(snapshot: Snapshot) -> Iterator[Finding]:
    """Workloads of several containers that all run on one machine."""
    cluster, machine = snapshot.cluster, snapshot.placement.machine_of
    owner = cluster.containers.workload
    size = len(cluster.workloads.name)
    least, most = np.full(size, len(cluster.machines.name)), np.full(size, -1)
    np.minimum.at(least, owner, machine)
    np.maximum.at(most, owner, machine)
    together = np.flatnonzero((cluster.replicas > 1) & (least == most) & (least >= 0))
    if together.size:
        names = _shown(cluster.workloads.name[w] for w in together.tolist())
        verb = "runs" if together.size == 1 else "run"
        text = f"{count(int(together.size), 'workload')} with several containers {verb} on one machine alone"
        places = _shown(dict.fromkeys(cluster.machines.name[int(least[w])] for w in together.tolist()))
        told = f"{text}, and would stop with it: {first_names(names, NAMED)}"
        yield Finding(severity="warn", text=told, machines=places, workloads=names)


def _traffic(inspection: Inspection) -> Iterator[Finding]:
    if len(inspection.snapshot.cluster.traffic.a):
        local = percent(inspection.score["affinity"])
        yield Finding(severity="note", text=f"{local} of the traffic between workloads stays on one machine")


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(name) for name in names)
