"""Violated rules in few words: the verdict, and how many of each kind there are."""

from collections import Counter
from collections.abc import Sequence

from bayplan.words import count

SHOWN = 20  # sentences on a screen or a page; the others are counted


def by_kind(violations: Sequence[object]) -> str:
    """'752 capacity, 12 spread': how many rules of each kind are violated, most first."""
    kinds = Counter(str(getattr(violation, "rule", "other")) for violation in violations)
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())


def verdict(violations: Sequence[object]) -> str:
    """'valid: every rule is kept', or how many rules of which kinds are violated."""
    if not violations:
        return "valid: every rule is kept"
    return f"not valid: {count(len(violations), 'rule violation')} ({by_kind(violations)})"
