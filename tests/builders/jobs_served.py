"""Jobs on a service, as tests start and follow them."""

from pathlib import Path
from typing import Any

from tests.builders.served import Address

import bayplan as bp
from bayplan.serve.client import RemoteJob, RemoteSnapshot
from bayplan.serve.settings import Limits, ServeSettings

PATIENCE = 300.0  # seconds
LONG = 120.0  # seconds of a job that is to be cut short


def settings_in(folder: Path, **limits: Any) -> ServeSettings:
    """Of a service in a folder, on any port; patient, for a machine that has other things to do."""
    patient = Limits(**{"answer_seconds": PATIENCE, **limits})
    return ServeSettings(port=0, store=str(folder / "serve.db"), folder=folder / "files", limits=patient)


def client_of(address: Address) -> Any:
    """A client of a service."""
    return bp.Client(address.url, token=address.token, seconds=PATIENCE)


def boutique(client: Any) -> RemoteSnapshot:
    """A small cluster on which a search improves for seconds."""
    sent: RemoteSnapshot = client.send(bp.generate("boutique"))
    return sent


def until_incumbent(job: RemoteJob) -> dict[str, Any]:
    """Follow a job until it has an incumbent; what the event says."""
    for event in job.events():
        if event.kind == "incumbent":
            return dict(event.data)
    raise AssertionError(f"{job} ended without an incumbent")
