"""Every number of an input fault: what it means and what to do. `docs/errors.md` is made from this."""

from collections.abc import Mapping
from typing import NamedTuple


class Code(NamedTuple):
    """One line of `docs/errors.md`."""

    meaning: str
    action: str


FILES: Mapping[str, Code] = {  # E10..: the file as a whole
    "E1001": Code("the file cannot be opened", "check the path and the permissions"),
}

VALUES: Mapping[str, Code] = {}  # E11..: one value is not what it should be

NAMES: Mapping[str, Code] = {}  # E12..: a name is missing, double or unknown

RULES: Mapping[str, Code] = {}  # E13..: a rule says nothing, or what cannot be

PLACEMENTS: Mapping[str, Code] = {}  # E14..: a placement or a plan does not fit its cluster

REQUESTS: Mapping[str, Code] = {}  # E15..: timed requests, cluster requests, zones

RASA: Mapping[str, Code] = {}  # E16..: RASA clusters and solutions

GMRP: Mapping[str, Code] = {}  # E17..: GMRP models, assignments and solutions

TRACES: Mapping[str, Code] = {}  # E18..: the traces

CODES: Mapping[str, Code] = {
    **FILES,
    **VALUES,
    **NAMES,
    **RULES,
    **PLACEMENTS,
    **REQUESTS,
    **RASA,
    **GMRP,
    **TRACES,
}
