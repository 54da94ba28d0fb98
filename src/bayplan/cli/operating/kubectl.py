"""`kubectl bayplan`: the same commands, about the cluster that kubectl talks to."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bayplan.cli.options.groups import grouped

NAMED = (
    "--context",
    "--in-cluster",
    "--simulate",
    "--sandbox",
    "--help",
    "-h",
)  # say which cluster, or that none is needed


def run() -> int:
    """Run the command line as kubectl's plugin; the exit code."""
    from bayplan.__main__ import run as run_command
    from bayplan.cli.console.exits import USAGE
    from bayplan.cli.main import COMMANDS
    from bayplan.errors import UsageError

    given = sys.argv[1:]
    try:
        sys.argv = ["kubectl bayplan", *with_context(given, COMMANDS, lambda: _current_context(given))]
    except UsageError as fault:  # no kubeconfig, or none that can be read
        print(f"bayplan: {fault}", file=sys.stderr)
        return USAGE
    return run_command()


def _current_context(given: Sequence[str]) -> str:
    from bayplan.kubernetes.client import Client

    return Client.connect(kubeconfig=_value(given, "--kubeconfig")).context


def with_context(given: Sequence[str], commands: Mapping[str, Callable[..., None]], current: Callable[[], str]) -> list[str]:
    """The arguments, with kubectl's current context for a command that can take one and that names no cluster.

    A file as the first argument of a command that reads files is a cluster, too.
    """
    arguments = list(given)
    command = commands.get(arguments[0]) if arguments else None
    parameters = inspect.signature(grouped(command)).parameters if command is not None else {}
    if "context" not in parameters or any(word.partition("=")[0] in NAMED for word in arguments):
        return arguments
    if "file" in parameters and len(arguments) > 1 and (arguments[1] == "-" or Path(arguments[1]).is_file()):
        return arguments
    return [*arguments, "--context", current()]


def _value(arguments: Sequence[str], option: str) -> str:
    """The value of an option, however it is written; "" if it is not given."""
    for number, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else next(iter(arguments[number + 1 : number + 2]), "")
    return ""
