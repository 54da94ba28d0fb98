"""Why requests were refused, counted by what was too expensive or too full."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.decide.admit import Refusal, RefusalCause
from bayplan.model import ClusterRequest, ClusterRequests, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Requests that were refused for the same cause."""

    why: str  # the cause in words
    cause: RefusalCause
    requests: int
    value: float  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Those that were refused, the most valuable first, and the causes, the most frequent first."""

    groups: tuple[Group, ...]
    each: tuple[tuple[ClusterRequest, str], ...]  # and the whole sentence


def refusals(stream: ClusterRequests, left_out: Sequence[Reason]) -> Refusals:
    """The refusals of a result, sorted and counted."""
    named = {request.name: request for request in stream.requests}
    refused = [reason for reason in left_out if isinstance(reason, Refusal)]
    values: dict[RefusalCause, list[float]] = {}
    for reason in refused:
        values.setdefault(reason.cause, []).append(named[reason.subject].value)
    groups = [Group(why=str(cause), cause=cause, requests=len(some), value=sum(some)) for cause, some in values.items()]
    groups.sort(key=lambda group: (-group.requests, -group.value, group.why))
    each = sorted(((named[reason.subject], reason.text) for reason in refused), key=lambda pair: -pair[0].value)
    return Refusals(groups=tuple(groups), each=tuple(each))
