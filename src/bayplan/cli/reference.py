"""Every command with its arguments and options as one Markdown page, made from the commands themselves."""

import textwrap
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from bayplan.cli.main import app

WIDTH = 120
HEAD = """# The command line

This page is made from the commands themselves by `make docs`. stdout is the answer, stderr the log and the progress bar.
Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is "no".

Shell completion: `bayplan --install-completion`.
"""


def cli_page() -> str:
    """`docs/cli.md`."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return "\n".join([HEAD, *(line for name, command in group.commands.items() for line in _command(name, command))])


def _command(name: str, command: Any) -> Iterator[str]:  # typer exports no name for the class
    context = typer.Context(command, info_name=f"bayplan {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"## bayplan {name}\n\n```\nbayplan {name} {usage}\n```\n"
    yield _plain(command.help or "") + "\n"
    rows = [row for parameter in command.get_params(context) if (row := parameter.get_help_record(context))]
    if rows:
        yield from (_item(f"`{_one_line(option)}`: {_one_line(meaning)}") for option, meaning in rows)
        yield ""


def _plain(text: str) -> str:
    """Rich markup as Markdown; the form feed and paragraphs stay."""
    return text.replace("[cyan]", "`").replace("[/cyan]", "`").strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _item(text: str) -> str:
    """An item of a list, wrapped."""
    wrapped = textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(wrapped)
