"""`docs/errors.md`: every code of a fault, what it means and what to do."""

from collections.abc import Iterator, Mapping

from bayplan import codes
from bayplan.codes import Code

SECTIONS: Mapping[str, Mapping[str, Code]] = {
    "Files": codes.FILES,
    "Values": codes.VALUES,
    "Names": codes.NAMES,
    "Rules": codes.RULES,
    "Placements and plans": codes.PLACEMENTS,
    "Requests and zones": codes.REQUESTS,
    "RASA files": codes.RASA,
    "GMRP files": codes.GMRP,
    "Traces": codes.TRACES,
}

HEAD = """# Error codes

Bad input is never guessed at. Every fault has a code that does not change between releases, names the thing and its
value, and says what was expected:

```
cannot use 'shop.json':
E1102 workload 'web': request cpu is negative (-1); expected at least 0
E1202 rule '2 (allow)': machines names an unknown machine set ("quick"); expected one of the 1 machine sets
```

All faults of a file are reported together, in stages: the file and its text, then the shape, then values and names,
then rules that contradict each other. More than three faults that are alike become one line with their number. The
command ends with exit code 1.

Made by `make docs` from `src/bayplan/codes.py`.
"""


def errors_page() -> str:
    """The whole page, in Markdown."""
    return HEAD + "".join(f"\n{part}\n" for part in _parts())


def _parts() -> Iterator[str]:
    for title, section in SECTIONS.items():
        if section:
            rows = "\n".join(f"| {code} | {_cell(meaning)} | {_cell(action)} |" for code, (meaning, action) in section.items())
            yield f"## {title}\n\n| code | what it means | what to do |\n|---|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
