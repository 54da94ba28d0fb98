"""U, alpha and T of the prices: as given, or as the stream so far has shown them."""

import math

from bayplan.decide.admit.oneshot.case import Case
from bayplan.decide.admit.oneshot.registry import ONE_SHOTS
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.decide.admit.verdict import Parameters
from bayplan.errors import UsageError

AUDIT_NODES = 500  # of the exact search: a few milliseconds
AUDIT_EVERY = 512  # offers that cost something; before, the 1st, 2nd, 4th, 8th ... is looked at
LIVE = ("primal-dual", "learned", "available", "swmoa")  # methods that decide one request at a time


class Estimates:
    """What is not given grows with what is seen, and never falls.

    U: the largest value of a request by the most of one zone's resource or one link that a placement of it can take, at least 1.
    This is the smallest U under which b <= U max f holds for all requests seen. alpha: now and then the case of an offer is
    also solved by `exact` with a limit of nodes; cost by its proven bound is the ratio of that offer, at least 1.
    """

    def __init__(self, options: AdmitOptions, method: str, resources: int) -> None:
        _expect_sense(options, method)
        self.options, self.method, self.resources = options, method, resources
        self.value_ratio = 1.0 if options.value_ratio is None else options.value_ratio
        self.alpha = 1.0 if options.alpha is None or method == "swmoa" else options.alpha
        self.first: int | None = None  # slots seen
        self.last: int | None = None
        self.priced = 0  # offers with a placement that costs something
        self.guesses_value_ratio = method != "available" and options.value_ratio is None
        self.guesses_alpha = method == "primal-dual" and options.alpha is None and options.oneshot != "exact"
        self._known: Parameters | None = None

    @property
    def parameters(self) -> Parameters:
        """As they are now."""
        if self._known is None:
            self._known = self._worked_out()
        return self._known

    def _worked_out(self) -> Parameters:
        if self.method == "available":
            return Parameters(value_ratio=1.0, value_ratio_from="not used", alpha=1.0, alpha_from="not used", base=1.0)
        u, alpha, t = self.value_ratio, self.alpha, self.slots
        swmoa, given = self.method == "swmoa", {False: "given", True: "estimated"}
        exact = self.method == "primal-dual" and self.options.alpha is None and self.options.oneshot == "exact"
        fixed = "exact" if exact else given[self.guesses_alpha or self.method == "learned"]
        return Parameters(
            value_ratio=u,
            value_ratio_from=given[self.guesses_value_ratio],
            alpha=alpha,
            alpha_from="not used" if swmoa else fixed,
            base=2 * (self.resources * t * u + 1) if swmoa else 2 * (alpha * u + 1),  # 001 section V-A
            slots=t if swmoa else None,
            slots_from=given[self.options.slots is None] if swmoa else "not used",
        )

    @property
    def slots(self) -> int:
        """T of SWMOA."""
        if self.options.slots is not None:
            return self.options.slots
        return 1 if self.first is None or self.last is None else self.last - self.first + 1

    def saw_slots(self, first: int, last: int) -> None:
        """A request takes those."""
        if self.first is None or self.last is None:
            self.first, self.last, self._known = first, last, None
        elif last > self.last:
            self.last, self._known = last, None

    def saw_value_ratio(self, ratio: float) -> None:
        """A request is worth that much by its largest use."""
        if ratio > self.value_ratio:
            self.value_ratio, self._known = ratio, None

    def takes_alpha(self, alpha: float) -> None:
        """From somebody who knows which one earns most."""
        if alpha != self.alpha:
            self.alpha, self._known = alpha, None

    def learnt(self, value_ratio: float, alpha: float, first: int | None, last: int | None, priced: int) -> None:
        """All that an earlier one had seen."""
        self.value_ratio, self.alpha, self.first, self.last, self.priced = value_ratio, alpha, first, last, priced
        self._known = None

    def wants_audit(self) -> bool:
        """One more offer costs something: is it one to look at closely?"""
        self.priced += 1
        return self.priced & (self.priced - 1) == 0 if self.priced < AUDIT_EVERY else self.priced % AUDIT_EVERY == 0

    def audit(self, case: Case, cost: float) -> None:
        """Raise alpha if this cost is further from the proven least than any before."""
        least = ONE_SHOTS["exact"](case, OneShotOptions(nodes=AUDIT_NODES), seed=0)
        if least.bound > 0 and cost > self.alpha * least.bound:
            self.alpha, self._known = cost / least.bound, None


def _expect_sense(options: AdmitOptions, method: str) -> None:
    """UsageError if an option asks for what cannot be."""
    if method not in LIVE:
        raise UsageError(f"method '{method}' is not live; expected one of {', '.join(LIVE)}")
    if options.oneshot not in ONE_SHOTS:
        raise UsageError(f"one-shot method '{options.oneshot}' is not known; expected one of {', '.join(ONE_SHOTS)}")
    ranges = (
        ("value_ratio", options.value_ratio, 0.0, "above 0"),
        ("alpha", options.alpha, 1.0, "1 or more"),
        ("slot", options.slot, 0.0, "above 0"),
        ("slots", options.slots, 1, "1 or more"),
    )
    for name, value, least, words in ranges:
        if value is not None and (not math.isfinite(value) or value < least or value == 0):
            raise UsageError(f"{name} is {value}; expected a finite number {words}")
