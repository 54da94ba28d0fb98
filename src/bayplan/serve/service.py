"""What every area of the service is given."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bayplan.operate.store.database import Database
from bayplan.serve.admission.writer import AdmissionWriter
from bayplan.serve.jobs.queue import JobQueue
from bayplan.serve.metrics import ServiceMetrics
from bayplan.serve.settings import ServeSettings

Tell = Callable[[str, dict[str, Any]], None]  # one line of the log: an event and its fields


def silent(event: str, fields: dict[str, Any]) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The parts of a running service that its areas share."""

    settings: ServeSettings
    database: Database
    metrics: ServiceMetrics
    admissions: AdmissionWriter
    jobs: JobQueue
    tell: Tell = silent
    ending: threading.Event = field(default_factory=threading.Event)  # set when it was told to end: streams finish then
