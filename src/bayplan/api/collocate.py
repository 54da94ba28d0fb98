"""Collocate a cluster: ask a method, and say what is gained for which moves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bayplan.api.collocate_wishes import Question
from bayplan.api.decide import Decision, decide
from bayplan.decide.collocate.bound import affinity_bound
from bayplan.model import Budget, Clock, Placement, Progress, Reason, Result
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity

Ask = Callable[[Problem], Result[Placement]]
STAYS = "nothing moves: "  # how the note begins that says why an answer was not worth its moves
BOUNDING = 0.5  # of the seconds, for a bound, where one is asked for
ROUNDING = 1e-9  # an answer may pass its bound by so much


@dataclass(frozen=True, slots=True, kw_only=True)
class Collocation:
    """What a method made of a question."""

    decision: Decision
    before: float  # gained affinity
    after: float

    @property
    def moved_share(self) -> float:
        """Moved containers, as a share of those that ran."""
        return self.decision.moved / max(1, len(self.decision.snapshot.placement.placed))

    @property
    def left_out(self) -> tuple[Reason, ...]:
        """Why containers have no machine."""
        return self.decision.left_out

    @property
    def stays(self) -> str | None:
        """Why nothing moves; None if that needs no reason."""
        said = (note.removeprefix(STAYS) for note in self.decision.result.notes if note.startswith(STAYS))
        return next(said, None)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a method says about how it went."""
        return tuple(note for note in self.decision.result.notes if not note.startswith(STAYS))


def collocate(question: Question, ask: Ask) -> Collocation:
    """The answer of a method, in numbers. Ctrl-C asks it to stop, and its best so far counts."""
    decision = decide(question.snapshot, question.problem, ask)
    before, after = (gained_affinity(question.problem.cluster, some.placement) for some in (decision.snapshot, decision.after))
    return Collocation(decision=decision, before=before, after=after)


def shared(budget: Budget, bound: bool) -> Budget:
    """What a method may use of a budget if a bound needs its part, too."""
    return replace(budget, seconds=(1 - BOUNDING) * budget.seconds) if bound and budget.seconds is not None else budget


def with_bound(problem: Problem, result: Result[Placement], *, clock: Clock, progress: Progress) -> Result[Placement]:
    """The result with a proven bound of its affinity, as sharp as the rest of the budget allows."""
    if result.solution is None or result.bound is not None:
        return result
    whole = clock.budget.seconds
    bound = affinity_bound(problem, seconds=60.0 if whole is None else max(0.0, whole - clock.seconds), progress=progress)
    value = result.score[result.goal]
    if bound is not None and bound < value <= bound + ROUNDING:
        bound = value
    return replace(result, bound=bound, seconds=clock.seconds)


def collocate_object(collocation: Collocation) -> Mapping[str, Any]:
    """What `--json` says beyond what every decision says."""
    return {
        "before": {"affinity": collocation.before},
        "gained": collocation.after - collocation.before,
        "moved_share": collocation.moved_share,
        "nothing_moves": collocation.stays,
        "remarks": collocation.remarks,
        "unplaced": len(collocation.decision.after.placement.unplaced),
    }
