"""The answers of an admission: a decision on one offer, prices and loads at a time, the result of a whole stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bayplan.check import check_admission
from bayplan.errors import ModelError
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, FloatArray, IntArray, Reason, Result, verdict


class RefusalKind(StrEnum):
    """Why a request is refused, in a few words."""

    TOO_EXPENSIVE = "too expensive"
    NO_CAPACITY = "no capacity"  # the chosen placement exceeds what is free in a zone or on a link
    NO_CAPACITY_FOR_MEMBER = "no capacity for a member"
    NO_CAPACITY_FOR_ALL = "no capacity for all members"  # all zones together have less than the members need
    NO_COMBINATION = "no combination of zones and links holds all members"  # though the zones together have enough
    NOT_FOUND = "no placement found for all members"  # the search stopped before it could prove that there is none
    TOO_LARGE = "a member fits into no zone, even if all were empty"
    FITS_NOWHERE_ALONE = "no combination of zones holds its members, even if all were empty"
    NOT_CHOSEN = "not part of the best answer found"
    NO_VALUE = "its value is zero"
    STOPPED = "not examined: stopped before"
    OUT_OF_BUDGET = "not examined: the budget ended before"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalCause:
    """Why and where a request is refused, without numbers, so that refusals can be counted by cause."""

    kind: RefusalKind
    resource: str = ""  # that is expensive or short; empty for a link
    zone: str = ""  # where, or where the link begins
    to: str = ""  # where the link ends

    @property
    def place(self) -> str:
        """'cpu in zone 'a'', 'the link from zone 'a' to 'b'', 'cpu'; empty if the cause has no place."""
        if self.to:
            return f"the link from zone '{self.zone}' to '{self.to}'"
        return f"{self.resource} in zone '{self.zone}'" if self.zone else self.resource

    def __str__(self) -> str:
        """'too expensive, mostly for cpu in zone 'a'', 'no capacity, short of cpu in zone 'b''."""
        if not self.place:
            return str(self.kind)
        return f"{self.kind}, {'mostly for' if self.kind is RefusalKind.TOO_EXPENSIVE else 'short of'} {self.place}"


@dataclass(frozen=True, slots=True)
class Refusal(Reason):
    """The reason why one request is refused, with its cause."""

    cause: RefusalCause


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalGroup:
    """The requests that were refused for the same cause."""

    why: str  # the cause in words
    cause: RefusalCause
    requests: int
    value: float  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalSummary:
    """The refused requests, the most valuable first, and the causes, the most frequent first."""

    groups: tuple[RefusalGroup, ...]
    each: tuple[tuple[ClusterRequest, str], ...]  # with the whole sentence


def summarise_refusals(stream: ClusterRequests, left_out: Sequence[Reason]) -> RefusalSummary:
    """The refusals of a result, sorted, and counted by cause."""
    named = {request.name: request for request in stream.requests}
    refused = [reason for reason in left_out if isinstance(reason, Refusal)]
    values: dict[RefusalCause, list[float]] = {}
    for reason in refused:
        values.setdefault(reason.cause, []).append(named[reason.subject].value)
    groups = [RefusalGroup(why=str(cause), cause=cause, requests=len(v), value=sum(v)) for cause, v in values.items()]
    groups.sort(key=lambda group: (-group.requests, -group.value, group.why))
    each = sorted(((named[reason.subject], reason.text) for reason in refused), key=lambda pair: -pair[0].value)
    return RefusalSummary(groups=tuple(groups), each=tuple(each))


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceParameters:
    """The parameters of prices, base^(load / capacity) - 1 ([Online clusters] (8))."""

    value_ratio: float  # U
    value_ratio_from: str  # "given", "estimated", "not used"
    alpha: float  # ratio of the one-shot method
    alpha_from: str  # "given", "estimated", "exact": then it is 1; "not used"
    base: float  # lambda = 2 (alpha U + 1); SWMOA: 2 (|M| T U + 1); 1 where nothing has a price
    slots: int | None = None  # T of SWMOA
    slots_from: str = "not used"  # "given", "estimated": slots seen so far


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmissionDecision:
    """One offer accepted and placed, or refused, and why. `parameters` are those of the prices that decided it."""

    name: str
    accepted: bool
    zone: IntArray | None  # (member,) where it runs; None if it is refused
    value: float
    cost: float  # of the best placement found, accepted or not; infinite if there is none
    utility: float  # value - cost / alpha
    why: str  # a sentence
    cause: RefusalCause | None  # None if it is accepted
    parameters: PriceParameters


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlotRates:
    """One number for each zone's resource and for each link, in one time slot: a price, or the share in use."""

    start: float  # of the slot
    zone: FloatArray  # (zone, resource)
    link: FloatArray  # (zone, zone); not a number where there is no link


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunningRequest:
    """An accepted request that runs now, or is booked to start later."""

    name: str
    zone: IntArray  # (member,)
    start: float
    end: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriceHistory:
    """Prices per slot: of past slots as they were then, of booked future slots as they are now."""

    start: FloatArray  # (slot,) when it begins; slots in which nothing was booked may be left out
    zone: FloatArray  # (slot, zone, resource)
    link: FloatArray  # (slot, zone, zone); not a number where there is no link


def admission_result(
    stream: ClusterRequests,
    zone_of: Sequence[IntArray | None],
    *,
    left_out: tuple[Reason, ...] = (),
    bound: float | None = None,
    seconds: float = 0.0,
) -> Result[Acceptance]:
    """The result for the zones of each request's members, None where a request is refused. `bound`: no answer is worth more.

    ModelError if the answer exceeds a capacity, InternalError if it passes the bound: faults that must never reach a user.
    """
    acceptance = Acceptance(zone_of=tuple(zone_of))
    violations = check_admission(stream, acceptance)
    if violations:
        raise ModelError(f"the method violated a rule: {violations[0].sentence}")
    value = sum(stream.requests[i].value for i in acceptance.accepted.tolist())
    status, proven = verdict("value", value, bound)
    return Result(
        status=status,
        solution=acceptance,
        score={"value": value, "served": len(acceptance.accepted) / max(1, len(stream.requests))},
        goal="value",
        bound=proven,
        left_out=left_out,
        seconds=seconds,
    )
