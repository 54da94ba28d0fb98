"""What the service says about snapshots and jobs, as documents with examples."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from bayplan.serve.jobs.reading import CONTENT
from bayplan.serve.jobs.value_types import SNAPSHOT_ID, JsonSchema
from bayplan.serve.jobs.verbs import VERBS, OptionLimits, options_schema
from bayplan.serve.store.jobs import JobState, KeptSnapshot, StoredJob

EXAMPLE_SNAPSHOT = f"sha256-{'0' * 64}"
JOB_ID = "^job-[0-9a-f]{32}$"
EXAMPLE_JOB = f"job-{'0' * 32}"
TIME = "2026-11-17T12:00:00.000+00:00"


class SnapshotShown(BaseModel):
    """A snapshot that is kept."""

    id: str = Field(pattern=SNAPSHOT_ID, examples=[EXAMPLE_SNAPSHOT], description="sha256 of its unpacked content")
    kind: str = Field(examples=["cluster"], description="cluster, requests (timed) or stream (zones and cluster requests)")
    name: str = Field(examples=["shop"])
    format: str = Field(examples=["native"], description="native, rasa, gmrp")
    size: int = Field(examples=[9534], description="bytes, unpacked")
    created: str = Field(examples=[TIME])
    machines: int | None = Field(default=None, examples=[12])
    containers: int | None = Field(default=None, examples=[77])
    workloads: int | None = Field(default=None, examples=[18])
    requests: int | None = None
    zones: int | None = None
    notes: list[str] = Field(default_factory=list, description="what the reader had to decide")


class SnapshotList(BaseModel):
    """The newest snapshots first."""

    snapshots: list[SnapshotShown]


class JobShown(BaseModel):
    """A job and how far it is."""

    id: str = Field(pattern=JOB_ID, examples=[EXAMPLE_JOB])
    verb: str = Field(examples=["plan"])
    snapshot: str = Field(examples=[EXAMPLE_SNAPSHOT])
    options: dict[str, Any] = Field(examples=[{"goal": "steady", "seconds": 5}])
    state: JobState = Field(examples=["running"])
    created: str = Field(examples=[TIME])
    started: str | None = None
    ended: str | None = None
    cancelling: bool = Field(default=False, description="it was asked to end with its best so far")
    events: int = Field(examples=[7], description="the number of its last event")
    progress: dict[str, Any] | None = Field(default=None, examples=[{"stage": "searching", "done": 0.4, "score": -0.47}])
    incumbent: dict[str, Any] | None = Field(default=None, description="the best so far: its score, and what moves")
    answer: dict[str, Any] | None = Field(default=None, description="the answer in short: headline, status, score, files")
    failure: dict[str, Any] | None = Field(default=None, description="what went wrong: detail, code, faults")


class JobList(BaseModel):
    """The newest jobs first."""

    jobs: list[JobShown]


class VerbShown(BaseModel):
    """What a job can do."""

    verb: str = Field(examples=["plan"])
    about: str = Field(examples=["what should move, what that gains, in which order"])
    of: list[str] = Field(examples=[["cluster"]], description="kinds of snapshots that it is about")
    options: dict[str, Any] = Field(description="JSON Schema of its options: the arguments of the library's function")


class VerbList(BaseModel):
    """All verbs."""

    verbs: list[VerbShown]


def snapshot_shown(snapshot: KeptSnapshot) -> SnapshotShown:
    """A snapshot as a document."""
    facts = {"name": CONTENT, "format": "native", **snapshot.facts, "kind": snapshot.kind}
    known = {name: facts[name] for name in SnapshotShown.model_fields if name in facts}
    return SnapshotShown(**{**known, "id": snapshot.id, "size": snapshot.size, "created": moment(snapshot.created)})


def job_shown(job: StoredJob) -> JobShown:
    """A job as a document."""
    return JobShown(
        id=job.id,
        verb=job.verb,
        snapshot=job.snapshot,
        options=dict(job.options),
        state=job.state,
        created=moment(job.created),
        started=None if job.started is None else moment(job.started),
        ended=None if job.ended is None else moment(job.ended),
        cancelling=job.cancelling,
        events=job.events,
        progress=_dict(job.progress),
        incumbent=_dict(job.incumbent),
        answer=_dict(job.answer),
        failure=_dict(job.failure),
    )


def verbs_shown(limits: OptionLimits) -> VerbList:
    """All verbs as documents."""
    return VerbList(
        verbs=[
            VerbShown(verb=verb.name, about=verb.about, of=list(verb.of), options=options_schema(verb.name, limits))
            for verb in VERBS.values()
        ]
    )


def job_request_schema(limits: OptionLimits) -> JsonSchema:
    """The JSON Schema of what starts a job: one form for each verb."""
    return {
        "oneOf": [
            {
                "type": "object",
                "title": verb.name,
                "description": verb.about,
                "properties": {
                    "verb": {"const": verb.name},
                    "snapshot": {"type": "string", "pattern": SNAPSHOT_ID},
                    "options": options_schema(verb.name, limits),
                },
                "required": ["verb", "snapshot", *(["options"] if options_schema(verb.name, limits).get("required") else [])],
                "additionalProperties": False,
            }
            for verb in VERBS.values()
        ]
    }


def moment(seconds: float) -> str:
    """A time as RFC 3339 writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _dict(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else dict(value)
