"""`run`: the loop on a cluster, real or simulated, and what it did."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bayplan.api.answer import PathLike
from bayplan.api.warm_up import warm_up_methods
from bayplan.check.operation import OperationReferee
from bayplan.errors import expect_one_of
from bayplan.model import Budget, Progress, Snapshot, silent
from bayplan.model.record import Event, History
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import POLL, Loop
from bayplan.operate.orchestrator import Orchestrator
from bayplan.operate.settings import DAY, LoopSettings, Mode
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.operate.simulated.settings import CHURN, preset
from bayplan.operate.simulated.watched import watched
from bayplan.operate.store import Store
from bayplan.report.table import Report, Sentence, report
from bayplan.words import count

QUICK = (  # containers, and the budget of a simulated turn's plan up to that number; seconds only end what has no order
    (500, Budget(iterations=20_000, seconds=0.5)),
    (5_000, Budget(iterations=300_000, seconds=20.0)),
    (math.inf, Budget(iterations=1_000_000, seconds=60.0)),
)
KERNELS = (  # methods that a loop and a simulated cluster may need
    ("generate", "rasa-m3"),  # whose scheduler is the simulated orchestrator's
    ("place", "ca-wfd"),
    ("rebalance", "search"),
    ("collocate", "best"),
    ("collocate", "best, in counts"),
    ("collocate", "best, by search"),
    ("search", "repair"),
    ("migrate", "waves"),
)
SHOWN = 3  # violations in one sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunAnswer:
    """What a loop did, from its record."""

    history: History
    name: str  # of the cluster
    turns: int
    referee: OperationReferee | None = None  # of a simulated cluster: it has seen every instant

    @property
    def safe(self) -> bool:
        """Did nothing that the loop did violate a rule, the alive share or a limit of disruption, as far as a referee watched?"""
        return self.referee is None or not self.referee.violations

    @property
    def headline(self) -> str:
        """What it came to, in one sentence."""
        from bayplan.report.history import history_headline

        watched_ = (
            "" if self.referee is None else f"; {'no' if self.safe else len(self.referee.violations)} violations because of it"
        )
        return f"{history_headline(self.history)}{watched_}."

    def story(self) -> Report:
        """Day by day, in sentences."""
        from bayplan.report.history import history_story

        return history_story(self.history) + report(*self._watched())

    def content(self) -> Report:
        """The story in figures and tables."""
        from bayplan.report.history import history_report

        return history_report(self.history) + report(*self._watched())

    def summary(self) -> str:
        """The story in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.story())

    def _watched(self) -> list[Sentence]:
        if self.referee is None:
            return []
        seen = f"The referee saw {count(self.referee.seen, 'instant')}"
        if self.safe:
            return [Sentence(f"{seen}: no rule, alive share or limit of disruption was violated because of the loop.", "good")]
        first = "; ".join(map(str, self.referee.violations[:SHOWN]))
        return [Sentence(f"{seen}: {count(len(self.referee.violations), 'violation')} because of the loop: {first}", "bad")]

    def to_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        from bayplan.report.history import history_details
        from bayplan.report.json import plain

        watched_: Mapping[str, Any] = {}
        if self.referee is not None:
            watched_ = {"instants": self.referee.seen, "violations": [str(each) for each in self.referee.violations]}
        answer: dict[str, Any] = plain(
            {"cluster": self.name, "safe": self.safe, **history_details(self.history), "referee": watched_}
        )
        return answer

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: affinity, hottest machine, moves, gates and rollbacks over time."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.history import history_page
        from bayplan.report.page import how_made

        write_text_atomically(path, history_page(self.history, title=self.name, made=how_made(command)))

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content(), headline=self.headline)


def run(
    cluster: Snapshot | Orchestrator,
    *,
    days: float | None = None,
    turns: float = math.inf,
    settings: LoopSettings | None = None,
    store: str | Store = ":memory:",
    churn: str = "calm",
    tell: Callable[[Event], None] = lambda event: None,
    stop: Callable[[], bool] = lambda: False,
    progress: Progress = silent,
) -> RunAnswer:
    """Run the loop: every half hour observe, plan, gate, execute, verify, and roll back what turned out badly.

    A snapshot is simulated, in virtual time: a default scheduler, rollouts, autoscaling, drifting traffic, machines that come and
    go, while a referee watches every instant. An orchestrator is acted on as `settings.mode` says.

    - `days`, `turns`: how long; of a simulation two days where nothing is said;
    - `settings`: a `LoopSettings`; a simulation is carried out (`auto`) and plans quickly where nothing is said;
    - `store`: the path or address of the record, or an open one;
    - `churn`: what happens to a simulated cluster by itself: "quiet", "calm" or "busy".

    >>> import bayplan as bp
    >>> answer = bp.run(bp.generate("boutique"), turns=1, churn="quiet")
    >>> answer.safe, answer.turns
    (True, 1)
    """
    compile_kernels(progress)
    record = Store.open(store) if isinstance(store, str) else store
    orchestrator, chosen, referee = _opened(cluster, settings, churn)
    context = LoopContext(orchestrator=orchestrator, store=record, settings=chosen, tell=tell, progress=progress, stop=stop)
    simulated = referee is not None
    length = days if days is not None else 2.0 if simulated and turns == math.inf else math.inf
    loop = Loop(context, poll=chosen.every if simulated and chosen.mode is Mode.AUTO else POLL)
    name = cluster.cluster.name if isinstance(cluster, Snapshot) else "cluster"
    try:
        made = loop.run(until=context.now() + length * DAY, turns=turns)
        return RunAnswer(history=record.history(), name=name, turns=made, referee=referee)
    finally:
        if record is not store:
            record.close()


def compile_kernels(progress: Progress = silent) -> None:
    """Compile what a loop needs and what is not compiled yet, so that no turn waits for it."""
    warm_up_methods(KERNELS, progress)


def opened_context(cluster: Snapshot | Orchestrator, settings: LoopSettings, store: str) -> LoopContext:
    """A process that may act on a cluster; a snapshot is simulated, and nothing happens to it by itself."""
    orchestrator = SimulatedOrchestrator(cluster) if isinstance(cluster, Snapshot) else cluster
    return LoopContext(orchestrator=orchestrator, store=Store.open(store), settings=settings)


def _opened(
    cluster: Snapshot | Orchestrator, settings: LoopSettings | None, churn: str
) -> tuple[Orchestrator, LoopSettings, OperationReferee | None]:
    if not isinstance(cluster, Snapshot):
        return cluster, settings or LoopSettings(), None
    expect_one_of(churn, CHURN, "churn")
    chosen = settings or simulated_settings(cluster)
    orchestrator = SimulatedOrchestrator(cluster, settings=preset(churn), seed=chosen.seed)
    return orchestrator, chosen, watched(orchestrator, chosen.alive)


def simulated_settings(snapshot: Snapshot, settings: LoopSettings | None = None) -> LoopSettings:
    """Settings for a simulation: plans are carried out, and are made quickly; a minute passes while one is made.

    They are limited by iterations, not by seconds, so that the same seed tells the same story.
    """
    containers = len(snapshot.cluster.containers.name)
    budget = next(budget for most, budget in QUICK if containers <= most)
    return replace(settings or LoopSettings(), mode=Mode.AUTO, budget=budget, planning_takes=60.0)
