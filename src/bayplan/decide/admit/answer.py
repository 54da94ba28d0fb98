"""What an admitter returns: judged by the referee, scored by value."""

from collections.abc import Sequence

from bayplan.check import check_admission
from bayplan.errors import ModelError
from bayplan.model import Acceptance, ClusterRequests, IntArray, Reason, Result, Status


def admitted(
    stream: ClusterRequests,
    zone_of: Sequence[IntArray | None],
    *,
    left_out: tuple[Reason, ...] = (),
    bound: float | None = None,
    seconds: float = 0.0,
) -> Result[Acceptance]:
    """The result for the zones of each request's members, None where one is refused. `bound`: no choice is worth more.

    An answer that does not fit is a fault of the method, and never gets out: ModelError.
    """
    acceptance = Acceptance(zone_of=tuple(zone_of))
    broken = check_admission(stream, acceptance)
    if broken:
        raise ModelError(f"the method broke a rule: {broken[0].sentence}")
    value = sum(stream.requests[i].value for i in acceptance.accepted.tolist())
    known = None if bound is None else max(bound, value)  # rounding
    optimal = known is not None and known - value <= 1e-9 * max(1.0, value)
    return Result(
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        solution=acceptance,
        score={"value": value, "served": len(acceptance.accepted) / max(1, len(stream.requests))},
        goal="value",
        bound=known,
        left_out=left_out,
        seconds=seconds,
    )
