"""U, alpha and T of the prices: as given, or estimated from the stream so far."""

import math

from bayplan.decide.admit.decision import PriceParameters
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotProblem
from bayplan.decide.admit.one_shot.tree_search import exact
from bayplan.decide.admit.options import AdmitOptions
from bayplan.errors import UsageError

AUDIT_NODES = 500  # of the exact search: a few milliseconds
AUDIT_EVERY = 512  # offers of positive cost; before that the 1st, 2nd, 4th, 8th ... offer is audited
LIVE = ("primal-dual", "learned", "available", "swmoa")  # methods that decide one request at a time


class ParameterEstimates:
    """The parameters of the prices; those that are not given are estimated, and an estimate never falls.

    U: the largest ratio of a request's value to the most of one zone's resource or of one link that it can take, at least 1.
    This is the smallest U under which b <= U max f holds for all requests seen. alpha: some offers are audited, that
    is, also solved by `exact` with a limit of nodes; the ratio of an offer is its cost divided by the proven bound, at least 1.
    """

    def __init__(self, options: AdmitOptions, method: str, resources: int) -> None:
        _check_options(options, method)
        self.options, self.method, self.resources = options, method, resources
        self.value_ratio = 1.0 if options.value_ratio is None else options.value_ratio
        self.alpha = 1.0 if options.alpha is None or method == "swmoa" else options.alpha
        self.first: int | None = None  # slots of the requests so far
        self.last: int | None = None
        self.priced = 0  # offers with a placement of positive cost
        self.estimates_value_ratio = method != "available" and options.value_ratio is None
        self.estimates_alpha = method == "primal-dual" and options.alpha is None and options.one_shot != "exact"
        self._current: PriceParameters | None = None

    @property
    def parameters(self) -> PriceParameters:
        """The current values."""
        if self._current is None:
            self._current = self._computed()
        return self._current

    def _computed(self) -> PriceParameters:
        if self.method == "available":
            return PriceParameters(value_ratio=1.0, value_ratio_from="not used", alpha=1.0, alpha_from="not used", base=1.0)
        u, alpha, t = self.value_ratio, self.alpha, self.slots
        swmoa, given = self.method == "swmoa", {False: "given", True: "estimated"}
        exact = self.method == "primal-dual" and self.options.alpha is None and self.options.one_shot == "exact"
        fixed = "exact" if exact else given[self.estimates_alpha or self.method == "learned"]
        return PriceParameters(
            value_ratio=u,
            value_ratio_from=given[self.estimates_value_ratio],
            alpha=alpha,
            alpha_from="not used" if swmoa else fixed,
            base=2 * (self.resources * t * u + 1) if swmoa else 2 * (alpha * u + 1),  # [Online clusters] §V-A
            slots=t if swmoa else None,
            slots_from=given[self.options.slots is None] if swmoa else "not used",
        )

    @property
    def slots(self) -> int:
        """T of SWMOA."""
        if self.options.slots is not None:
            return self.options.slots
        return 1 if self.first is None or self.last is None else self.last - self.first + 1

    def observe_slots(self, first: int, last: int) -> None:
        """Learn that a request takes slots first..last."""
        if self.first is None or self.last is None:
            self.first, self.last, self._current = first, last, None
        elif last > self.last:
            self.last, self._current = last, None

    def observe_value_ratio(self, ratio: float) -> None:
        """Learn the ratio of a request's value to its largest use."""
        if ratio > self.value_ratio:
            self.value_ratio, self._current = ratio, None

    def set_alpha(self, alpha: float) -> None:
        """Use this alpha, which has earned most in the rehearsals."""
        if alpha != self.alpha:
            self.alpha, self._current = alpha, None

    def restore(self, value_ratio: float, alpha: float, first: int | None, last: int | None, priced: int) -> None:
        """Continue with the estimates of a snapshot."""
        self.value_ratio, self.alpha, self.first, self.last, self.priced = value_ratio, alpha, first, last, priced
        self._current = None

    def audit_is_due(self) -> bool:
        """Count one more offer of positive cost; is it one to audit?"""
        self.priced += 1
        return self.priced & (self.priced - 1) == 0 if self.priced < AUDIT_EVERY else self.priced % AUDIT_EVERY == 0

    def audit(self, problem: OneShotProblem, cost: float) -> None:
        """Raise alpha if the ratio of this cost to its proven bound is larger than any before."""
        least = exact(problem, OneShotOptions(nodes=AUDIT_NODES), seed=0)
        if least.bound > 0 and cost > self.alpha * least.bound:
            self.alpha, self._current = cost / least.bound, None


def _check_options(options: AdmitOptions, method: str) -> None:
    """UsageError if an option has an unknown or impossible value."""
    if method not in LIVE:
        raise UsageError(f"method '{method}' is not live; expected one of {', '.join(LIVE)}")
    if options.one_shot not in ONE_SHOTS:
        raise UsageError(f"one-shot method '{options.one_shot}' is not known; expected one of {', '.join(ONE_SHOTS)}")
    ranges = (
        ("value_ratio", options.value_ratio, 0.0, "above 0"),
        ("alpha", options.alpha, 1.0, "1 or more"),
        ("slot", options.slot, 0.0, "above 0"),
        ("slots", options.slots, 1, "1 or more"),
    )
    for name, value, least, words in ranges:
        if value is not None and (not math.isfinite(value) or value < least or value == 0):
            raise UsageError(f"{name} is {value}; expected a finite number {words}")
