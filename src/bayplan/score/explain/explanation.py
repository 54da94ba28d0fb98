"""Why a container is where it is, where else it could run, and whether that would be better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.check.violation import SHOWN, counted, named
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, IntArray, Objective, Placement, Reason, Term, ints
from bayplan.score.explain.blockers import blockers
from bayplan.score.explain.move import CandidateMove, candidate_move
from bayplan.score.terms import weighted

EMPTIEST = 8  # of the machines that fit, those it would fill least
NEAREST = 8  # and those where most of its partners run
ROUNDING = 1e-12  # relative to the objective: a smaller change is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One machine that can take the container."""

    machine: str
    change: float  # of the objective if it ran there; negative is better


def alternatives(
    cluster: Cluster, placement: Placement, objective: Objective, members: IntArray, candidates: Sequence[int]
) -> tuple[Alternative, ...]:
    """The candidates by the objective after `members` moved there, best first, ties in the order given."""
    now = weighted(cluster, placement, objective, placement)
    compared = [
        Alternative(
            machine=cluster.machines.name[m],
            change=_beyond_rounding(weighted(cluster, _moved(placement, members, m), objective, placement) - now, now),
        )
        for m in candidates
    ]
    return tuple(sorted(compared, key=lambda alternative: alternative.change))


def _beyond_rounding(change: float, now: float) -> float:
    return 0.0 if abs(change) <= ROUNDING * max(1.0, abs(now)) else change


def likely(fits: Sequence[int], partners: FloatArray) -> list[int]:
    """Of the machines that fit (emptiest first), the emptiest and those with most partners (machine,)."""
    near = sorted((m for m in fits if partners[m] > 0), key=lambda m: -partners[m])
    return list(dict.fromkeys([*near[:NEAREST], *fits[:EMPTIEST]]))


def _moved(placement: Placement, members: IntArray, machine: int) -> Placement:
    machine_of = np.array(placement.machine_of)
    machine_of[members] = machine
    return Placement(machine_of=ints(machine_of))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A workload that a container talks to."""

    workload: str
    share: float  # of the container's traffic
    local: float  # of that share, what stays on the container's machine
    machines: Mapping[str, int]  # machine -> containers of the partner there


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Where a container runs, where else it could, and what blocks the other machines."""

    container: str
    workload: str
    service: str
    machine: str | None  # None if it has none
    moves_with: tuple[str, ...]  # co-located containers: they go where it goes
    apart: tuple[str, ...]  # those of them that do not run on its machine now
    machines: int  # how many there are
    fits: tuple[str, ...]  # machines that can take it: those it would fill least first; with its own if that is in order
    blocked: Mapping[str, int]  # reason -> machines, most first
    why: Mapping[str, str]  # blocked machine -> its first reason, as a sentence
    partners: tuple[Partner, ...]  # most traffic first
    local: float | None  # share of its traffic that stays on its machine; None if it has no traffic or no machine
    alternatives: tuple[Alternative, ...]  # the likeliest of the machines that fit, best first; empty if no objective was given
    move_price: float = 0.0  # what the objective charges for the move; in the change of each alternative
    planned: str = ""  # what a plan does with it, and why

    def reason(self) -> Reason:
        """The machines in one line: 'web-0: 3/12 machines fit (6 short of cpu, 3 not allowed)'."""
        return Reason(self.container, fit_text(len(self.fits), self.machines, self.blocked))

    def __str__(self) -> str:
        place = f"runs on machine '{self.machine}'" if self.machine is not None else "has no machine"
        lines = [f"{self.container} (workload '{self.workload}', service '{self.service}') {place}"]
        lines += [self.planned] if self.planned else []
        if self.machine is not None and self.machine in self.why:
            lines.append(f"where it is: {self.why[self.machine]}")
        if self.apart:
            lines.append(f"where it is: co-locate: {named(self.apart)} should run on its machine and {_do(self.apart)} not")
        if self.moves_with:
            lines.append(f"moves together with {named(self.moves_with)}")
        lines.append(str(self.reason()))
        if self.fits:
            lines.append(f"emptiest of them: {named(self.fits[:SHOWN])}")
        if self.alternatives:
            lines.append(self._comparison())
        if self.local is not None:
            lines.append(f"traffic: {self.local:.1%} stays on its machine, with {counted(len(self.partners), 'partner')}")
        return "\n".join(lines)

    def _comparison(self) -> str:
        best, compared = self.alternatives[0], counted(len(self.alternatives), "likely machine")
        if self.machine is None:
            return f"best by the objective: '{best.machine}', of {compared}"
        if best.change >= 0 and (self.apart or self.machine in self.why):
            return f"by the objective none of {compared} is better"
        if best.change >= 0 and best.change < self.move_price:
            gain, price = self.move_price - best.change, self.move_price
            return f"a move does not pay: '{best.machine}', best of {compared}, gains {gain:.3g}, and the move costs {price:.3g}"
        if best.change >= 0:
            return f"by the objective it is well placed: none of {compared} is better"
        return f"by the objective '{best.machine}' is better ({best.change:+.3g}), best of {compared}"


def explain(
    cluster: Cluster,
    placement: Placement,
    container: int,
    before: Placement | None = None,
    objective: Objective | None = None,
) -> Explanation:
    """Evaluate moving `container` to every machine, everything else fixed; co-located containers move with it.

    A machine fits if the move violates no rule, or none more than it is violated now. `before` is where containers ran
    until now, for the rules about moves; if it is not given, `placement` is. O(containers + rules) and vectorised over machines.
    With an `objective`, the likeliest machines are compared by it: a full evaluation each, 16 at most.
    """
    move = candidate_move(cluster, placement, container, placement if before is None else before)
    reason, why = _reasons(move)
    w = int(cluster.containers.workload[container])
    name = cluster.machines.name
    partners = _partners(cluster, placement, container)
    fits = [m for m in _emptiest(move).tolist() if m not in reason]
    apart = move.members[placement.machine_of[move.members] != move.home]
    elsewhere = likely([m for m in fits if m != move.home or apart.size], _traffic_there(cluster, partners))
    return Explanation(
        container=cluster.containers.name[container],
        workload=cluster.workloads.name[w],
        service=cluster.services.name[cluster.workloads.service[w]],
        machine=None if move.home == UNPLACED else name[move.home],
        moves_with=tuple(cluster.containers.name[c] for c in move.members.tolist() if c != container),
        apart=tuple(cluster.containers.name[c] for c in apart.tolist()),
        machines=len(name),
        fits=tuple(name[m] for m in fits),
        blocked=_most_first(reason),
        why={name[m]: why[m] for m in sorted(why)},
        partners=partners,
        local=sum(p.share * p.local for p in partners) if partners and move.home != UNPLACED else None,
        alternatives=alternatives(cluster, placement, objective, move.members, elsewhere) if objective is not None else (),
        move_price=len(move.members) * objective.weight.get(Term.MOVES, 0.0) if objective is not None else 0.0,
    )


def _do(names: tuple[str, ...]) -> str:
    return "does" if len(names) == 1 else "do"


def fit_summary(cluster: Cluster, placement: Placement, workload: int) -> Reason:
    """Which machines could take one more container of a workload: 'web: 0/12 machines fit (12 short of cpu)'.

    That is for its first container without a machine; for its first container if all have one.
    """
    own = np.flatnonzero(cluster.containers.workload == workload)
    name = cluster.workloads.name[workload]
    if not own.size:
        return Reason(name, "has no containers")
    container = int(own[np.argmax(placement.machine_of[own] == UNPLACED)])
    reason, _ = _reasons(candidate_move(cluster, placement, container, placement), sentences=False)
    machines = len(cluster.machines.name)
    return Reason(name, fit_text(machines - len(reason), machines, _most_first(reason)))


def fit_reason(cluster: Cluster, placement: Placement, container: int, among: BoolArray) -> Reason:
    """Which of some machines could take a container that has none: 'web-3: 0/8 machines fit (8 short of cpu)'."""
    reason, _ = _reasons(candidate_move(cluster, placement, container, placement), sentences=False)
    blocked = {m: text for m, text in reason.items() if among[m]}
    machines = int(among.sum())
    return Reason(cluster.containers.name[container], fit_text(machines - len(blocked), machines, _most_first(blocked)))


def fit_text(fits: int, machines: int, blocked: Mapping[str, int]) -> str:
    """'3/12 machines fit (6 short of cpu, 3 not allowed)'."""
    why = ", ".join(f"{count} {reason}" for reason, count in blocked.items())
    return f"{fits}/{machines} machines fit" + (f" ({why})" if why else "")


def _reasons(move: CandidateMove, sentences: bool = True) -> tuple[dict[int, str], dict[int, str]]:
    """The first reason of each blocked machine, short and as a sentence."""
    reason: dict[int, str] = {}
    why: dict[int, str] = {}
    open_yet = np.ones(len(move.cluster.machines.name), dtype=np.bool_)
    for blocker in blockers(move):
        for m in np.flatnonzero(blocker.blocks & open_yet).tolist():
            reason[m] = blocker.reason
            if sentences:
                why[m] = blocker.say(m)
        open_yet &= ~blocker.blocks
    return reason, why


def _most_first(reason: Mapping[int, str]) -> dict[str, int]:
    count: dict[str, int] = {}
    for text in reason.values():  # in the order of the reasons, so ties keep it
        count[text] = count.get(text, 0) + 1
    return dict(sorted(count.items(), key=lambda item: -item[1]))


def _emptiest(move: CandidateMove) -> IntArray:
    """Machines by their fullest resource after the move, ties by index."""
    load = move.others.load + move.cluster.request_of(move.members).sum(axis=0)
    capacity = move.cluster.machines.capacity
    share = np.where(load > 0, load / np.maximum(capacity, 1), 0.0)
    return np.argsort(share.max(axis=1, initial=0.0), kind="stable")


def _partners(cluster: Cluster, placement: Placement, container: int) -> tuple[Partner, ...]:
    """What it talks to: edges spread evenly over all pairs of replicas, and its service's clique."""
    weight = _traffic_of(cluster, container)
    total, home = weight.sum(), placement.machine_of[container]
    partners = []
    for w in np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)].tolist():
        others = np.flatnonzero(cluster.containers.workload == w)
        others = others[others != container]
        machine, count = np.unique(placement.machine_of[others], return_counts=True)
        there = {cluster.machines.name[m]: int(n) for m, n in zip(machine, count, strict=True) if m != UNPLACED}
        near = int(count[machine == home].sum()) if home != UNPLACED else 0
        name = cluster.workloads.name[w]
        partners.append(Partner(workload=name, share=float(weight[w] / total), local=near / len(others), machines=there))
    return tuple(partners)


def _traffic_there(cluster: Cluster, partners: tuple[Partner, ...]) -> FloatArray:
    """(machine,) how much of a container's traffic is with its partners there."""
    index = {name: m for m, name in enumerate(cluster.machines.name)}
    traffic_there = np.zeros(len(index))
    for partner in partners:
        total = sum(partner.machines.values())
        for name, count in partner.machines.items():
            traffic_there[index[name]] += partner.share * count / total
    return traffic_there


def _traffic_of(cluster: Cluster, container: int) -> FloatArray:
    """(workload,) traffic of one container with all containers of each workload."""
    w, traffic = int(cluster.containers.workload[container]), cluster.traffic
    weight = np.zeros(len(cluster.workloads.name))
    for here, there in ((traffic.a, traffic.b), (traffic.b, traffic.a)):
        edge = here == w
        weight[there[edge]] += traffic.weight[edge] / cluster.replicas[w] * (cluster.replicas[there[edge]] > 0)
    siblings = np.where(cluster.workloads.service == cluster.workloads.service[w], cluster.replicas, 0)
    siblings[w] -= 1  # not with itself
    return np.asarray(weight + cluster.services.clique[cluster.workloads.service[w]] * siblings, dtype=np.float64)
