"""What a user may ask of an admitter, and what every admitter is."""

from dataclasses import dataclass, field
from typing import Protocol

from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.model import Acceptance, Budget, ClusterRequests, Progress, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitOptions:
    """Wishes that are not rules."""

    oneshot: str = "local"  # how the members of one request are placed: a name in ONE_SHOTS
    placing: OneShotOptions = field(default_factory=OneShotOptions)
    value_ratio: float | None = None  # U of 001; None: estimated from the stream so far
    alpha: float | None = None  # ratio of the one-shot method; None: estimated from the stream so far
    slot: float = 1.0  # length of a time slot; a request takes every slot that it touches
    slots: int | None = None  # T, for the prices of SWMOA; None: those that the stream has had so far
    literal: bool = False  # Algorithm 4 to the letter: place by price alone, then refuse what does not fit


class Admitter(Protocol):
    """A way to go through a stream of requests, each accepted and placed or refused before the next is seen."""

    def __call__(
        self, stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Acceptance]:
        """The zones of those accepted. The goal is `value`; a reason for each that is refused."""
        ...
