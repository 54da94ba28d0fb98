"""The answer of `plan`: what moves and why, what that gains at what price, in which order, and what to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import PathLike
from bayplan.api.migrate import MigrationAnswer
from bayplan.api.placement import PlacementAnswer
from bayplan.model import Plan, Reason, Snapshot
from bayplan.model.goal import Goal
from bayplan.model.plan import fingerprint
from bayplan.report.answers.plan_words import PlanFacts, PlanFigures, headline, plan_content, plan_details
from bayplan.report.change_page import FrontPoint, MoveNote
from bayplan.score.goal.objective import third_rank
from bayplan.score.performance import PerformanceChange

if TYPE_CHECKING:
    from bayplan.report.table import Report


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanAnswer(PlacementAnswer):
    """What moves, why, and in which order. `snapshot` is the cluster as the question changes it, `now` as it is."""

    now: Snapshot
    wanted: Goal
    migration: MigrationAnswer
    figures: PlanFigures
    reasons: tuple[MoveNote, ...] = ()  # one for each container that moves
    replaced: tuple[Reason, ...] = ()  # moves that could not be ordered, and why
    dropped: int = 0  # moves that gained less than they cost
    emptied: tuple[str, ...] = ()  # machines that run nothing afterwards and ran something
    drained: tuple[str, ...] = ()  # machines that had to be emptied
    front: tuple[FrontPoint, ...] = ()
    min_gain: float = 0.0
    most_local: float | None = None  # no plan of as many moves keeps more traffic on one machine, proven
    performance: PerformanceChange | None = None  # of requests before and after, by a model; None without traffic
    whole_gain: float | None = None  # what all moves to the target gain, where the plan is a part of the way
    changes: tuple[str, ...] = ()  # what the question changes, in words
    hypothetical: bool = False  # does the plan start from a state that only the question has?

    @property
    def state(self) -> Snapshot:
        """The state that the plan starts from: the real one, unless the question has other machines or containers."""
        return self.snapshot if self.hypothetical else self.now

    @property
    def plan(self) -> Plan:
        """The batches of steps."""
        plan = self.migration.plan
        return Plan(batches=()) if plan is None else plan

    @property
    def duration(self) -> float:
        """About how many seconds the plan takes."""
        return self.migration.duration or 0.0

    @property
    def least_alive(self) -> float:
        """The smallest share of any workload that runs at any time."""
        return float(self.migration.score.get("alive", 1.0))

    @property
    def gain(self) -> float:
        """What the plan gains in the third rank, less the price of its moves: a sum of weighted shares."""
        cluster, objective, before = self.snapshot.cluster, self.snapshot.objective, self.snapshot.placement
        return third_rank(cluster, before, objective, before) - third_rank(cluster, self.placement, objective, before)

    @property
    def urgent(self) -> bool:
        """Does it repair rules, empty machines, place containers or take load off hot machines?"""
        before, after = self.figures.before, self.figures.after
        better = after.violated < before.violated or after.unplaced < before.unplaced or after.overload < before.overload
        return better or bool(self.drained) or (self.wanted.empty_machines and bool(self.emptied))

    @property
    def worth_it(self) -> bool:
        """Is it urgent, or does it gain as much as was asked for?"""
        return self.urgent or self.gain >= self.min_gain

    @property
    def facts(self) -> PlanFacts:
        """All that there is to say about it."""
        return PlanFacts(
            snapshot=self.snapshot,
            after=self.placement,
            goal=self.wanted,
            plan=self.plan,
            figures=self.figures,
            moves=self.reasons,
            placed=self.placed,
            duration=self.duration,
            least_alive=self.least_alive,
            gain=self.gain,
            min_gain=self.min_gain,
            worth_it=self.worth_it,
            changes=self.changes,
            emptied=self.emptied,
            drained=self.drained,
            dropped=self.dropped,
            replaced=self.replaced,
            left_out=self.left_out,
            still_violated=self.still_violated,
            notes=self.result.notes,
            most_local=self.most_local,
            performance=self.performance,
            front=self.front,
        )

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return headline(self.facts)

    def content(self) -> "Report":
        """What was gained, the moves, what to know, and the goal."""
        return plan_content(self.facts)

    def details(self) -> Mapping[str, Any]:
        """The goal, the figures before and after, each move with its gains, the front."""
        return plan_details(self.facts)

    def save(self, path: PathLike) -> None:
        """Write the plan: its batches, the state that it was made for, and why each container moves."""
        from bayplan.formats import write_plan
        from bayplan.report.json import plain

        details = plan_details(self.facts)
        extra = {"goal": self.wanted.name, "summary": [self.headline, *details["sentences"]], "moves": details["reasons"]}
        plan = replace(self.plan, made_for=fingerprint(self.state.cluster, self.state.placement))
        write_plan(path, plan, self.snapshot.cluster, self.migration.request.new, extra=plain(extra))

    def save_placement(self, path: PathLike) -> None:
        """Write where everything runs afterwards, in the form of the input."""
        from bayplan.formats import write_solution

        write_solution(path, self.snapshot, self.placement)

    def save_rollback(self, path: PathLike) -> None:
        """Write the plan that leads back."""
        self.migration.save_rollback(path)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page to look at, search and replay the plan."""
        from bayplan.api.planning.page import write_plan_page

        write_plan_page(path, self, command=command)
