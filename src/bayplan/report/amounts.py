"""Numbers as people read them: amounts, shares, scores and spans of time."""

import math
from collections.abc import Sequence

import numpy as np

from bayplan.model import Cluster, Resource
from bayplan.model.quantities import BINARY, format_quantity
from bayplan.words import count

_EXACT_ENOUGH = 6  # an exact quantity below one of at most this many characters is shown as it is
NARROW = "\u00a0"  # a space where no line is broken
_NOTHING = 1e-15
_SPANS = ((("d", 86400), ("h", 3600)), (("h", 3600), ("min", 60)), (("min", 60), ("s", 1)))
_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")


def human_amount(amount: float, resource: Resource) -> str:
    """An amount in written units and about three digits: '1.5Gi' of bytes, '500m' or '12.3' of cores."""
    if resource.unit == "bytes":
        return _binary(amount / resource.scale)
    small = abs(amount) < resource.scale and float(amount).is_integer()
    if small and len(exact := format_quantity(int(amount), resource.scale)) <= _EXACT_ENOUGH:
        return exact
    return _decimal(amount / resource.scale)


def written(request: Sequence[int], resources: Sequence[Resource]) -> str:
    """A request in one line: 'cpu 500m, memory 1.5Gi'; what is zero is left out."""
    parts = [f"{r.name} {human_amount(int(amount), r)}" for amount, r in zip(request, resources, strict=True) if amount]
    return ", ".join(parts) or "requests nothing"


def percent(share: float) -> str:
    """'83 %'; one decimal below ten and around a hundred, a dash where there is no number.

    Never a rounded 0 for more than nothing, or a rounded 100 for more or less than all. What rounding of sums leaves is none.
    """
    if not math.isfinite(share):
        return "–"
    value = 100 * round(share, 12)
    if 0 < abs(value) < 0.05:
        return f"<{NARROW}0.1{NARROW}%" if value > 0 else f">{NARROW}-0.1{NARROW}%"
    if value != 100 and round(value) == 100:
        return f"{min(value, 99.94) if value < 100 else max(value, 100.06):.1f}{NARROW}%"
    return f"{value:.1f}{NARROW}%" if 0 < abs(value) < 9.95 else f"{value:.0f}{NARROW}%"


def odds(probability: float) -> str:
    """'0.041 %'; what is below a millionth is shown as such."""
    if probability == 0:
        return "0"
    if probability < 1e-8:
        return "< 0.000001 %"
    digits = max(0, 1 - math.floor(math.log10(100 * probability)))  # two that count
    return f"{100 * probability:.{digits}f}".rstrip("0").rstrip(".") + " %" if digits else f"{100 * probability:.0f} %"


def fullness(share: float) -> str:
    """A share of capacity; 'over capacity' where there is none to take a share of."""
    return "over capacity" if share == math.inf else percent(share)


def of_capacity(load: int, capacity: int, resource: Resource) -> str:
    """'gpu: 1 of 0'."""
    return f"{resource.name}: {human_amount(load, resource)} of {human_amount(capacity, resource)}"


def score(value: float) -> str:
    """A score with five digits: '0.06995', '1,234,567', '1.2e-09'; what rounding leaves of nothing is 0."""
    if not math.isfinite(value):
        return "–"
    value = 0.0 if abs(value) < _NOTHING else value
    if float(value).is_integer():
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4e}"
    return f"{value:,.1f}" if abs(value) >= 1e4 else f"{value:.5g}"


def seconds(number: float) -> str:
    """A span of time in its two largest units: '0.4 s', '45 s', '3 min 20 s', '2 h 5 min', '1 d 3 h'."""
    if number < 10 and round(number, 1) % 1:
        return f"{number:.1f}{NARROW}s"
    whole = round(number)
    if whole < 60:
        return f"{whole}{NARROW}s" if whole or not number else f"{number:.2g}{NARROW}s"
    large, small = next(unit for unit in _SPANS if whole >= unit[0][1])
    whole = round(whole / small[1]) * small[1]  # what is below the smaller unit is rounded, not cut
    most, rest = divmod(whole, large[1])
    shown = f"{most:,}{NARROW}{large[0]}"
    return f"{shown}{NARROW}{rest // small[1]}{NARROW}{small[0]}" if rest else shown


def about(number: float) -> str:
    """A rounded span of time: '27 min' for 26 min 55 s; from ten of a unit on, no smaller one is shown."""
    unit = next((size for size in (86400, 3600, 60) if number >= 10 * size), 1)
    return seconds(round(number / unit) * unit) if number >= 10 else seconds(number)


def scale_of(cluster: Cluster) -> str:
    """'12 machines, 58 containers of 11 services'."""
    containers, services = len(cluster.containers.name), len(cluster.services.name)
    return f"{count(len(cluster.machines.name), 'machine')}, {count(containers, 'container')} of {count(services, 'service')}"


def _binary(value: float) -> str:
    suffix = max((s for s in BINARY if abs(value) >= BINARY[s]), key=BINARY.__getitem__, default="")
    return f"{_trimmed(value / BINARY.get(suffix, 1))}{suffix}"


def _decimal(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    power = min(len(_THOUSANDS) - 1, max(0, int(np.log10(abs(value)) // 3)))
    if power == 0 and abs(value) < 0.1:
        return f"{value:.3g}"
    return f"{_trimmed(value / 1000**power)}{_THOUSANDS[power]}"


def _trimmed(value: float) -> str:
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{value:.0f}"
