"""Streams of cluster requests as text: JSON lines with a header, or a table."""

import csv
import io
import json
from collections.abc import Iterator

from bayplan.errors import UsageError
from bayplan.formats.admission import head_of
from bayplan.formats.cluster_request import entry_of
from bayplan.model import ClusterRequest, ClusterRequests, Resource
from bayplan.model.units import format_quantity, parse_quantity

SEPARATORS = frozenset("=;")


def json_lines(admission: ClusterRequests) -> str:
    """The zones in a first line, then one request per line, amounts in base units."""
    head, lists = head_of(admission.zones)
    names = [resource.name for resource in admission.zones.resources]
    entries = [entry_of(request, names) for request in admission.requests]
    whole = {**head, **{key: list(items) for key, items in lists.items()}}
    return "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in [whole, *entries])


def table_text(admission: ClusterRequests) -> str:
    """One row per member, amounts in written units; the zones are not in it. UsageError if it cannot say all."""
    resources, out = admission.zones.resources, io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["request", "arrival", "start", "end", "value", "member", *(r.name for r in resources), "traffic"])
    for request in admission.requests:
        if odd := [member for member in request.members if SEPARATORS & set(member) or member != member.strip()]:
            raise UsageError(f"member '{odd[0]}' of request '{request.name}' has '=', ';' or blanks in its name: use JSON lines")
        writer.writerows(_rows(request, resources))
    return out.getvalue()


def _rows(request: ClusterRequest, resources: tuple[Resource, ...]) -> Iterator[list[str]]:
    times = [repr(number) for number in (request.arrival, request.start, request.end, request.value)]
    for v, member in enumerate(request.members):
        row = zip(request.members, request.traffic[v].tolist(), strict=True)
        sent = (f"{other}={traffic!r}" for other, traffic in row if traffic)
        amounts = [_written(int(request.demand[v, r]), resource) for r, resource in enumerate(resources)]
        yield [request.name, *(times if v == 0 else [""] * 4), member, *amounts, ";".join(sent)]


def _written(amount: int, resource: Resource) -> str:
    text = format_quantity(amount, resource.scale)
    if parse_quantity(text) * resource.scale != amount:
        raise UsageError(f"{amount}/{resource.scale} of {resource.name} has no finite decimals: use JSON lines")
    return text
