"""Changes of clusters of any size with plans in batches, made by hand: rules are not looked at, pages do not either."""

from dataclasses import replace

import numpy as np

from bayplan.model import Action, Placement, Plan, Running, Snapshot, Step
from bayplan.report.change_page import Card, ChangePageData, FrontPoint, MoveNote
from bayplan.score.duration import duration

REASONS = ("load above safety", "local traffic", "balance", "makes room")


def change_of(snapshot: Snapshot, moves: int, *, per_batch: int = 100, seed: int = 0) -> ChangePageData:
    """Random containers go to random machines: created in one batch, deleted where they ran in the next."""
    rng = np.random.default_rng(seed)
    before, machines = snapshot.placement.machine_of, len(snapshot.cluster.machines.name)
    moved = rng.choice(np.flatnonzero(before >= 0), moves, replace=False)
    after = before.copy()
    after[moved] = (before[moved] + 1 + rng.integers(0, machines - 1, moves)) % machines
    batches: list[tuple[Step, ...]] = []
    for first in range(0, moves, per_batch):
        part = moved[first : first + per_batch].tolist()
        batches.append(tuple(Step(Action.CREATE, c, int(after[c])) for c in part))
        batches.append(tuple(Step(Action.DELETE, c, int(before[c])) for c in part))
    plan = Plan(batches=tuple(batches))
    return ChangePageData(
        snapshot=snapshot,
        after=Placement(machine_of=after),
        headline=f"{moves:,} containers move, and 12 % more traffic is local",
        plan=plan,
        timetable=duration(snapshot.cluster, Running.of(snapshot.placement), plan),
    )


def with_notes(data: ChangePageData) -> ChangePageData:
    """The same change with everything that a page can show."""
    before, after, cluster = data.snapshot.placement.machine_of, data.after.machine_of, data.snapshot.cluster
    moved = np.flatnonzero(before != after).tolist()
    notes = tuple(
        MoveNote(
            container=c,
            source=int(before[c]),
            target=int(after[c]),
            gain={"load above safety": 0.1 / (k + 1), "local traffic": 0.01 * (c % 5 - 1)},
            net=0.08 / (k + 1),
            why=f"{cluster.containers.name[c]} leaves a machine above safety (96 % -> 79 %)",
            reason=REASONS[c % len(REASONS)],
        )
        for k, c in enumerate(moved)
    )
    front = tuple(
        FrontPoint(moved=k, share=k / 100, gain=1 - (1 - k / 10) ** 2, figures={"local traffic": f"{k} %"}, chosen=k == 7)
        for k in range(11)
    )
    cards = (
        Card(label="machines above safety", before="4", after="0", verdict="better"),
        Card(label="imbalance", before="0.034", after="0.041", verdict="worse"),
        Card(label="takes about", before="", after="2 min"),
    )
    return replace(
        data,
        moves=notes,
        front=front,
        cards=cards,
        details=("At least 75 % of every workload runs at any time.",),
        warnings=("one container has no machine",),
        made={"command": "bayplan plan shop.yaml --max-moves 10%"},
    )
