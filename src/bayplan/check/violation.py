"""One violation as the referees report it, and the words that their sentences share."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.model import Level, Resource, Skew
from bayplan.model.quantities import format_quantity
from bayplan.words import plural

RUNNING = "running"  # the rule "a container that ran has no machine now": a rule that needs no stating
TOLERANCE = 1e-9  # of a capacity: sums of floats are not exact
SHOWN = 3  # names in one sentence; the others are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One rule that is violated in one place."""

    rule: str  # its kind: "capacity", "anti-affinity", ...
    subject: tuple[str, ...]  # the names it is about
    excess: float  # how far beyond what is allowed, in base units or containers; above 0
    sentence: str
    number: int = -1  # index of the rule in the cluster's rules; -1 where none had to be stated

    @property
    def place(self) -> tuple[str, int, tuple[str, ...]]:
        """The rule and where it is violated: the same before and after, whatever the excess."""
        return self.rule, self.number, self.subject

    def __str__(self) -> str:
        return self.sentence


def amount(base_units: int, resource: Resource) -> str:
    """'1.5' for 1500 base units of a resource with 1000 to the unit."""
    return format_quantity(int(base_units), resource.scale)


def real_amount(base_units: float, resource: Resource) -> str:
    """An amount that is not whole, in written units, to six digits."""
    return f"{base_units / resource.scale:.6g}"


def containers(count: int) -> str:
    """'1 container', '2 containers'."""
    return counted(count, "container")


def counted(count: int, noun: str) -> str:
    """'1 rack', '2 racks'."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def where(level: Level, group: int) -> str:
    """'on machine 'm-2'', 'in zone 'z-1''."""
    return f"{'on' if level.name == 'machine' else 'in'} {level.name} '{level.group[group]}'"


def skew_allowed(level: Level, lowest: int, low: int, rule: Skew) -> str:
    """'1 in 'west', at most 1 more allowed'; `lowest` is the emptiest group, below 0 if there are too few groups to compare."""
    if lowest < 0:
        return f"at most {rule.limit} allowed with fewer than {rule.min_groups} {plural(level.name)}"
    return f"{low} {'on' if level.name == 'machine' else 'in'} '{level.group[lowest]}', at most {rule.limit} more allowed"


def named(names: Sequence[str]) -> str:
    """'a', 'b' and 3 others."""
    shown = [f"'{name}'" for name in names[:SHOWN]]
    hidden = len(names) - len(shown)
    return ", ".join(shown) + (f" and {counted(hidden, 'other')}" if hidden > 0 else "")
