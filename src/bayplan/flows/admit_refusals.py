"""Why requests were refused: the sentences of the methods, counted by what was too dear or too full."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.model import ClusterRequest, ClusterRequests, Reason

PLACE = r"(?P<place>[^;:]*? in zone '.*?'|the link from zone '.*?' to '.*?')"
FORMS = (  # how a sentence begins or what it holds -> the kind of refusal
    (re.compile(rf"too dear: .* of it is for {PLACE}$"), "too dear, mostly for {place}"),
    (re.compile(r"too dear: "), "too dear"),
    (re.compile(rf"no room: it would take \S+ of \S+ free {PLACE}$"), "no room: short of {place}"),
    (re.compile(rf"no room: it would send \S+ over {PLACE}, which has"), "no room: short of {place}"),
    (re.compile(r"no room: member .* fits into 0/\d+ zones \((?P<short>.*)\)$"), "no room: a member fits into no zone, {most}"),
    (re.compile(r"no room: .* not together: they ask for \S+ of \S+ (?P<place>.*?) that"), "no room: together short of {place}"),
    (re.compile(r"no room: .* not together: .* found no zones with links"), "no room: no linked zones for all members"),
    (re.compile(r"no room found: "), "no room found for all members together"),
    (re.compile(r"not looked at: (?P<place>.*)$"), "not looked at: {place}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Requests that were refused for the same kind of reason."""

    why: str
    requests: int
    value: float  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Those that were refused, the most valuable first, and the kinds of reasons, the most frequent first."""

    groups: tuple[Group, ...]
    each: tuple[tuple[ClusterRequest, str], ...]  # and the whole sentence


def refusals(stream: ClusterRequests, reasons: Sequence[Reason]) -> Refusals:
    """The reasons of a result, sorted and counted."""
    named = {request.name: request for request in stream.requests}
    each = [(named[reason.subject], reason.text) for reason in reasons if reason.subject in named]
    count: dict[str, list[float]] = {}
    for request, text in each:
        count.setdefault(kind_of(text), []).append(request.value)
    groups = [Group(why=why, requests=len(values), value=sum(values)) for why, values in count.items()]
    groups.sort(key=lambda group: (-group.requests, -group.value, group.why))
    each.sort(key=lambda pair: -pair[0].value)
    return Refusals(groups=tuple(groups), each=tuple(each))


def kind_of(text: str) -> str:
    """The sentence without its numbers: 'too dear, mostly for cpu in zone 'east''."""
    for form, words in FORMS:
        if found := form.match(text):
            parts = found.groupdict()
            return words.format(**parts, most=_most(parts["short"])) if "short" in parts else words.format(**parts)
    return text


def _most(listed: str) -> str:
    """'short of cpu' of '7 short of cpu, 2 short of memory'."""
    parts = [part.partition(" ") for part in listed.split(", ")]
    return max(parts, key=lambda part: int(part[0]) if part[0].isdigit() else 0)[2]
