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
    "Samples of usage": codes.SAMPLES,
    "Live admission": codes.ADMISSION,
    "Internal faults": codes.INTERNAL,
    "Objects of Kubernetes": codes.KUBERNETES,
    "Questions of a scheduler": codes.EXTENDER,
    "Measurements": codes.MEASUREMENTS,
    "The service": codes.SERVICE,
}

EXAMPLE_FILE = """{"bayplan": 1,
 "resources": {"cpu": {}},
 "machines": [{"name": "m", "capacity": {"cpu": 4}}],
 "machine_sets": {"fast": ["m"]},
 "workloads": [{"name": "web", "request": {"cpu": -1}}],
 "rules": [{"rule": "capacity"}, {"rule": "allow", "workloads": ["web"], "machines": "quick"}]}
"""

EXAMPLE = """cannot use 'shop.json':
E1102 line 5, workload 'web': request cpu is negative (-1); expected at least 0
E1202 line 6, rule '2 (allow)': machines names an unknown machine set ("quick"); expected 'fast', the only machine set"""

HEAD = f"""# Error codes

Bad input is never guessed at. Every fault has a code that does not change between releases, names the thing and its
value, and says what was expected. Of this `shop.json`

```json
{EXAMPLE_FILE}```

every command says

```
{EXAMPLE}
```

All faults of a file are reported together, in its order; rules that contradict each other come last. Only a text that
cannot be parsed, or has a key twice, is not checked further. What merely follows from another fault is not reported. More than
three faults that are alike become one line with their number and the first few names. The command ends with exit code 1.

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
