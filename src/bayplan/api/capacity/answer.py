"""The answer of `capacity`: every failure, what it takes down, and whether that can run elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.api.answer import PathLike
from bayplan.model import UNPLACED, Reason, Snapshot
from bayplan.model.failures import FailureOutcome

if TYPE_CHECKING:
    from bayplan.report.answers.capacity_tables import CapacityView
    from bayplan.report.table import Report

REASONS = 5  # workloads of one failure that get a reason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CapacityAnswer:
    """Which failures a cluster survives; true if it survives all of the level that was asked for."""

    snapshot: Snapshot  # the input
    survive: str  # the level that was asked for
    outcomes: tuple[FailureOutcome, ...]  # one per failure: those of the level that was asked for first
    failures: int  # how many there are; more than outcomes if the time ended
    likes: tuple[str, ...]  # machines whose copies were tried where something has no place
    tried: tuple[int, ...]  # how many of each
    may_move: bool = False
    alive: int = 1
    seconds: float = 0.0
    interrupted: bool = False
    top: int = 10  # failures in tables
    files: Mapping[str, str] = field(default_factory=dict)  # what was written, by what it is
    job_notes: tuple[str, ...] = ()  # about workers that were lost

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the input and about how the answer was made."""
        return (*self.snapshot.notes, *self.job_notes)

    @property
    def complete(self) -> bool:
        """Was every failure looked at?"""
        return len(self.outcomes) == self.failures

    @property
    def holds(self) -> bool | None:
        """Does the cluster survive every failure of the level that was asked for? None if not all of them were looked at."""
        asked = self.of_level(self.survive)
        if any(not outcome.holds for outcome in asked):
            return False
        level = self.snapshot.cluster.level(self.survive)
        return True if len(asked) == len(np.unique(level.group_of)) else None

    def __bool__(self) -> bool:
        return bool(self.holds)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of which failures were looked at, in the order of the cluster."""
        seen = {outcome.failure.level for outcome in self.outcomes}
        return tuple(level.name for level in self.snapshot.cluster.levels if level.name in seen)

    def of_level(self, level: str) -> tuple[FailureOutcome, ...]:
        """The outcomes of one level, worst first."""
        mine = (outcome for outcome in self.outcomes if outcome.failure.level == level)
        return tuple(sorted(mine, key=lambda outcome: outcome.severity, reverse=True))

    def worst(self, level: str) -> FailureOutcome:
        """The worst outcome of a level; KeyError if there is none."""
        mine = self.of_level(level)
        if not mine:
            raise KeyError(level)
        return mine[0]

    @property
    def worst_first(self) -> tuple[FailureOutcome, ...]:
        """All outcomes: those that do not hold first, of them those of the level that was asked for, worst first."""
        by_severity = sorted(self.outcomes, key=lambda outcome: outcome.severity, reverse=True)
        return tuple(sorted(by_severity, key=lambda outcome: (outcome.holds, outcome.failure.level != self.survive)))

    def after(self, outcome: FailureOutcome) -> Snapshot:
        """The snapshot as it would be after a failure: nothing runs on the failed machines."""
        machine_of = self.snapshot.placement.machine_of.copy()
        machine_of[np.isin(machine_of, outcome.failure.machines)] = UNPLACED
        machine_of[outcome.replacement.container] = outcome.replacement.machine
        return self.snapshot.placed_as(machine_of)

    def reasons(self, outcome: FailureOutcome) -> tuple[Reason, ...]:
        """Why containers have no place after a failure, one reason per workload; the first few of them."""
        from bayplan.score.explain import fit_reason

        after = self.after(outcome)
        open_machines = np.ones(len(after.cluster.machines.name), dtype=np.bool_)
        open_machines[outcome.failure.machines] = False
        owner = after.cluster.containers.workload[outcome.replacement.left_out]
        _, first = np.unique(owner, return_index=True)
        shown = outcome.replacement.left_out[np.sort(first)][:REASONS].tolist()
        return tuple(fit_reason(after.cluster, after.placement, c, open_machines) for c in shown)

    @property
    def view(self) -> "CapacityView":
        """What tables, pages and pictures show."""
        from bayplan.report.answers.capacity_tables import CapacityView

        return CapacityView(
            cluster=self.snapshot.cluster,
            survive=self.survive,
            holds=self.holds,
            outcomes=self.worst_first,
            shown=self.shown(),
            failures=self.failures,
            likes=self.likes,
            tried=self.tried,
            may_move=self.may_move,
            alive=self.alive,
            seconds=self.seconds,
        )

    @property
    def headline(self) -> str:
        """The answer in one or a few sentences: one per level."""
        from bayplan.report.answers.capacity_tables import headline

        return headline(self.view)

    def shown(self) -> tuple[FailureOutcome, ...]:
        """The outcomes that tables show: the worst ones, and at least the worst one of each level."""
        worst = self.worst_first
        first = worst[: self.top]
        missing = [level for level in self.levels if all(outcome.failure.level != level for outcome in first)]
        return (*first, *(next(outcome for outcome in worst if outcome.failure.level == level) for level in missing))

    def content(self) -> "Report":
        """The headline, the failures, worst first, and why containers have no place."""
        from bayplan.report.answers.capacity_tables import capacity_report

        return capacity_report(self.view, self._reasons_shown())

    def _reasons_shown(self) -> tuple[tuple[FailureOutcome, tuple[Reason, ...]], ...]:
        """The outcomes of the tables that leave something out, each with the reasons."""
        return tuple((outcome, self.reasons(outcome)) for outcome in self.shown() if not outcome.all_placed)

    def summary(self) -> str:
        """The same in plain text."""
        from bayplan.report.terminal import text_of

        return text_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The object that `capacity --json` prints; `docs/json.md` describes it."""
        from bayplan.report.answers.capacity_tables import failure_dict, level_dicts
        from bayplan.report.json import plain

        answer = {
            "verb": "capacity",
            "name": self.snapshot.cluster.name,
            "survive": self.survive,
            "holds": self.holds,
            "headline": self.headline,
            "may_move": self.may_move,
            "levels": level_dicts(self.view),
            "failures": [failure_dict(self.view, outcome, self.reasons(outcome)) for outcome in self.shown()],
            "looked_at": len(self.outcomes),
            "of": self.failures,
            "interrupted": self.interrupted,
            "notes": self.notes,
            "seconds": self.seconds,
            "files": self.files,
        }
        plain_answer: dict[str, Any] = plain(answer)
        return plain_answer

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: a picture of all failures, the worst of them, and the reasons."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.capacity_page import capacity_page
        from bayplan.report.page import how_made

        page = capacity_page(self.view, self._reasons_shown(), notes=self.notes, made=how_made(command))
        write_text_atomically(path, page)

    def _repr_html_(self) -> str:
        from bayplan.report.fragment import fragment

        return fragment(self.content())

    def __str__(self) -> str:
        return self.headline
