"""The loop of the demo: it goes on after a recorded week, in a process of its own, with a clock that runs fast."""

import math
import os
import time
from dataclasses import replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path

from bayplan.model import Snapshot
from bayplan.model.record import PlanStatus, RecordedPlan
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.run import compile_kernels, simulated_settings
from bayplan.operate.settings import LoopSettings, Mode
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.operate.simulated.settings import MONDAY, preset
from bayplan.operate.store import Store
from bayplan.serve.demo.paced import PacedOrchestrator
from bayplan.serve.demo.week import shop_after, unpack_week

RECORD = "loop.db"  # in the demo's folder
HEAD_START = 3 * 3600.0  # seconds of its time that pass at once, so that there is a plan that can be taken back
IDLE, ACTING = 600.0, 40.0  # of its seconds in one of a person's: between turns; while a plan waits or is carried out, or paused
PATIENCE = 15.0  # seconds of a person's time after which the demo approves a plan by itself
LOOKS = 0.5  # seconds between two pictures of the cluster
NICE = 5


class LiveLoop:
    """The loop, its paced cluster, and an approval for plans that no person has approved in time."""

    def __init__(self, store: Store, snapshot: Snapshot) -> None:
        self.store = store
        start = store.last_time() or MONDAY
        self.cluster = SimulatedOrchestrator(snapshot, settings=preset("calm"), start=start)
        self.start = self.cluster.now()
        self.proposed: tuple[str, float] = ("", 0.0)  # the plan that waits, and since when in a person's time
        self.settings = simulated_settings(snapshot)
        self.orchestrator = PacedOrchestrator(self.cluster, self.pace, self.look)
        self.context = self._context(self.settings)

    def run(self) -> None:
        """The head start, then turn after turn until the server has ended."""
        Loop(self.context).run(until=self.start + HEAD_START)
        self.context = self._context(replace(self.settings, mode=Mode.APPROVE))
        Loop(self.context).run()

    def _context(self, settings: LoopSettings) -> LoopContext:
        return LoopContext(orchestrator=self.orchestrator, store=self.store, settings=settings, stop=_is_orphan, show_every=LOOKS)

    def pace(self) -> float:
        """How many seconds of the cluster pass in one of a person's."""
        if self.cluster.now() < self.start + HEAD_START:
            return math.inf
        store = self.store
        waits = self._waiting() is not None or store.plans(PlanStatus.APPROVED, last=1) or store.paused() is not None
        return ACTING if waits or store.open_plan() is not None else IDLE

    def look(self) -> None:
        """Approve what has waited long enough, and write down where everything runs."""
        now, plan = time.monotonic(), self._waiting()
        if plan is None:
            self.proposed = ("", now)
        elif plan.id != self.proposed[0]:
            self.proposed = (plan.id, now)
        elif now - self.proposed[1] > PATIENCE and self.store.paused() is None:
            self.store.approve(plan.id, "the demo", self.cluster.now())
        if now >= self.context.shown:
            self.context.keep_observed(self.cluster.observe())

    def _waiting(self) -> RecordedPlan | None:
        return next(iter(self.store.plans(PlanStatus.PROPOSED, last=1)), None)


def run_live_loop(folder: Path, pipe: Connection) -> None:
    """What the process of the loop does; it says when its record is there."""
    os.nice(NICE)
    unpack_week(folder / RECORD)
    store = Store.open(folder / RECORD)
    live = LiveLoop(store, shop_after(store))
    pipe.send(("begun", {}))
    compile_kernels()
    live.run()


def _is_orphan() -> bool:
    """Has the server ended? Then this process has nothing left to do."""
    server = parent_process()
    return server is not None and not server.is_alive()
