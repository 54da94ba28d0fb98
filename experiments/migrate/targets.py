"""Real and generated migrations: from where containers run to another placement with most of them elsewhere.

All are made from explicit seeds. What is slow to make is kept in a temporary folder.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from bayplan.formats import read
from bayplan.generate import GENERATORS
from bayplan.model import (
    UNPLACED,
    AntiAffinity,
    BoolArray,
    Budget,
    Capacity,
    Cluster,
    Containers,
    IntArray,
    Machines,
    Migration,
    Placement,
    Resource,
    Running,
    Services,
    Snapshot,
    Term,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    allowed,
    floats,
    ints,
    machine_level,
    relabelled,
    singled_out,
)
from bayplan.model.problem import Problem
from bayplan.search.anneal import search
from experiments.calibration.data import real_file
from experiments.migrate.drawn import Rng, load_of

ANNEALING = 1_000_000  # steps of the annealer: a few seconds
SHARE = 0.2  # of the containers of rasa-m2 move ...
SHUFFLED = 0.95  # ... and of those of M3
LOOKS = 8  # machines with room that a container looks at, to take the fullest
ROUNDS = 50


def m3_target(kind: str, seed: int, *, relabel: bool = False) -> Migration:
    """From M3's original placement to one of a `kind`, a key of `KINDS`; `relabel`: replicas are interchangeable."""
    snapshot = m3()
    after = _kept(f"m3-{kind}-{seed}", lambda: KINDS[kind](snapshot, seed))
    return from_to(snapshot, after, relabel=relabel)


def m2_target(seed: int) -> Migration:
    """Generated `rasa-m2`, a fifth of whose containers stand elsewhere; machines are refilled by what others leave."""
    generated = GENERATORS["rasa-m2"].make(seed=seed)
    assert isinstance(generated, Snapshot)
    return from_to(generated, _kept(f"m2-{seed}", lambda: scattered(generated, SHARE, seed)))


def figure_2() -> Migration:
    """[FreeContainer] Figure 2: servers at 70, 100 and 40 %, all at 70 % afterwards; moved containers are charged on both."""
    names, request = ("a1", "b1", "c1", "a2", "b2", "c2"), [[20], [20], [30], [50], [50], [40]]
    machines, full = ("server-1", "server-2", "server-3"), ints([[100]] * 3)
    cluster = Cluster(
        name="figure-2",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=machines, capacity=full, safety=full),
        levels=(machine_level(machines),),
        services=Services(name=("a", "b", "c"), clique=floats([1.0] * 3)),
        workloads=Workloads.by_request(names, ints([0, 1, 2, 0, 1, 2]), ints(request)),
        containers=Containers(name=names, workload=ints(range(6))),
        traffic=Traffic.none(),
        rules=(Capacity(resources=(0,)), Transient(resource=0, mode=TransientMode.SEQUENTIAL)),
    )
    start, after = Placement(machine_of=ints([0, 0, 0, 1, 1, 2])), Placement(machine_of=ints([1, 0, 2, 1, 0, 2]))
    return Migration(cluster=cluster, start=Running.of(start), target=after)


def from_to(snapshot: Snapshot, after: Placement, *, relabel: bool = False) -> Migration:
    """The migration from a snapshot's placement; `relabel`: replicas are interchangeable."""
    cluster, start = snapshot.cluster, snapshot.placement
    if relabel:
        after = relabelled(after, start, cluster.containers.workload, singled_out(cluster))
    return Migration(cluster=cluster, start=Running.of(start), target=after)


@cache
def m3() -> Snapshot:
    """The real cluster with its original placement."""
    return read(real_file("rasa/M3.json"))


# ---- kinds of targets ----------------------------------------------------------------------------------------------------------


def annealed(snapshot: Snapshot, seed: int, *, steps: int = ANNEALING) -> Placement:
    """A placement of high gained affinity, whose machines are filled up.

    Annealed for affinity alone, moves are free. Then workloads without traffic are placed again by first fit, large ones
    first, over machines in random order: that is what fills most machines (the code of [RASA]'s authors does so, too).
    """
    objective = snapshot.objective.with_weights({Term.AFFINITY: 1.0})
    start = snapshot.placement
    problem = Problem(cluster=snapshot.cluster, objective=objective, before=start, start=start)
    after = search(problem, budget=Budget(iterations=steps), seed=seed)
    traffic = snapshot.cluster.traffic
    silent = ~np.isin(snapshot.cluster.containers.workload, np.r_[traffic.a, traffic.b])
    return _placed_again(snapshot.cluster, after, silent, np.random.default_rng([seed, 3]))


def shuffled(snapshot: Snapshot, seed: int) -> Placement:
    """Nearly all containers on other machines, random ones that had room when their turn came."""
    return scattered(snapshot, SHUFFLED, seed, looks=1)


def scattered(snapshot: Snapshot, share: float, seed: int, *, looks: int = LOOKS) -> Placement:
    """A random share of the containers stands elsewhere: all are lifted, then each takes its turn in random order.

    It is put on the fullest of a few random machines with room. Those that find none come first in the next round.
    """
    rng = np.random.default_rng([seed, 4])
    cluster, home = snapshot.cluster, snapshot.placement.machine_of
    order = rng.permutation(len(home))[: round(share * len(home))]
    for _ in range(ROUNDS):
        seats = Seats(cluster, _without(home, order))
        left = [c for c in order.tolist() if not seats.put(c, _one_of(seats, c, home[c], looks, rng))]
        if not left:
            return Placement(machine_of=seats.machine_of)
        order = np.r_[left, order[~np.isin(order, left)]]
    raise AssertionError(f"{len(left)} containers found no machine in {ROUNDS} rounds")


def _placed_again(cluster: Cluster, placement: Placement, lifted: BoolArray, rng: Rng) -> Placement:
    """First fit, large ones first, over machines in random order."""
    seats = Seats(cluster, _without(placement.machine_of, np.flatnonzero(lifted)))
    joined = rng.permutation(len(cluster.machines.name))
    again = rng.permutation(np.flatnonzero(lifted))
    size = cluster.request_of(ints(again))[:, 0]
    for c in again[np.argsort(-size, kind="stable")].tolist():
        fits = seats.fits(c)[joined]
        seats.put(c, int(joined[fits.argmax()]) if fits.any() else None)
    assert (seats.machine_of != UNPLACED).all(), "a container found no machine"
    return Placement(machine_of=seats.machine_of)


def _without(machine_of: IntArray, some: IntArray) -> IntArray:
    rest = machine_of.copy()
    rest[some] = UNPLACED
    return rest


def _one_of(seats: "Seats", c: int, home: int, looks: int, rng: Rng) -> int | None:
    """The machine with the least free cpu of a few random ones with room, not the old one."""
    fits = seats.fits(c)
    fits[home] = False
    some = np.flatnonzero(fits)
    if not len(some):
        return None
    looked_at = rng.choice(some, looks)
    return int(looked_at[seats.free[looked_at, 0].argmin()])


class Seats:
    """A placement that grows, with the room that is left: capacity, allowed machines, anti-affinity on machines."""

    def __init__(self, cluster: Cluster, machine_of: IntArray) -> None:
        self.cluster, self.machine_of = cluster, machine_of.copy()
        self.free = cluster.machines.capacity - load_of(cluster, machine_of)
        self.allowed = allowed(cluster)
        apart = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity)]
        assert all(rule.level == 0 for rule in apart), "anti-affinity on machines only"
        self.limit = [rule.limit for rule in apart]
        self.sets_of: dict[int, list[int]] = {}
        for number, rule in enumerate(apart):
            for w in rule.workloads:
                self.sets_of.setdefault(w, []).append(number)
        self.count = np.zeros((len(apart), len(cluster.machines.name)), dtype=np.int32)
        self.workload = cluster.containers.workload.tolist()
        for c in np.flatnonzero(machine_of != UNPLACED).tolist():
            for number in self.sets_of.get(self.workload[c], ()):
                self.count[number, machine_of[c]] += 1

    def fits(self, c: int) -> BoolArray:
        """(machine,) has room for a container."""
        w = self.workload[c]
        fits = (self.free >= self.cluster.workloads.request[w]).all(axis=1) & self.allowed.machines(w)
        for number in self.sets_of.get(w, ()):
            fits &= self.count[number] < self.limit[number]
        return fits

    def put(self, c: int, m: int | None) -> bool:
        """Seat a container, if there is a machine for it."""
        if m is None:
            return False
        w = self.workload[c]
        self.machine_of[c] = m
        self.free[m] -= self.cluster.workloads.request[w]
        for number in self.sets_of.get(w, ()):
            self.count[number, m] += 1
        return True


KINDS: Mapping[str, Callable[[Snapshot, int], Placement]] = {"anneal": annealed, "shuffle": shuffled}


# ---- kept from run to run ------------------------------------------------------------------------------------------------------


def _kept(name: str, make: Callable[[], Placement]) -> Placement:
    """What was made before with this very file, or made now."""
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / "bayplan-migrate" / f"{name}-{recipe}.npy"
    if path.is_file():
        return Placement(machine_of=ints(np.load(path)))
    made = make()
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part.npy")
    np.save(unfinished, made.machine_of)
    unfinished.rename(path)
    return made
