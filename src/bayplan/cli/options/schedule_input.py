"""Timed requests and machines as `schedule` and `check --served` read them, and the texts of their options."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.formats.requests import RequestsFile


def read_input(file: Path, *, machines: int | None, fleet: Path | None, horizon: float | None) -> "RequestsFile":
    """The requests with their machines: those of the fleet file if it is given, else those of the input.

    UsageError if neither says how many machines there are; `machines` are then those of the command line.
    """
    from bayplan.formats.requests.fleet import read_fleet

    if machines is not None and fleet is not None:
        raise UsageError("--machines and --fleet exclude each other; expected one of the two")
    read = read_requests_until(file, horizon)
    if fleet is not None:
        return replace(read, fleet=read_fleet(fleet, read.requests.resources))
    if machines is None and read.fleet is None:
        raise UsageError(f"'{file}' does not say how many machines there are; expected --machines K or --fleet FILE")
    return read


def read_requests_until(file: Path, horizon: float | None) -> "RequestsFile":
    """The requests of a file, up to the horizon."""
    from bayplan.formats.files import read_timed

    if horizon is not None and not math.isfinite(horizon):
        raise UsageError(f"--horizon {horizon}: expected a time")
    return read_timed(file, horizon)


def text_pairs(texts: Sequence[str] | None, option: str, form: str) -> dict[str, str]:
    """Name and value of `NAME=VALUE` texts, every name once."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or name in values:
            raise UsageError(f"{option} '{text}': expected {form}, each name once")
        values[name] = value
    return values


def profits(texts: Sequence[str] | None) -> dict[str, float]:
    """The texts of `--profit` as numbers by class."""
    return {name: _number(name, text) for name, text in text_pairs(texts, "--profit", "CLASS=VALUE").items()}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--profit '{name}={text}': expected a number of 0 or more after '='") from None


def sweep_range(text: str | None) -> list[int]:
    """The numbers of machines that `--sweep FEW:MANY[:STEP]` states; none without the option."""
    from bayplan.api.requests.sweep import machine_numbers
    from bayplan.decide.schedule.machine_sweep import MOST_MACHINES

    if text is None:
        return []
    parts = text.split(":")
    good = len(parts) in (2, 3) and all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    low, high, step = ([*map(int, parts), None][:3]) if good else (1, 0, None)
    if low is None or high is None or not low <= high <= MOST_MACHINES or step == 0:
        raise UsageError(f"--sweep '{text}': expected FEW:MANY or FEW:MANY:STEP, such as 50:1000 or 50:1000:50")
    return machine_numbers(low, high, step)
