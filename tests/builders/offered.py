"""Admissions and offers for tests of the service, as the bodies that clients send."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayplan.formats.streams.document import head_of
from bayplan.formats.streams.entry import entry_of
from bayplan.generate import GENERATORS
from bayplan.model import ClusterRequests
from bayplan.serve.admission.writer import AdmissionWriter
from bayplan.serve.metrics import ServiceMetrics
from bayplan.serve.settings import ServeSettings
from bayplan.serve.store.schema import open_store

METHODS = ("primal-dual", "learned", "available", "swmoa")


def stream(count: int = 60, seed: int = 0, zones: int = 3, members: int = 3, slots: int = 40) -> ClusterRequests:
    """A seeded stream that fills its zones, so that some requests are refused."""
    sizes = {"zones": zones, "members_least": members, "members_most": members, "slots": slots}
    return GENERATORS["container-clusters"].make(**sizes, count=count, seed=seed)


def creation(requests: ClusterRequests, name: str = "shop", method: str = "learned", **more: Any) -> dict[str, Any]:
    """The body that creates the admission of a stream."""
    head, lists = head_of(requests.zones)
    document = {**head, **{key: list(items) for key, items in lists.items()}}
    return {"name": name, "method": method, **{key: document[key] for key in ("amounts", "resources", "zones", "links")}, **more}


def offers(requests: ClusterRequests) -> list[dict[str, Any]]:
    """The bodies of its offers."""
    names = [resource.name for resource in requests.zones.resources]
    return [entry_of(request, names) for request in requests.requests]


def changes(requests: ClusterRequests) -> Iterator[tuple[str, dict[str, Any]]]:
    """Offers, with a release after every seventh and an advance after every eleventh; some of the releases are refused."""
    for number, offer in enumerate(offers(requests), start=1):
        yield "offer", offer
        if number % 7 == 0:
            yield "release", {"name": offer["name"]}
        if number % 11 == 0:
            yield "advance", {"time": offer["arrival"]}


def description(requests: ClusterRequests, method: str, **options: Any) -> dict[str, Any]:
    """What the store keeps of an admission."""
    from bayplan.serve.admission.shapes import AdmissionGiven

    return AdmissionGiven(**creation(requests, method=method, options=options)).description()


@contextmanager
def writer(store: str | Path, **settings: Any) -> Iterator[AdmissionWriter]:
    """A writer that has not begun; its database is closed at the end."""
    given = ServeSettings(store=str(store), **settings)
    database = open_store(given.store)
    try:
        yield AdmissionWriter(given, database, ServiceMetrics(), lambda event, fields: None)
    finally:
        database.close()


def run(made: AdmissionWriter, work: Callable[[AdmissionWriter], Coroutine[Any, Any, Any]], drained: bool = True) -> Any:
    """Do some work with a writer; not drained: it just stops, as if it were killed between two groups."""

    async def main() -> Any:
        made.start()
        try:
            return await work(made)
        finally:
            if drained:
                await made.drain()
            else:
                made._end = lambda: None  # type: ignore[method-assign]
                await made.drain()

    return asyncio.run(main())


async def outcome(made: AdmissionWriter, kind: str, given: dict[str, Any], key: str | None = None, name: str = "shop") -> Any:
    """The outcome of a change, as data, or the code of its fault."""
    from bayplan.errors import InputError

    try:
        return json.loads((await made.change(name, kind, given, key)).text)
    except InputError as error:
        return error.faults[0].code
