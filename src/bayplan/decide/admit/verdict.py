"""What a live admission says: of one offer, of its parameters, of prices and loads at a time."""

from dataclasses import dataclass

from bayplan.decide.admit.causes import Cause
from bayplan.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What prices are made from: base^(load / capacity) - 1 (001 equation (8))."""

    value_ratio: float  # U
    value_ratio_from: str  # "given", "estimated", "not used"
    alpha: float  # ratio of the one-shot method
    alpha_from: str  # "given", "estimated", "exact": then it is 1; "not used"
    base: float  # lambda = 2 (alpha U + 1); SWMOA: 2 (|M| T U + 1); 1 where nothing has a price
    slots: int | None = None  # T of SWMOA
    slots_from: str = "not used"  # "given", "estimated": those seen so far


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """Accepted and placed, or refused; and why. The parameters are those that this offer was judged by."""

    name: str
    accepted: bool
    zone: IntArray | None  # (member,) where it runs; None if it is refused
    value: float
    cost: float  # of the placement found, accepted or not; infinite if there is none
    utility: float  # value - cost / alpha
    why: str  # a sentence
    cause: Cause | None  # what stood in the way; None if it is accepted
    parameters: Parameters


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """One figure of each zone's resource and of each link, in one time slot: a price, or the share in use."""

    start: float  # of the slot
    zone: FloatArray  # (zone, resource)
    link: FloatArray  # (zone, zone); not a number where there is no link


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """A request that is in: from now, or from its start on."""

    name: str
    zone: IntArray  # (member,)
    start: float
    end: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """Prices per slot, as they were when the slot passed, and as they are for those that are booked ahead."""

    start: FloatArray  # (slot,) when it begins; slots in which nothing was booked may be left out
    zone: FloatArray  # (slot, zone, resource)
    link: FloatArray  # (slot, zone, zone); not a number where there is no link
