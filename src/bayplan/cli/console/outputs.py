"""Where answers may go: to a file that can be written, never over what they were made from."""

from collections.abc import Mapping
from pathlib import Path

from bayplan.errors import UsageError

STDOUT = Path("-")


def expect_outputs(outputs: Mapping[str, Path | None], *inputs: Path | None, stdout: bool = False) -> None:
    """UsageError, before any work is done, if an output is an input, cannot be written, or is stdout where that is taken.

    `outputs` are by option; with `stdout`, "-" is allowed.
    """
    from bayplan.formats import expect_writable

    for option, output in outputs.items():
        if output is None or (output == STDOUT and stdout):
            continue
        if output == STDOUT:
            raise UsageError(f"{option} '-': stdout is for the answer; expected a file")
        for given in inputs:
            if given is not None and _same(output, given):
                raise UsageError(f"{option} '{output}' would overwrite the input '{given}'; expected another file")
        expect_writable(output)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there: then they differ
        return False
