"""Broken rules in few words: the first ones, and how many of each kind there are."""

from collections import Counter
from collections.abc import Sequence

from bayplan.report.amounts import count

SHOWN = 20  # sentences on a screen or a page; the rest as counts


def by_kind(violations: Sequence[object]) -> str:
    """'752 capacity, 12 spread': how many rules of each kind are broken, most first."""
    kinds = Counter(str(getattr(violation, "rule", "other")) for violation in violations)
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())


def verdict(violations: Sequence[object]) -> str:
    """'valid: every rule is kept', or how many rules of which kinds are broken."""
    if not violations:
        return "valid: every rule is kept"
    return f"not valid: {count(len(violations), 'broken rule')} ({by_kind(violations)})"


def rest(violations: Sequence[object], shown: int = SHOWN) -> str:
    """What to say below the first sentences; empty if all are shown."""
    more = len(violations) - shown
    return f"and {more:,} more" if more > 0 else ""
