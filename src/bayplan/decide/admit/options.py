"""The options of an admitter, and the signature that every admitter has."""

from dataclasses import dataclass, field
from typing import Protocol

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions
from bayplan.model import Acceptance, Budget, ClusterRequests, Progress, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitOptions:
    """How a stream is admitted: all have a default."""

    one_shot: str = "local"  # how the members of one request are placed: a name in ONE_SHOTS
    one_shot_options: OneShotOptions = field(default_factory=OneShotOptions)
    value_ratio: float | None = None  # U of [Online clusters]; None: estimated from the stream so far
    alpha: float | None = None  # ratio of the one-shot method; None: estimated from the stream so far
    slot: float = 1.0  # length of a time slot; a request takes every slot that it touches
    slots: int | None = None  # T, for the prices of SWMOA; None: the number of slots that the stream has had so far
    literal: bool = False  # Algorithm 4 to the letter: place by price alone, then refuse what does not fit


class Admitter(Protocol):
    """A method that accepts and places, or refuses, the requests of a stream; online methods decide on each before the next."""

    def __call__(
        self, stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Acceptance]:
        """The zones of the accepted requests. The goal is `value`; `left_out` has a reason for each refused request."""
        ...
