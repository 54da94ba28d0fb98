"""The answer of `plan_fleet`: one row for each cluster, their plans as files, and what was gained in all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayplan.api.answer import Answer, Move, PathLike
from bayplan.api.control import Control
from bayplan.api.fleet.cluster_jobs import ClusterPlan
from bayplan.formats.clusters import ClusterFleet
from bayplan.formats.document.text import make_folder, write_text_atomically
from bayplan.model import Reason, Result, Status
from bayplan.report.fleet.tables import (
    ClusterRow,
    ClusterStatus,
    MoveDivision,
    division_sentences,
    fleet_gain,
    fleet_gains,
    fleet_headline,
    fleet_local,
    fleet_sum,
    fleet_table,
    row_details,
)

if TYPE_CHECKING:
    from bayplan.report.table import Report

GAIN = "gain"
ERRORS = 10  # clusters without a plan that are named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FleetAnswer(Answer[tuple[ClusterPlan, ...]]):
    """The plans of the clusters of a fleet, in the order of its file."""

    fleet: ClusterFleet
    plans: tuple[ClusterPlan, ...]  # one for each cluster, whether or not it could be planned
    division: MoveDivision | None = None

    @property
    def rows(self) -> tuple[ClusterRow, ...]:
        """What the table says of each cluster."""
        return tuple(plan.row for plan in self.plans)

    @property
    def gain(self) -> float:
        """The mean gain of the clusters that were planned, each by the containers that run."""
        return fleet_gain(self.rows)

    @property
    def complete(self) -> bool:
        """Has every cluster been planned?"""
        return all(row.status.has_plan for row in self.rows)

    @property
    def worth_it(self) -> bool:
        """Is the plan of a cluster worth it?"""
        return any(row.status in (ClusterStatus.PLANNED, ClusterStatus.NO_CHANGE) for row in self.rows)

    def __getitem__(self, cluster: str) -> ClusterPlan:
        return next(plan for plan in self.plans if plan.row.name == cluster)

    @property
    def moves(self) -> Sequence[Move]:
        """All moves, with the cluster before each name: berlin/web-1."""
        return [Move(*(f"{plan.row.name}/{name}" for name in move)) for plan in self.plans for move in plan.moves]

    @property
    def moved(self) -> int:
        """How many containers change machines."""
        return sum(len(plan.moves) for plan in self.plans)

    @property
    def placed(self) -> int:
        """How many containers that had no machine get one."""
        return sum(row.placed for row in self.rows)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return fleet_headline(self.fleet.name, self.rows)

    def content(self) -> "Report":
        """What was gained, how the moves were divided, one row for each cluster, what failed."""
        from bayplan.report.table import Sentence, report, sentences

        return report(
            *(Sentence(line, "good" if self.moved else "") for line in fleet_gains(self.rows)),
            *(Sentence(line) for line in division_sentences(self.division, self.rows)),
            fleet_table(self.rows),
            *sentences(self.failures(), ERRORS, "clusters without a plan", "bad"),
            *sentences(self.result.notes, ERRORS, "notes", "warn"),
        )

    def failures(self) -> list[str]:
        """Clusters without a plan, each with its file and the reason."""
        return [f"{row.name} ('{row.file}'): {row.headline}" for row in self.rows if not row.status.has_plan]

    def details(self) -> Mapping[str, Any]:
        """The rows, what `plan` says of each cluster but for its moves, and the division."""
        return {
            "fleet": self.fleet.name,
            "gain": self.gain,
            "worth_it": self.worth_it,
            "complete": self.complete,
            "clusters": [{**row_details(plan.row), "plan": plan.details} for plan in self.plans],
            "division": self.division,
        }

    def save(self, path: PathLike) -> None:
        """Write the plan of each cluster that changes to NAME.plan.json in a folder, which is made if it is not there."""
        make_folder(path)
        for plan in self.plans:
            if plan.plan_text:
                write_text_atomically(Path(path) / f"{plan.row.name}.plan.json", plan.plan_text)

    def save_pages(self, path: PathLike) -> None:
        """Write the HTML page of each cluster to NAME.html in a folder, if pages were asked for."""
        make_folder(path)
        for plan in self.plans:
            if plan.page:
                write_text_atomically(Path(path) / f"{plan.row.name}.html", plan.page)

    def report(self, path: PathLike, *, command: str = "", pages: str = "") -> None:
        """Write one HTML page about the fleet; `pages`: the folder of the clusters' pages, from there, which it links to."""
        from bayplan.report.fleet.page import FleetPageData, fleet_page
        from bayplan.report.page import how_made

        linked = {plan.row.name: f"{pages}/{plan.row.name}.html" for plan in self.plans if plan.page and pages}
        data = FleetPageData(
            name=self.fleet.name,
            headline=self.headline,
            rows=self.rows,
            division=self.division,
            failures=tuple(self.failures()),
            pages=linked,
            notes=self.notes,
            made=how_made(command, seed=self.seed),
        )
        write_text_atomically(path, fleet_page(data))


def fleet_answer(
    fleet: ClusterFleet,
    plans: tuple[ClusterPlan, ...],
    division: MoveDivision | None,
    *,
    control: Control,
    notes: tuple[str, ...],
    goals: Sequence[str],
    stopped: bool,
) -> FleetAnswer:
    """The answer of what became of each cluster."""
    rows = [plan.row for plan in plans]
    planned = any(row.status.has_plan for row in rows)
    result = Result(
        status=Status.FEASIBLE if planned else Status.OUT_OF_BUDGET,
        solution=plans if planned else None,
        score=_scores(rows, after=True) if planned else {},
        goal=GAIN,
        still_violated=tuple(f"{plan.row.name}: {line}" for plan in plans for line in plan.still_violated),
        left_out=tuple(Reason(row.name, row.headline) for row in rows if not row.status.has_plan),
        notes=notes,
        seconds=control.seconds,
    )
    return FleetAnswer(
        verb="plan",
        method=", ".join(dict.fromkeys(goals)),
        seed=control.seed,
        result=result,
        before=_scores(rows, after=False) if planned else {},
        seconds=control.seconds,
        interrupted=stopped,
        fleet=fleet,
        plans=plans,
        division=division,
    )


def _scores(rows: Sequence[ClusterRow], *, after: bool) -> dict[str, float]:
    local = fleet_local(rows, after=after)
    counts = {figure: float(fleet_sum(rows, figure, after=after)) for figure in ("violated", "unplaced", "hot")}
    return {GAIN: fleet_gain(rows) if after else 0.0, **counts, **({} if local is None else {"local": local})}
