"""A case, asked and judged: its outcome in a word, and what is wrong with it."""

import re
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from tests.naive.best_placement import excess_of
from tests.stress.cases import Case
from tests.stress.migration_faults import migration_faults
from tests.stress.outcomes import Outcome, ask
from tests.stress.pack_faults import needed_faults, pack_faults
from tests.stress.placement_faults import placement_faults, score_faults
from tests.stress.plan_faults import plan_faults
from tests.stress.request_faults import admit_faults, schedule_faults

from bayplan.errors import InputError, UsageError
from bayplan.model import Snapshot

EXPECTED_REFUSALS = re.compile(  # what a method does not know, what an input does not have, what lies too far ahead
    r"does not know|has no machines|no confidence is stated|expected above 0\.5|has no limit|no limit"
    r"|has no resources|would have no effect|has no effect on|E1115|E2012|above the limit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of a case."""

    outcome: str  # a status, "refused", or "fault"
    faults: tuple[str, ...] = ()
    seconds: float = 0.0  # CPU, of asking and judging

    @property
    def kind(self) -> str:
        """The class of the first fault: its words without names and numbers."""
        words = self.faults[0].partition("\n")[0] if self.faults else ""
        if not words.startswith(("raised", "judging")):
            words = words.partition(": ")[0]
        return re.sub(r"[-+]?\b\d[\w.+-]*|'[^']*'|\([^)]*\)", "", words).strip()[:110]


def judged(case: Case) -> Verdict:
    """Ask, and look at the answer from all sides."""
    before = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # as in all tests
            outcome = ask(case)
    except (UsageError, InputError) as refusal:
        known = EXPECTED_REFUSALS.search(str(refusal))
        faults = () if known else (f"raised {_words(refusal)}",)
        return Verdict(outcome="refused" if known else "fault", faults=faults, seconds=time.process_time() - before)
    except Exception as fault:
        return Verdict(outcome="fault", faults=(f"raised {_words(fault)}",), seconds=time.process_time() - before)
    try:
        faults = tuple(_faults(case, outcome))
    except Exception as fault:  # an answer that no referee can read
        faults = (f"judging raised {_words(fault)}",)
    return Verdict(outcome="fault" if faults else outcome.status, faults=faults, seconds=time.process_time() - before)


def _words(fault: Exception) -> str:
    last = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{type(fault).__name__} in {last.filename.rpartition('/')[2]}, {last.name}: {str(fault)[:300]}"


def _faults(case: Case, outcome: Outcome) -> Iterator[str]:
    if case.verb == "show":
        yield from _show_faults(case.value, outcome)
    elif case.verb != "explain":
        yield from _JUDGES[case.verb](case, outcome)


def _show_faults(snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """The scores and the referee against obvious loops."""
    yield from score_faults(snapshot, outcome)
    numbers = {key[0] for key in excess_of(snapshot.cluster, snapshot.placement, snapshot.placement)}
    if numbers != {violation.number for violation in outcome.answer}:
        yield f"the referees disagree: {sorted(numbers)} and {sorted({v.number for v in outcome.answer})}"


_JUDGES = {
    "plan": plan_faults,
    "place": placement_faults,
    "rebalance": placement_faults,
    "collocate": placement_faults,
    "pack": pack_faults,
    "machines_needed": needed_faults,
    "admit": admit_faults,
    "schedule": schedule_faults,
    "migrate": migration_faults,
}
