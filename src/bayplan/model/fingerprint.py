"""The state that a plan is made for, as short digests: enough to see that another state is another one, and what changed in it.

What a plan's safety depends on counts: capacity, what runs where, requests, rules. Traffic, usage and objectives do not.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b

from bayplan.model.cluster import Cluster
from bayplan.model.placement import UNPLACED, Placement
from bayplan.model.rules import Rule

SIZE = 4  # bytes of a digest
CAPACITY, RUNNING = slice(0, 2 * SIZE), slice(2 * SIZE, 4 * SIZE)  # the two digests of a machine, in hexadecimal digits
OTHER = {CAPACITY.start: "has other capacities", RUNNING.start: "runs other containers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Digests of a state."""

    machines: Mapping[str, str]  # name -> digests of its capacity and of what runs there
    workloads: Mapping[str, str]  # name -> digest of what a container of it requests; those that run
    rules: str

    def changes(self, now: "Fingerprint") -> Iterator[str]:
        """What is different in the state `now`, one sentence each."""
        for name in self.machines.keys() | now.machines.keys():
            then, here = self.machines.get(name), now.machines.get(name)
            if then is None or here is None:
                yield f"machine '{name}' is {'new' if then is None else 'gone'}"
            elif then != here:
                part = RUNNING if then[CAPACITY] == here[CAPACITY] else CAPACITY
                yield f"machine '{name}' {OTHER[part.start]}"
        for name in self.workloads.keys() & now.workloads.keys():
            if self.workloads[name] != now.workloads[name]:
                yield f"workload '{name}' requests other amounts"
        if self.rules != now.rules:
            yield "the rules are others"


def fingerprint(cluster: Cluster, placement: Placement) -> Fingerprint:
    """The fingerprint of a cluster in which containers run where `placement` says."""
    on: dict[int, list[str]] = defaultdict(list)
    for name, m in zip(cluster.containers.name, placement.machine_of.tolist(), strict=True):
        on[m].append(name)
    amounts = zip(cluster.machines.capacity.tolist(), cluster.machines.safety.tolist(), strict=True)
    machines = {
        name: _digest(repr(amount)) + _digest("\n".join(sorted(on.get(m, ()))))
        for m, (name, amount) in enumerate(zip(cluster.machines.name, amounts, strict=True))
    }
    running = set(cluster.containers.workload[placement.machine_of != UNPLACED].tolist())
    request = cluster.workloads.request.tolist()
    workloads = {cluster.workloads.name[w]: _digest(repr(request[w])) for w in sorted(running)}
    rules = sorted(_written(rule, cluster, placement) for rule in cluster.rules)
    return Fingerprint(machines=machines, workloads=workloads, rules=_digest("\n".join(rules)))


def _written(rule: Rule, cluster: Cluster, placement: Placement) -> str:
    """A rule by names; of containers only those that run, since a plan may bring others."""
    parts = [rule.kind]
    for field in fields(rule):
        value = getattr(rule, field.name)
        if field.name == "containers":
            value = sorted(cluster.containers.name[c] for c in value if placement.machine_of[c] != UNPLACED)
        elif field.name == "workloads":
            value = sorted(cluster.workloads.name[w] for w in value)
        elif field.name == "machines":
            value = cluster.machine_sets[value].tolist()
        parts.append(f"{field.name}={value!r}")
    return " ".join(parts)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=SIZE).hexdigest()
