"""Which kernels a method needs, and how they are compiled before its clock starts."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from bayplan.model import Progress, Tick

COMPILING = "compiling kernels, once"
NEEDED = Path(__file__).parent / "kernels_needed.json"  # verb -> method -> kernels; a test keeps it true


@cache
def _needed() -> dict[str, dict[str, list[str]]]:
    table: dict[str, dict[str, list[str]]] = json.loads(NEEDED.read_text(encoding="utf-8"))
    return table


def kernels_of(verb: str, method: str) -> tuple[str, ...]:
    """The kernels that a method may call; none of a method that is not ours."""
    return tuple(_needed().get(verb, {}).get(method, ()))


def warm_up_methods(methods: Iterable[tuple[str, str]], progress: Progress) -> int:
    """Compile what some methods (verb, name) need and what is not compiled yet; the number of kernels."""
    names = dict.fromkeys(name for verb, method in methods for name in kernels_of(verb, method))
    return _compile(tuple(names), progress)


def warm_up(progress: Progress) -> tuple[tuple[str, ...], int]:
    """The names of all kernels, each ready, and how many were compiled for that."""
    from bayplan.kernels.ahead import all_kernels

    names = all_kernels()
    return names, _compile(names, progress)


def _compile(names: tuple[str, ...], progress: Progress) -> int:
    if not names:
        return 0
    from bayplan.kernels.ahead import compile_ahead

    return compile_ahead(names, lambda done, of: progress(Tick(stage=f"{COMPILING}: {done} of {of}", done=done / of)))
