"""`/v1/snapshots`: send a file in any format that bayplan reads, look at what is kept, delete it."""

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse

from bayplan.errors import Fault, InputError
from bayplan.serve.jobs.documents import EXAMPLE_SNAPSHOT, SnapshotList, SnapshotShown, snapshot_shown
from bayplan.serve.jobs.reading import FORMATS
from bayplan.serve.jobs.value_types import SNAPSHOT_ID
from bayplan.serve.keys import IdempotencyKey, made_before, request_key
from bayplan.serve.problems import ALWAYS, problem_responses
from bayplan.serve.service import Service

Responses = dict[int | str, dict[str, Any]]
SnapshotId = Annotated[str, Path(pattern=SNAPSHOT_ID, examples=[EXAMPLE_SNAPSHOT])]
Form = Literal["json", "yaml", "csv", "jsonl", "text"]
TYPES: dict[str, Form] = {  # media type -> format
    "application/json": "json",
    "application/yaml": "yaml",
    "text/yaml": "yaml",
    "text/csv": "csv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
}
EXAMPLE = {
    "bayplan": 1,
    "resources": {"cpu": {}},
    "machines": [{"name": "m-0", "capacity": {"cpu": 4}}, {"name": "m-1", "capacity": {"cpu": 4}}],
    "workloads": [{"name": "web", "replicas": 2, "request": {"cpu": 1}}],
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A file as bayplan reads it; gzip is unpacked, whether Content-Encoding says so or its first bytes do.",
        "content": {
            "application/json": {"schema": {"type": "object"}, "examples": {"shop": {"value": EXAMPLE}}},
            "application/yaml": {"schema": {"type": "string"}},
            "text/csv": {"schema": {"type": "string"}},
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
LINKS = {
    name: {"operationId": operation, "parameters": {"snapshot": "$response.body#/id"}}
    for name, operation in (
        ("snapshot", "get_snapshot"),
        ("content", "get_snapshot_content"),
        ("delete", "delete_snapshot"),
    )
}
JOB_LINK = {"operationId": "submit_job", "requestBody": {"verb": "show", "snapshot": "$response.body#/id", "options": {}}}
KEPT = {"description": "It is kept.", "links": {**LINKS, "job": JOB_LINK}}
SENT: Responses = {201: KEPT, 200: {**KEPT, "model": SnapshotShown, "description": "It was there already."}}
CONTENT: Responses = {200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}


def router(service: Service) -> APIRouter:
    """The routes of snapshots."""
    routes = APIRouter(prefix="/v1/snapshots", tags=["snapshots"], responses=problem_responses(*ALWAYS))
    kept, store = service.jobs.snapshots, service.jobs.store

    @routes.post(
        "",
        operation_id="send_snapshot",
        summary="Send a snapshot.",
        status_code=201,
        openapi_extra=BODY,
        responses=SENT | problem_responses(413, 415, 422),
    )
    async def send(
        request: Request,
        response: Response,
        form: Annotated[Form | None, Query(alias="format", description="What it is; else seen by its type or content.")] = None,
        idempotency_key: IdempotencyKey = None,
    ) -> SnapshotShown:
        body = await request.body()
        stated = form or TYPES.get(request.headers.get("content-type", "").partition(";")[0].strip().lower(), "text")
        key = request_key(request, idempotency_key, body)

        def work() -> tuple[SnapshotShown, bool]:
            made_before(store, key)  # the same bytes are the same snapshot: only a key of another request counts
            snapshot, new = kept.keep(body, stated)
            if key is not None:
                store.remember(key, snapshot.id, snapshot.used)
            return snapshot_shown(snapshot), new

        shown, new = await run_in_threadpool(work)
        response.status_code = 201 if new else 200
        return shown

    @routes.get("", operation_id="list_snapshots", summary="The newest snapshots.", responses=problem_responses(422))
    def list_snapshots(limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> SnapshotList:
        return SnapshotList(snapshots=[snapshot_shown(snapshot) for snapshot in store.snapshots(limit)])

    @routes.get(
        "/{snapshot}",
        operation_id="get_snapshot",
        summary="What a snapshot holds.",
        responses=problem_responses(404, 422),
    )
    def look(snapshot: SnapshotId) -> SnapshotShown:
        return snapshot_shown(kept.find(snapshot))

    @routes.get(
        "/{snapshot}/content",
        operation_id="get_snapshot_content",
        summary="The bytes that were sent, unpacked.",
        response_class=FileResponse,
        responses=CONTENT | problem_responses(404, 422),
    )
    def content(snapshot: SnapshotId) -> FileResponse:
        path = kept.content(snapshot)
        return FileResponse(path, media_type="application/octet-stream", filename=f"{snapshot}{path.suffix}")

    @routes.delete(
        "/{snapshot}",
        operation_id="delete_snapshot",
        summary="Delete a snapshot that no job needs any more.",
        status_code=204,
        responses=problem_responses(404, 409, 422),
    )
    def delete(request: Request, snapshot: SnapshotId, idempotency_key: IdempotencyKey = None) -> None:
        key = request_key(request, idempotency_key)
        if made_before(store, key) is not None:
            return
        job = kept.drop(snapshot)
        if job is not None:
            problem = f"is needed by job '{job.id}', which has not ended"
            raise InputError("snapshot", [Fault(code="E2740", kind="snapshot", name=snapshot, problem=problem)])
        if key is not None:
            store.remember(key, snapshot, time.time())

    return routes


assert set(TYPES.values()) <= set(FORMATS)
