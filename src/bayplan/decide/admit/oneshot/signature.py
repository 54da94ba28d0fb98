"""What a user may ask of a one-shot method, and what every one is."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.decide.admit.oneshot.case import Case, Placing


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShotOptions:
    """Wishes that are not rules."""

    samples: int | None = None  # n of Algorithm 1; None: min(V, ceil(ln V / epsilon^2))
    epsilon: float = 0.6  # of Algorithm 1
    nodes: int | None = None  # limit of a search, the same number gives the same answer; None: the method's own


class OneShot(Protocol):
    """A way to place the members of one request. The answer keeps (4a) and the bandwidth, or is None."""

    def __call__(self, case: Case, options: OneShotOptions, *, seed: int) -> Placing:
        """A placement of all members that fits, of low cost."""
        ...
