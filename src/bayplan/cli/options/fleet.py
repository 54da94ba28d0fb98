"""A fleet of clusters as the FILE of a command: how it is told, the options it has, and what is made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayplan.cli.options.groups import OptionGroup
from bayplan.cli.options.shared import pairs, share
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.model import Progress

PANEL = "Fleets of clusters"
UNDERSTOOD = (  # options of `plan` that hold for a fleet
    *("file", "goal", "max_moves", "weight", "min_gain", "alive", "seconds", "seed", "threads", "out", "report", "json", "quiet"),
    *("engine", "pages"),
)

Pages: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pages", help="With --out DIR: a page for each cluster, NAME.html, to which --report links.", rich_help_panel=PANEL
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions(OptionGroup):
    """What only a fleet of clusters has."""

    pages: Pages = False

    def expect_none(self) -> None:
        """UsageError if one is stated for a single cluster."""
        if self.pages:
            raise UsageError(
                '--pages is for a fleet of clusters; expected a FILE with "kind": "clusters", see docs/verbs/fleet.md'
            )


def is_fleet(file: Path) -> bool:
    """Is it a file of clusters?"""
    from bayplan.formats.clusters import is_clusters_file

    return is_clusters_file(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCommand:
    """`bayplan plan` of a fleet, as it was typed."""

    file: Path
    stated: Mapping[str, Any]  # by name, as typed or by default

    @classmethod
    def typed(cls, file: Path, context: typer.Context) -> "FleetCommand":
        """The command that was typed; UsageError if an option is stated that a fleet does not have."""
        for name in context.params:
            if name not in UNDERSTOOD and _is_typed(context, name):
                option = next(each.opts[0] for each in context.command.params if each.name == name)
                raise UsageError(f"{option} is for one cluster, and '{file}' is a fleet; expected one of its clusters")
        stated = dict(context.params)
        if not _is_typed(context, "goal"):
            stated["goal"] = None  # the fleet's own
        command = cls(file=file, stated=stated)
        if command.pages and command.out is None:
            raise UsageError("--pages: expected --out DIR, the folder for the pages")
        return command

    @property
    def out(self) -> Path | None:
        """The folder of the plans."""
        return None if self.stated["out"] is None else Path(self.stated["out"])

    @property
    def report(self) -> Path | None:
        """The HTML page."""
        return None if self.stated["report"] is None else Path(self.stated["report"])

    @property
    def pages(self) -> bool:
        """Is a page for each cluster wanted?"""
        return bool(self.stated["pages"])

    def keywords(self, progress: "Progress") -> dict[str, Any]:
        """The keywords of `bp.plan_fleet`."""
        from bayplan.cli.console import clock
        from bayplan.cli.options.plan import goal_named, search_threads

        stated, goal, seconds = self.stated, self.stated["goal"], self.stated["seconds"]
        return {
            "goal": None if goal is None else goal_named(goal),
            "seconds": None if seconds is None else clock.left(seconds),
            "seed": stated["seed"],
            "weights": pairs(stated["weight"], "--weight", "NAME=VALUE"),
            "max_moves": stated["max_moves"],
            "alive": stated["alive"],
            "pages": self.pages,
            "min_gain": share(stated["min_gain"], "--min-gain"),
            "threads": search_threads(stated["threads"]),
            "engine": stated["engine"] or "pool",
            "progress": progress,
        }


def _is_typed(context: typer.Context, name: str) -> bool:
    """Was an option typed, not taken by default?"""
    return getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
