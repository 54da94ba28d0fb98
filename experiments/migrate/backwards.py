"""Migrations that have a complete plan, because they are built by walking a safe order of moves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayplan.model import (
    Action,
    Capacity,
    Cluster,
    Migration,
    MigrationPolicy,
    Placement,
    Plan,
    Running,
    Step,
    Transient,
    TransientMode,
    Way,
)
from experiments.migrate.drawn import Rng, drawn_cluster, load_of, ruled, with_capacity

FULLNESS = (0.85, 0.90, 0.95, 0.98, 1.0)
FEWEST = 20  # moves
TRIES = 200  # rounds in a row that fail, after which a walk ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What kind of containers a cluster has."""

    replicas: tuple[int, ...]  # of a workload, drawn
    cpu: tuple[int, ...]  # requests, drawn
    memory: tuple[int, ...]
    memory_full: float | None  # share of all memory that is requested; None: as that of cpu
    per_machine: int  # containers at least
    per_move: float  # containers at least


STYLES: Mapping[str, Style] = {
    "mixed": Style(
        replicas=(1, 2, 3, 4, 5, 6, 8, 12, 20),
        cpu=(1, 1, 2, 2, 3, 4, 6, 8),
        memory=(1, 2, 3, 4),
        memory_full=0.7,
        per_machine=8,
        per_move=2.0,
    ),
    "surging": Style(  # too few replicas for one to be down
        replicas=(1, 1, 2, 3), cpu=(1, 1, 2, 2, 3, 4, 6, 8), memory=(1, 2, 3, 4), memory_full=0.7, per_machine=8, per_move=1.3
    ),
    "large": Style(  # a few to a machine, nearly all move, both resources are tight
        replicas=(1, 2, 4, 5, 8, 12),
        cpu=(4, 8, 12),
        memory=(4, 8, 12),
        memory_full=None,
        per_machine=4,
        per_move=1.1,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What an instance shall be like; what is None is drawn."""

    machines: int | None = None  # 5-40
    moves: int | None = None  # 20-200
    full: float | None = None  # share of all cpu that is requested, 0.85-1
    rules: bool | None = None  # rules besides capacity
    style: str | None = None  # a key of STYLES


def backwards(seed: int, **wish: Any) -> Migration:
    """A migration that has a complete plan; the wish is that of `Wish`.

    A cluster that is 100 % full changes by exchanges of containers that are down at the same time; it cannot be of the style
    "surging". With `rules`, every rule is as strict as the known order allows. A tight instance may have fewer moves than
    asked for, but at least 20; those of the style "large" have at most four for each machine.
    """
    return known_order(seed, **wish)[0]


def known_order(seed: int, **wish: Any) -> tuple[Migration, Plan]:
    """As `backwards`, and the order by which it was built: one container or unit per batch."""
    asked = Wish(**wish)
    for attempt in range(100):
        rng = np.random.default_rng([seed, 2, attempt])
        drawn = _drawn(asked, rng, style_of(seed, **wish))
        walk = _Walk(_filled(drawn, rng), rng, bool(drawn.rules))
        walk.go(drawn.moves or 0)
        if walk.moved >= FEWEST:
            return walk.migration(), Plan(batches=tuple(walk.batches))
    raise AssertionError(f"seed {seed}: no instance like {asked}")


def style_of(seed: int, **wish: Any) -> str:
    """The style of an instance."""
    return Wish(**wish).style or str(np.random.default_rng([seed, 5]).choice(sorted(STYLES)))


def _drawn(asked: Wish, rng: Rng, style: str) -> Wish:
    """Nothing left to draw."""
    drawn = int(rng.integers(5, 41)), int(rng.integers(FEWEST, 201)), float(rng.choice(FULLNESS)), bool(rng.random() < 0.5)
    machines, moves = asked.machines or drawn[0], asked.moves or drawn[1]
    full = drawn[2] if asked.full is None else asked.full
    return Wish(
        machines=machines,
        moves=min(moves, 4 * machines) if style == "large" else moves,
        full=min(full, 0.98) if style == "surging" else full,
        rules=drawn[3] if asked.rules is None else asked.rules,
        style=style,
    )


def _filled(drawn: Wish, rng: Rng) -> tuple[Cluster, np.ndarray]:
    """A cluster with as many containers on its machines as its style has, and where they stand."""
    assert drawn.machines and drawn.moves and drawn.full and drawn.style
    n_m, style, replicas = drawn.machines, STYLES[drawn.style], list[int]()
    while sum(replicas) < max(style.per_move * drawn.moves, style.per_machine * n_m):
        replicas.append(int(rng.choice(style.replicas)))
    n_w = len(replicas)
    request = np.stack([rng.choice(style.cpu, n_w), rng.choice(style.memory, n_w)], axis=1)
    cluster = drawn_cluster(request, replicas, np.zeros((n_m, 2), dtype=int), rng, services=max(1, n_w // 2))
    machine_of = rng.permutation(np.arange(sum(replicas)) % n_m)
    load, shares = load_of(cluster, machine_of), (drawn.full, style.memory_full or drawn.full)
    spare = [round(total * (1 / share - 1)) for total, share in zip(load.sum(axis=0), shares, strict=True)]
    free = np.stack([_dealt(total, n_m, rng) for total in spare], axis=1)
    return with_capacity(cluster, load + free), machine_of


def _dealt(total: int, n_m: int, rng: Rng) -> np.ndarray:
    """(machine,) so much free room, unevenly: many machines have none."""
    return np.bincount(rng.choice(n_m, total, p=rng.dirichlet(np.full(n_m, 0.3))), minlength=n_m)


@dataclass
class _Walk:
    """A random walk of safe steps; each item moves at most once."""

    filled: tuple[Cluster, np.ndarray]
    rng: Rng
    with_rules: bool
    batches: list[tuple[Step, ...]] = field(default_factory=list)
    moved: int = 0

    def __post_init__(self) -> None:
        self.cluster, self.start = self.filled
        self.at = self.start.copy()
        self.free = self.cluster.machines.capacity - load_of(self.cluster, self.at)
        self.waits = self.with_rules and self.rng.random() < 0.3  # is memory transient?
        self.units = self._units() if self.with_rules and self.rng.random() < 0.3 else []
        inside = {c for unit in self.units for c in unit}
        self.items = [*self.units, *((c,) for c in range(len(self.at)) if c not in inside)]
        self.request = self.cluster.request_of(np.arange(len(self.at)))
        self.workload = self.cluster.containers.workload
        replicas = self.cluster.replicas
        self.may_be_down = replicas - np.ceil(0.75 * replicas - 1e-9).astype(int)  # (workload,)
        self.surged: set[int] = set()  # workloads
        self.replaced: set[int] = set()
        self.left = [self.items[i] for i in self.rng.permutation(len(self.items))]

    def _units(self) -> list[tuple[int, ...]]:
        """Pairs that stand together at the start."""
        found = []
        for m in self.rng.permutation(len(self.cluster.machines.name))[: 1 + len(self.cluster.machines.name) // 4]:
            here = self.rng.permutation(np.flatnonzero(self.start == m))[:2]
            if len(here) == 2:
                found.append(tuple(sorted(int(c) for c in here)))
        return found

    def go(self, wanted: int) -> None:
        failed = 0
        while failed < TRIES and self.moved < wanted and self.left:
            kept = self.at.copy(), self.free.copy(), len(self.batches), list(self.left), set(self.surged), set(self.replaced)
            done = self._round()
            if done is None:
                self.at, self.free, length, self.left, self.surged, self.replaced = kept
                del self.batches[length:]
                self.left.append(self.left.pop(0))
                failed += 1
            else:
                self.moved += done
                failed = 0

    def _round(self) -> int | None:
        """A few items go down, one may surge in between, all come up elsewhere; None if one of them finds no room."""
        down, surged = [], 0
        for _ in range(1 if self.waits else int(self.rng.integers(1, 6))):  # both machines are charged while one is down
            item = self._next(down)
            if item is not None:
                self._delete(item)
                down.append(item)
        if not down or (self.rng.random() < 0.5 and not self.waits):
            surged = self._surge()
        for item in sorted(down, key=lambda item: -self._size(item)[0] + self.rng.random()):
            target = self._room_for(item)
            if target is None:
                return None
            self._create(item, target)
            if self.waits:
                self.free[self.start[item[0]], 1] += self._size(item)[1]
        return sum(map(len, down)) + surged or None

    def _next(self, down: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        """The next item that may be deleted while `down` are."""
        away = np.bincount([self.workload[c] for item in down for c in item], minlength=len(self.may_be_down))
        for item in self.left[:20]:
            mine = np.bincount(self.workload[list(item)], minlength=len(self.may_be_down))
            if (away + mine <= self.may_be_down)[mine > 0].all():
                self.left.remove(item)
                self.replaced.update(self.workload[list(item)].tolist())
                return item
        return None

    def _surge(self) -> int:
        """Move one item that is too small to be down, if there is room: how many containers that are."""
        for item in self.left[:10]:
            target = self._room_for(item)
            if target is not None and (self.may_be_down[self.workload[list(item)]] == 0).any():
                self.left.remove(item)
                self.surged.update(self.workload[list(item)].tolist())
                old = self.at[item[0]]
                self._create(item, target)
                self.batches.append(tuple(Step(Action.DELETE, c, int(old)) for c in item))
                self.free[old] += self._size(item)
                return len(item)
        return 0

    def _size(self, item: tuple[int, ...]) -> np.ndarray:
        return self.request[list(item)].sum(axis=0)

    def _room_for(self, item: tuple[int, ...]) -> int | None:
        fits = (self.free >= self._size(item)).all(axis=1)
        fits[self.start[item[0]]] = False
        return int(self.rng.choice(np.flatnonzero(fits))) if fits.any() else None

    def _delete(self, item: tuple[int, ...]) -> None:
        old = int(self.at[item[0]])
        self.batches.append(tuple(Step(Action.DELETE, c, old) for c in item))
        freed = self._size(item)
        self.free[old] += np.array([freed[0], 0 if self.waits else freed[1]])

    def _create(self, item: tuple[int, ...], target: int) -> None:
        self.batches.append(tuple(Step(Action.CREATE, c, target) for c in item))
        self.free[target] -= self._size(item)
        self.at[list(item)] = target

    def migration(self) -> Migration:
        cluster, start = self.cluster, Running.of(Placement(machine_of=self.start))
        if self.with_rules:
            cluster = ruled(cluster, list(_high_and_low(start, self.batches)), self.start == self.at, self.units, self.rng)
            others = tuple(rule for rule in cluster.rules if not isinstance(rule, Transient))
            waits = (Transient(resource=1, mode=TransientMode.SEQUENTIAL),) if self.waits else ()
            cluster = replace(cluster, rules=(*others, *waits))
        cluster = replace(cluster, rules=(Capacity(resources=(0, 1)), *cluster.rules))
        return Migration(
            cluster=cluster, start=start, target=Placement(machine_of=self.at), policy=MigrationPolicy(way=self._ways())
        )

    def _ways(self) -> tuple[Way, ...]:
        """AUTO for most; a few workloads are told to move as they did."""
        told = self.rng.random(len(self.may_be_down)) < (0.15 if self.with_rules else 0.0)
        only = dict.fromkeys(self.surged - self.replaced, Way.SURGE) | dict.fromkeys(self.replaced - self.surged, Way.REPLACE)
        return tuple(only.get(w, Way.AUTO) if tell else Way.AUTO for w, tell in enumerate(told)) if told.any() else ()


def _high_and_low(start: Running, batches: list[tuple[Step, ...]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What runs at most and at least in each batch, of which each only creates or only deletes; the start comes first."""
    running = start
    before = running.pairs()
    yield before, before
    for batch in batches:
        running = running.after(Plan(batches=(batch,)))
        after = running.pairs()
        yield (after, before) if batch[0].action == Action.CREATE else (before, after)
        before = after
