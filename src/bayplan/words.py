"""Counts and lists in words, for messages and reports: plurals, and the first few of many."""

from collections.abc import Sequence


def plural(noun: str) -> str:
    """'machines' for 'machine', 'entries' for 'entry', 'batches' for 'batch'."""
    if noun.endswith("ch"):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def count(number: int, noun: str) -> str:
    """'1 machine', '5,284 machines'."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def and_more(hidden: int, noun: str = "") -> str:
    """'and 1,234 more reasons', 'and 5 more, each worth less': what to say below the first of a list; empty if none is hidden."""
    after = f"{'' if noun.startswith(',') else ' '}{noun}" if noun else ""
    return f"and {hidden:,} more{after}" if hidden > 0 else ""


def first_names(names: Sequence[str], most: int = 3) -> str:
    """'web-0, web-1, web-2 and 7 more'."""
    return " ".join(filter(None, [", ".join(names[:most]), and_more(len(names) - most)]))
