"""`bp.Admission`: a live admission whose kernels are compiled when it is made, not at its first offer."""

from bayplan.api import warm_up
from bayplan.decide import admit
from bayplan.decide.admit import AdmitOptions
from bayplan.model import Progress, Zones, silent


class LiveAdmission(admit.Admission):
    """Zones, the bookings in them from now on, and the prices that decide on the next request.

    Thread-safe: one lock is held during every public call, so calls from several threads take effect one after the other.
    Time comes from the requests and from `advance`, never from a clock; an offer moves it to the request's arrival. A request
    takes every slot of length `options.slot` that its (start, end] touches, slot t being (t * slot, (t + 1) * slot]. Slots that
    have passed are dropped. A name is free again once its request has ended, was released, or was refused.

    Bad input raises InputError with numbered faults, and changes nothing. Values are assumed to be in the unit of the amounts:
    [Online clusters] assumes 1 <= value / use <= U.

    The first one on a machine compiles what its method needs, which takes seconds; `progress` is told how far that is.

    >>> import bayplan as bp
    >>> stream = bp.generate("container-clusters", count=5)
    >>> admission = bp.Admission(stream.zones)
    >>> decisions = [admission.offer(request) for request in stream.requests]
    >>> admission.offers, admission.accepted == sum(decision.accepted for decision in decisions)
    (5, True)
    """

    def __init__(
        self,
        zones: Zones,
        options: AdmitOptions | None = None,
        method: str = "primal-dual",
        seed: int = 0,
        *,
        progress: Progress = silent,
    ) -> None:
        chosen = AdmitOptions() if options is None else options
        warm_up.warm_up_methods([("admit", method), ("one-shot", chosen.one_shot)], progress)
        super().__init__(zones, chosen, method, seed)


Admission = LiveAdmission  # its public name
