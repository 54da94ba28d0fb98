"""Where answers may go: never over what they were made from."""

from pathlib import Path

from bayplan.errors import UsageError

STDOUT = Path("-")


def spare(output: Path | None, option: str, *inputs: Path | None) -> None:
    """UsageError if `output` is one of the inputs."""
    if output is None or output == STDOUT:
        return
    for given in inputs:
        if given is not None and _same(output, given):
            raise UsageError(f"{option} '{output}' would overwrite the input '{given}'; expected another file")


def a_file(output: Path | None, option: str) -> None:
    """UsageError if `output` is stdout, which the answer itself needs."""
    if output == STDOUT:
        raise UsageError(f"{option} '-': stdout is for the answer; expected a file")


def command_line(command: str, **options: object) -> str:
    """What a report says about how it was made: the command and the options that were given."""
    given = (f"--{name.replace('_', '-')} {value}" for name, value in options.items() if value is not None)
    return " ".join([f"bayplan {command}", *given])


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there: then they differ
        return False
