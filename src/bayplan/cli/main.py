"""The way in: one app, one file per command, one place where faults become messages and exit codes."""

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from bayplan.cli import (
    admit,
    capacity,
    check,
    collocate,
    convert,
    demo,
    explain,
    generate,
    installation,
    migrate,
    pack,
    place,
    plan,
    rebalance,
    reproduce,
    schedule,
    show,
    simulate,
)
from bayplan.cli.console import clock
from bayplan.cli.console.exits import FAILED, INTERRUPTED, USAGE
from bayplan.cli.console.interrupt import stubborn_interrupts
from bayplan.cli.operating import apply, record, run, serve
from bayplan.cli.options.groups import grouped
from bayplan.errors import BayplanError, UsageError

ABOUT = """Decide on which machine every container runs, see how good it is, and what is wrong with it.

[b]Try it:[/b]  bayplan demo   [dim]# a small web shop, its state, its faults, its bay plan[/dim]

stdout is the answer, stderr the log. Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is "no".
"""

app = typer.Typer(
    name="bayplan",
    help=ABOUT,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: Mapping[str, Callable[..., None]] = {
    "plan": plan.plan,
    "apply": apply.apply,
    "run": run.run,
    "status": record.status,
    "approve": record.approve,
    "pause": record.pause,
    "resume": record.resume,
    "rollback": record.rollback,
    "history": record.history,
    "uninstall": apply.uninstall,
    "sandbox": apply.sandbox,
    "serve": serve.serve,
    "show": show.show,
    "check": check.check,
    "explain": explain.explain,
    "place": place.place,
    "pack": pack.pack,
    "rebalance": rebalance.rebalance,
    "collocate": collocate.collocate,
    "admit": admit.admit,
    "schedule": schedule.schedule,
    "migrate": migrate.migrate,
    "capacity": capacity.capacity,
    "simulate": simulate.simulate,
    "generate": generate.generate,
    "convert": convert.convert,
    "reproduce": reproduce.reproduce,
    "demo": demo.demo,
    "warmup": installation.warmup,
    "version": installation.version,
}

SETTINGS = {"generate": generate.OPEN}  # what a command wants of its parser

for name, function in COMMANDS.items():
    app.command(name, context_settings=SETTINGS.get(name))(grouped(function))


def _print_version(wanted: bool) -> None:
    if wanted:
        installation.version()
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """What holds for all commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. No traceback reaches a user unless BAYPLAN_DEBUG is set."""
    clock.start(arguments)
    try:
        with stubborn_interrupts(), warnings.catch_warnings():
            if not _debugging():
                warnings.simplefilter("ignore")  # numpy's, with paths of our files; the answer says null where there is none
            try:
                app(args=arguments, standalone_mode=True)
            finally:
                sys.stdout.flush()  # a full disk is found here, not by the dying interpreter
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer turns Ctrl-C into this without a word
            _say("interrupted", INTERRUPTED)
        return stop.code if isinstance(stop.code, int) else FAILED
    except UsageError as fault:
        return _say(fault, USAGE)
    except BayplanError as fault:
        return _say(fault, FAILED)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our stdout has gone: `bayplan show x | head`
        _forget_stdout()
        return FAILED
    except OSError as fault:  # files are looked after where they are opened: this is stdout
        _forget_stdout()
        return _say(f"cannot write the answer: {fault.strerror or fault}", FAILED)
    except MemoryError:
        return _say("out of memory", FAILED)
    except Exception as fault:
        if _debugging():
            raise
        return _say(f"internal fault ({type(fault).__name__}: {fault}); BAYPLAN_DEBUG=1 shows where", FAILED)
    return 0


def _debugging() -> bool:
    return bool(os.environ.get("BAYPLAN_DEBUG"))


def _forget_stdout() -> None:
    """What is still in stdout's buffer goes nowhere, without a word at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: object, code: int) -> int:
    from bayplan.report.names import printable

    text = printable(message, keep="\n")
    print(f"bayplan: {text}", file=sys.stderr)
    return code
