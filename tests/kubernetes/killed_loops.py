"""A loop on a real cluster that is killed just before or after any of its requests to the API server: a real SIGKILL."""

import os
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.shops import Shop
from tests.kubernetes.waiting import wait_until
from tests.kubernetes.watcher import Watcher

import bayplan as bp
from bayplan.kubernetes.client import Client
from bayplan.model import Budget
from bayplan.model.record import PlanStatus, StepStatus
from bayplan.operate.apply import apply
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.settings import LoopSettings
from bayplan.operate.store import Store

REQUESTS, CHANGES = 150, 40  # of one life, at most: a turn takes about as many requests, and as many that change something
MOVED = 2  # replicas of each service, by one plan
DRAWS = 20  # of a plan, until one can be carried out
LIVES = 5  # killed, before one runs undisturbed
SETTINGS = LoopSettings(
    mode="auto",
    way="replace",
    budget=Budget(iterations=300),
    threads=1,
    min_gain=0.0,
    max_moves="25%",
    moves_per_hour="100000",
    moves_per_day="100000",
    cooldown=0.0,
    young=0.0,
    settle=0.0,
    step_timeout=60.0,
    patience=60.0,
)
FIELDS = ("kill", "requests", "place", "plan", "steps", "begun", "gated", "wrong")


@dataclass(kw_only=True)
class KilledLoops:
    """One cluster, one record, and the processes that are killed on it."""

    shop: Shop
    connect: Callable[[], Client]
    record: Path
    watcher: Watcher
    size: int  # pods
    draw: random.Random = field(default_factory=lambda: random.Random(0))

    def rows(self, count: int) -> Iterator[tuple[object, ...]]:
        """Kill as many; after every few a loop runs undisturbed to its end, and all must be well. One row per kill."""
        killed = 0
        while killed < count:
            seed = self.draw.random()
            self._live(lambda context, seed=seed: _write_plan(context, self.plan, seed))
            rows: list[tuple[object, ...]] = []
            while len(rows) < min(LIVES, count - killed) and (row := self._killed(killed + len(rows))) is not None:
                rows.append(row)
            killed += len(rows)
            self._live(_finish)
            wrong = "; ".join(self.faults())[:500]
            if wrong and not rows:
                rows = [(killed, "", "undisturbed", "", "", "", "")]
            for row in rows[:-1]:
                yield *row, ""
            if rows:
                yield *rows[-1], wrong

    @property
    def plan(self) -> Path:
        """The file of the plan that is carried out."""
        return self.record.with_suffix(".plan.json")

    def _killed(self, number: int) -> tuple[object, ...] | None:
        """The row of a process that was killed; None if it came to its end before."""
        changes, early = self.draw.random() < 0.5, self.draw.random() < 0.5
        requests = self.draw.randint(1, CHANGES if changes else REQUESTS)
        marker = self.record.with_suffix(".place")
        marker.write_text("", encoding="utf-8")
        self._live(lambda context: _interrupted(context, self.plan, Moment(requests, changes, early, marker)))
        place = marker.read_text(encoding="utf-8")
        with Store.open(str(self.record)) as store:
            plan = store.open_plan()
            steps = store.steps(plan.id) if plan is not None else []
        begun = sum(step.status is StepStatus.BEGUN for step in steps)
        status = str(plan.status) if plan is not None else ""
        return (number, requests, place, status, len(steps), begun, len(self.watcher.gated)) if place else None

    def _live(self, act: Callable[[LoopContext], None]) -> None:
        """One process, from its start to its end; it shares nothing with this one but the cluster and the record."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.shop.client = self.connect()
                context = replace_context(self.shop, Store.open(str(self.record)))
                act(context)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert killed or os.waitstatus_to_exitcode(status) == 0, f"a loop ended with {status}"

    def faults(self) -> list[str]:
        """What is wrong when a loop has come to its end."""
        faults = [f"violation: {text}" for text in self.watcher.violations]
        self.watcher.violations.clear()
        with Store.open(str(self.record)) as store:
            plan = store.open_plan()
            faults += [f"plan {plan.id} is still {plan.status}"] if plan is not None else []
            faults += list(_record_faults(store, self.shop))
        try:
            self.shop.wait_ready(self.size, 60.0)
            wait_until(lambda: not self.watcher.gated, "no pod that waits", seconds=10.0)
        except AssertionError as error:
            faults.append(str(error)[:200])
        faults += [f"left behind: {path}" for path in cluster_wide_objects(self.shop.client) if "bayplan" in path]
        return faults


def replace_context(shop: Shop, store: Store) -> LoopContext:
    """A process that may act: all that are killed have one name, so none waits for the lease of the one before."""
    context = replace(shop, store=store).context()
    context.settings, context.holder = SETTINGS, "killed"
    return context


def _record_faults(store: Store, shop: Shop) -> Iterator[str]:
    """Where the last plan's record and the cluster differ: what it says to be made must have been."""
    there = {pod["metadata"]["uid"]: pod["spec"].get("nodeName") for pod in shop.pods()}
    tokens = [pod["metadata"].get("annotations", {}).get("bayplan.io/step") for pod in shop.pods()]
    for token in {token for token in tokens if token and tokens.count(token) > 1}:
        yield f"step {token} was made {tokens.count(token)} times"
    for plan in store.plans(last=1):
        for step in store.steps(plan.id):
            if step.status is StepStatus.BEGUN:
                yield f"step {step.token} has no outcome"
            made_here = step.action == "create" and step.status is StepStatus.DONE and step.new_uid in there
            if made_here and there[step.new_uid] != step.machine:
                yield f"step {step.token} was not made on {step.machine}"
        if plan.status in (PlanStatus.EXECUTING, PlanStatus.SETTLING) or not plan.why:
            yield f"plan {plan.id} has no last word"


class Moment(NamedTuple):
    """When a process is killed."""

    requests: int  # how many it makes before
    changes: bool  # are only those counted that change something?
    early: bool  # before the last of them, or after it?
    marker: Path  # where it is written which one that was


def _interrupted(context: LoopContext, plan: Path, moment: Moment) -> None:
    """Carry out a plan, or go on with it, until the moment has come."""
    send, left = Client._send, [moment.requests]

    def counted(self: Client, method: str, path: str, *rest: Any, **more: Any) -> Any:
        left[0] -= not moment.changes or method != "GET"
        if left[0] > 0:
            return send(self, method, path, *rest, **more)
        if not moment.early:
            send(self, method, path, *rest, **more)
        moment.marker.write_text(f"{'before' if moment.early else 'after'} {method} {_kind(path)}", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("this process is dead")

    Client._send = counted  # type: ignore[method-assign]
    if context.store.open_plan() is None:
        apply(context, str(plan), yes=True)
    else:
        Loop(context).turn()


def _write_plan(context: LoopContext, file: Path, seed: float) -> None:
    """A plan that moves two replicas of each service to other nodes of their zone."""
    snapshot, draw = context.orchestrator.observe().snapshot, random.Random(seed)
    for _ in range(DRAWS):
        target = bp.Placement(machine_of=_drawn_target(snapshot, draw))
        answer = bp.migrate(snapshot, target, way="replace", alive=SETTINGS.alive, seconds=20)
        if answer.complete:
            answer.save(file)
            return
    raise AssertionError(f"no plan: {answer.headline}")


def _drawn_target(snapshot: bp.Snapshot, draw: random.Random) -> Any:
    """Nodes of the same zone that have no replica of the service; what is pinned stays."""
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of.copy()
    zone_of, owner = next(level.group_of for level in cluster.levels if "zone" in level.name), cluster.containers.workload
    pinned = {c for rule in cluster.rules if isinstance(rule, bp.Pinned) for c in rule.containers}
    for w in range(len(cluster.workloads.name)):
        mine = [c for c in range(len(owner)) if owner[c] == w]
        movable = [c for c in mine if c not in pinned]
        for c in draw.sample(movable, min(MOVED, len(movable))):
            taken = {int(machine_of[other]) for other in mine} | {int(snapshot.placement.machine_of[other]) for other in mine}
            free = [m for m in range(len(zone_of)) if zone_of[m] == zone_of[machine_of[c]] and m not in taken]
            machine_of[c] = draw.choice(free) if free else machine_of[c]
    return machine_of


def _kind(path: str) -> str:
    """What a request is about: 'pods', 'eviction', 'mutatingadmissionpolicies'."""
    return next((part for part in reversed(path.split("/")) if part in ("eviction", "status") or part.endswith("s")), path)


def _finish(context: LoopContext) -> None:
    """Undisturbed, until no plan is open."""
    for _ in range(5):
        Loop(context).turn()
        if context.store.open_plan() is None:
            return
