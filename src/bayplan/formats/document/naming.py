"""Names in words: which ones are known, and what no name may hold."""

from collections.abc import Collection

from bayplan.errors import CONTROL, plural

# For JSON Schema. A lookahead, because `$` would let a line end pass at the end of a name.
PLAIN_NAME = r"^(?![\s\S]*[\u0000-\u001f\u007f-\u009f\u2028\u2029])"
FEW = 6  # known names that are all said
LONG = 40  # letters of a name that are said


def one_of_known(kind: str, known: Collection[str]) -> str:
    """'one of 'rack', 'zone'', or how many there are if they are many."""
    if not known:
        return f"no {kind}, for there is none"
    if len(known) > FEW:
        return f"one of the {len(known)} {plural(kind)}"
    words = [f"'{name if len(name) <= LONG else name[: LONG - 3] + '...'}'" for name in known]
    return f"one of {', '.join(words)}" if len(words) > 1 else f"{words[0]}, the only {kind}"


def all_plain(names: list[str]) -> bool:
    """Is none of these names empty, and none with a control character? A quick answer for long lists."""
    return "" not in names and not CONTROL.search("".join(names))
