"""The admission of the demo: clusters of containers arrive at nine zones, most of them at once, the rest while people look."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import bayplan as bp
from bayplan.errors import BayplanError
from bayplan.serve.admission.shapes import AdmissionGiven
from bayplan.serve.service import Service

NAME = "nine-zones"
AT_ONCE = 60  # offers that are made before the first person looks
PAUSE = 3.0  # seconds between two of the others


def stream_document() -> dict[str, Any]:
    """Zones, links and requests as a file for `admit` has them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stream.json"
        bp.write(bp.generate("container-clusters"), file)
        document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


async def offer_stream(service: Service) -> None:
    """Create the admission and offer its requests one by one, until there are no more or the service ends."""
    document = await asyncio.to_thread(stream_document)
    zones = {key: document[key] for key in ("resources", "zones", "links", "amounts")}
    described = AdmissionGiven(name=NAME, method="primal-dual", **zones).description()
    if await asyncio.to_thread(service.admissions.store.create, NAME, described) is None:
        return  # a demo that was started again on the same store goes on with what is there
    for number, request in enumerate(document["requests"]):
        if number >= AT_ONCE:
            await asyncio.sleep(PAUSE)
        try:
            await service.admissions.change(NAME, "offer", request, key=None)
        except BayplanError as error:
            service.tell("demo", {"offer": request["name"], "refused": str(error)})
            return
