"""The answer of verbs that decide where containers run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import Answer, Move, PathLike
from bayplan.model import UNPLACED, Placement, Result, Snapshot
from bayplan.model.problem import Problem

if TYPE_CHECKING:
    from bayplan.api.control import Control
    from bayplan.report.table import Report

EACH_CONTAINER = 5e-6  # seconds to referee, score and write it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementAnswer(Answer[Placement]):
    """Where containers run, and which of them had to move for that."""

    snapshot: Snapshot  # the input

    @property
    def after(self) -> Snapshot:
        """The snapshot as the answer leaves it; as it was, if there is no answer."""
        placement = self.result.solution
        return self.snapshot if placement is None else replace(self.snapshot, placement=placement)

    @property
    def placement(self) -> Placement:
        """Where everything runs now."""
        return self.after.placement

    @property
    def placed(self) -> int:
        """How many containers that had no machine got one."""
        before, after = self.snapshot.placement.machine_of, self.placement.machine_of
        return int(((before == UNPLACED) & (after != UNPLACED)).sum())

    @property
    def unplaced(self) -> int:
        """How many containers have no machine."""
        return len(self.placement.unplaced)

    @property
    def moved(self) -> int:
        """How many containers change machines."""
        return len(self.placement.moved_from(self.snapshot.placement))

    @property
    def moved_share(self) -> float:
        """Of the containers that ran."""
        return self.moved / max(1, len(self.snapshot.placement.placed))

    @property
    def moves(self) -> Sequence[Move]:
        """The containers that change machines; replicas are interchangeable, so as few as possible."""
        cluster, before, after = self.snapshot.cluster, self.snapshot.placement, self.placement
        container, machine = cluster.containers.name, cluster.machines.name
        return tuple(
            Move(container[c], machine[before.machine_of[c]], machine[after.machine_of[c]] if after.machine_of[c] >= 0 else "")
            for c in after.moved_from(before).tolist()
        )

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.decision_tables import placement_headline

        return placement_headline(self.snapshot, self.after.placement, self.result, self.before)

    def content(self) -> "Report":
        """How it ended, the scores before and after, the moves, what is left out and what stays violated."""
        from bayplan.report.answers.decision_tables import decision_report, frame, move_table
        from bayplan.report.table import report

        counts = [("placed", f"{self.placed:,}"), ("without a machine", f"{self.unplaced:,}")]
        facts = frame(self.result, method=self.method, seed=self.seed, wall=self.seconds, more=counts)
        return report(facts, move_table(self.moves)) + decision_report(self.result, self.before)

    def details(self) -> Mapping[str, Any]:
        """What was gained, and for what share of the containers that ran."""
        from bayplan.model import GAINS

        change = self.score.get(self.goal, 0.0) - self.before.get(self.goal, 0.0)
        gained = change if self.goal in GAINS else -change
        return {"gained": gained, "moved_share": self.moved_share, "unplaced": self.unplaced}

    def save(self, path: PathLike) -> None:
        """Write the placement in the form of its input: native, RASA or GMRP."""
        from bayplan.formats import write_solution

        if self.result.solution is not None:
            write_solution(path, self.snapshot, self.result.solution)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: before and after, side by side."""
        from bayplan.api.inspect import inspect, write_comparison

        if self.result.solution is not None:
            after = inspect(self.after, before=self.snapshot.placement)
            write_comparison(path, self.snapshot, after, command=command, headline=self.headline)


def finish_seconds(snapshot: Snapshot) -> float:
    """What it takes to referee, score and write an answer."""
    return EACH_CONTAINER * len(snapshot.cluster.containers.name)


def placement_answer(
    verb: str, method: str, snapshot: Snapshot, problem: Problem, outcome: tuple[Result[Placement], bool], control: "Control"
) -> PlacementAnswer:
    """The answer that a method's result makes; `outcome`: the result, and whether the user asked to stop."""
    result, interrupted = outcome
    return PlacementAnswer(
        verb=verb,
        method=method,
        seed=control.seed,
        result=result,
        before=scores_before(problem, result),
        seconds=control.seconds,
        interrupted=interrupted,
        input_notes=snapshot.notes,
        snapshot=replace(snapshot, objective=problem.objective),
    )


def scores_before(problem: Problem, result: Result[Placement]) -> Mapping[str, float]:
    """The scores of the start, under the same names as those of the result."""
    from bayplan.score.terms import score, weighted

    start = problem.before
    scores = dict(score(problem.cluster, start, problem.objective, start))
    if "objective" in result.score:
        scores["objective"] = weighted(problem.cluster, start, problem.objective, start)
    return {name: scores.get(name, 0.0) for name in result.score} if result.score else scores
