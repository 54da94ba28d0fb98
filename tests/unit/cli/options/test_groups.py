"""A group's options stand in the command's own signature, and reach it as one value."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from bayplan.cli.main import COMMANDS
from bayplan.cli.options.groups import OptionGroup, grouped

Sails = Annotated[int, typer.Option("--sails")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rigging(OptionGroup):
    sails: Sails = 2
    flag: Annotated[str | None, typer.Option("--flag", "-f")] = None


def sail(ship: str, rigging: Rigging = Rigging(), crew: Annotated[int, typer.Option("--crew")] = 5) -> None:
    """Sail."""
    typer.echo(f"{ship} {rigging} {crew}")


def test_the_parser_sees_single_options_and_the_command_one_value():
    app = typer.Typer()
    app.command()(grouped(sail))
    said = CliRunner().invoke(app, ["Ever", "--sails", "3", "--crew", "9"])
    assert said.output == "Ever Rigging(sails=3, flag=None) 9\n"
    assert list(inspect.signature(grouped(sail)).parameters) == ["ship", "sails", "flag", "crew"]


def test_a_command_without_groups_stays_as_it_is():
    assert grouped(COMMANDS["version"]) is COMMANDS["version"]
