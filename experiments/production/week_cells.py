"""One cell: a cluster in virtual time, looked at every half hour, with a loop or with its default scheduler alone."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import bayplan as bp
from bayplan.generate import GENERATORS
from bayplan.model import Snapshot
from bayplan.model.record import PlanStatus, Turn
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.orchestrator import Observation
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import SimulatedOrchestrator, preset
from bayplan.operate.simulated.watched import watched
from bayplan.operate.stages.observe import with_figures
from bayplan.operate.store import Store
from bayplan.score.affinity import gained_affinity
from experiments.combined.clusters import snapshot_of
from experiments.production.week_settings import ALONE, EVERY, FRESH, FRESH_EVERY, M1, SECONDS, TINY, VARIANTS, Cell

CHURN = "calm"
TURN = ("turn", "local", "fullest", "hot", "unplaced", "containers", "moves", "moved", "gain", "verdict", "why", "held")
MEASURES = (*TURN, "took", "cpu", "fresh", "fresh_moved")
ENDS = ("executions", "rolled_back", "stopped", "violations", "cpu", "wall")
LONG = 160  # letters of a reason


def cluster_of(name: str) -> Snapshot:
    """M3 as published, the demo shop, or a generated cluster."""
    if name in (TINY, M1) or not name.startswith("rasa"):
        return snapshot_of(name)
    made = GENERATORS[name].make(seed=0)
    assert isinstance(made, Snapshot)
    return made


def simulated(cell: Cell, note: Callable[[dict[str, str]], None]) -> dict[str, str]:
    """What the plans of a cell came to; every turn is noted as soon as it is over."""
    began, used = time.monotonic(), time.process_time()
    orchestrator = SimulatedOrchestrator(cluster_of(cell.cluster), settings=preset(CHURN), seed=cell.seed)
    referee = watched(orchestrator)
    store = Store.open(":memory:")
    executions = 0
    for turn in _alone(cell, orchestrator) if cell.variant == ALONE else _looped(cell, orchestrator, store):
        executions += int(turn["moved"]) > 0
        note(turn)
    plans = store.plans()
    end = {
        "executions": executions,
        "rolled_back": sum(plan.status is PlanStatus.ROLLED_BACK for plan in plans),
        "stopped": sum(plan.status is PlanStatus.STOPPED for plan in plans),
        "violations": len(referee.violations),
        "cpu": f"{time.process_time() - used:.0f}",
        "wall": f"{time.monotonic() - began:.0f}",
    }
    return {name: str(end[name]) for name in ENDS}


def _alone(cell: Cell, orchestrator: SimulatedOrchestrator) -> Iterator[dict[str, str]]:
    for number in range(cell.turns):
        observation = orchestrator.observe()
        turn = with_figures(Turn(id=number, started=observation.at, mode="none"), observation)
        yield _row(number, turn)
        orchestrator.wait(EVERY)


def _looped(cell: Cell, orchestrator: SimulatedOrchestrator, store: Store) -> Iterator[dict[str, str]]:
    context = LoopContext(orchestrator=orchestrator, store=store, settings=loop_settings(cell))
    loop = Loop(context)
    due = orchestrator.now()
    for number in range(cell.turns):
        fresh = _fresh(cell, orchestrator.observe()) if number % FRESH_EVERY == 0 or number == cell.turns - 1 else {}
        began, used = orchestrator.now(), time.process_time()
        turn = loop.turn()
        assert turn is not None
        cpu = time.process_time() - used
        held = len(store.holds(orchestrator.now()))
        yield _row(number, turn, held=held, took=orchestrator.now() - began, cpu=cpu, **fresh)
        due = max(due + EVERY, orchestrator.now())
        orchestrator.wait(due - orchestrator.now())


def loop_settings(cell: Cell) -> LoopSettings:
    """The defaults, but for what the variant changes; plans are carried out, and a minute passes while one is made."""
    usual = LoopSettings(mode="auto", seconds=SECONDS[cell.cluster], threads=1, planning_takes=60.0, seed=cell.seed)
    return replace(usual, **{"cooldown_of": "container", **VARIANTS[cell.variant]})  # by default it is of workloads


def _fresh(cell: Cell, observation: Observation) -> dict[str, Any]:
    """What an optimisation of this instant would reach if all moves were free, and how many it would make."""
    answer = bp.collocate(observation.snapshot, seconds=FRESH[cell.cluster], seed=cell.seed, threads=1, engine="here")
    local = gained_affinity(observation.snapshot.cluster, answer.placement)
    return {"fresh": local, "fresh_moved": answer.moved}


def _row(number: int, turn: Turn, **more: Any) -> dict[str, str]:
    """A turn in the columns of `MEASURES`."""
    values: dict[str, Any] = {name: getattr(turn, name) for name in TURN if name not in ("turn", "held", "why", "verdict")}
    values |= {"turn": number, "verdict": "" if turn.verdict == "running" else str(turn.verdict), "why": turn.why[:LONG], **more}
    return {name: _text(values.get(name)) for name in MEASURES}


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float | np.floating) else " ".join(str(value).split())
