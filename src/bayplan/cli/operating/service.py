"""The HTTP service of `bayplan serve`: its options as settings, and what it says when it has started."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli.console.screen import print_object
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.serve.settings import ServeSettings

LISTEN = "127.0.0.1:8080"
MISSING = "bayplan serve needs FastAPI and uvicorn: pip install 'bayplan[serve]'"

ServiceStore = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="Where admissions, jobs and snapshots are kept: an SQLite file, or postgresql://user@host/database. "
        "By default bayplan-serve.db.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="FOLDER", help="For files of jobs; bayplan-serve by default.", show_default=False),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="Tokens that may do everything, one a line; also the environment variable BAYPLAN_TOKEN.",
        show_default=False,
    ),
]
ReadTokenFile = Annotated[
    Path | None,
    typer.Option(
        "--read-token-file",
        metavar="FILE",
        help="Tokens that may only read; also the environment variable BAYPLAN_READ_TOKEN.",
        show_default=False,
    ),
]
MaxBody = Annotated[int, typer.Option("--max-body", metavar="MB", min=1, help="The largest file that can be sent.")]
Rate = Annotated[float, typer.Option("--rate", min=1, help="Requests a second of one token.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Jobs that run at the same time.")]
LoopRecord = Annotated[
    str,
    typer.Option("--record", metavar="FILE|URL", help="The record of a loop (bayplan run --store), to show and to steer."),
]
Demo = Annotated[bool, typer.Option("--demo", help="Open on an example: needs nothing, keeps nothing.")]


def service_settings(
    listen: str | None, tokens: Mapping[str, tuple[Path | None, str]], limits: Mapping[str, Any], **given: Any
) -> "ServeSettings":
    """The settings that the options say; `given` has fields of `ServeSettings`, None where an option was not used."""
    from bayplan.kubernetes.controller.health import read_address
    from bayplan.serve.settings import Limits, ServeSettings, read_tokens

    where = read_address(listen or LISTEN)
    known: dict[str, Any] = {role: read_tokens(file, variable) for role, (file, variable) in tokens.items()}
    used = {name: value for name, value in given.items() if value is not None}
    return ServeSettings(host=where.host, port=where.port, limits=Limits(**limits), **known, **used)


def serve_http(settings: "ServeSettings", tell: Callable[[str, dict[str, Any]], None], json: bool) -> None:
    """Serve until told to end."""
    try:
        from bayplan.serve.running import serve_until_told
    except ModuleNotFoundError as error:
        raise UsageError(MISSING) from error

    def started(address: str) -> None:
        if json:
            print_object({"address": address, "store": _shown(settings.store), "tokens": not settings.is_open})
        else:
            note = "" if settings.is_open else " (a token is needed)"
            print(f"bayplan serves on {address}{note}: open it in a browser; Ctrl-C ends it")
        sys.stdout.flush()

    serve_until_told(settings, tell, started)


def _shown(store: str) -> str:
    """The store without its password."""
    head, at, rest = store.rpartition("@")
    scheme, found, user = head.partition("://")
    return f"{scheme}://{user.partition(':')[0]}{at}{rest}" if found else store
