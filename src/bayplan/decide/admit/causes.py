"""Why a request is refused, as data: what refusals are counted by, and what their sentences are made from."""

from dataclasses import dataclass
from enum import StrEnum

from bayplan.model import Reason


class Kind(StrEnum):
    """What stood in the way."""

    TOO_DEAR = "too dear"
    FULL = "no room"  # the placement found takes more than there is in one place
    MEMBER = "no room for a member"
    TOGETHER = "no room for all members"  # all zones together have less
    APART = "no zones hold all members, links included"  # room in all zones together is enough
    NOT_FOUND = "no room found for all members"  # a search gave up
    TOO_LARGE = "a member fits into no zone, even if all were empty"
    ALONE = "no zones have room for its members, even alone"
    NOT_CHOSEN = "not among the best choice that was found"
    WORTHLESS = "it is worth nothing"
    STOPPED = "not looked at: stopped before"
    OUT_OF_BUDGET = "not looked at: the budget ended before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What stood in the way, and where; without numbers, so that many requests have the same."""

    kind: Kind
    resource: str = ""  # that is dear or short; none of a link
    zone: str = ""  # where, or where the link begins
    to: str = ""  # where the link ends

    @property
    def place(self) -> str:
        """'cpu in zone 'a'', 'the link from zone 'a' to 'b'', 'cpu'; nothing if no place is to blame."""
        if self.to:
            return f"the link from zone '{self.zone}' to '{self.to}'"
        return f"{self.resource} in zone '{self.zone}'" if self.zone else self.resource

    def __str__(self) -> str:
        """'too dear, mostly for cpu in zone 'a'', 'no room, short of cpu in zone 'b''."""
        if not self.place:
            return str(self.kind)
        return f"{self.kind}, {'mostly for' if self.kind is Kind.TOO_DEAR else 'short of'} {self.place}"


@dataclass(frozen=True, slots=True)
class Refusal(Reason):
    """The reason of one request, with its cause."""

    cause: Cause
