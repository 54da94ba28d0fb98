"""`/v1/jobs`: start a decision, follow it, cancel it, fetch what it has made."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, StreamingResponse

from bayplan.errors import Fault, InputError
from bayplan.formats.document.parse import parse_json
from bayplan.serve.jobs.answers import Download, download
from bayplan.serve.jobs.documents import (
    EXAMPLE_JOB,
    EXAMPLE_SNAPSHOT,
    JOB_ID,
    JobList,
    JobShown,
    VerbList,
    job_request_schema,
    job_shown,
    verbs_shown,
)
from bayplan.serve.jobs.event_stream import event_stream
from bayplan.serve.keys import IdempotencyKey, made_before, request_key
from bayplan.serve.problems import ALWAYS, problem_responses
from bayplan.serve.service import Service
from bayplan.serve.store.jobs import JobState

JobId = Annotated[str, Path(pattern=JOB_ID, examples=[EXAMPLE_JOB])]
EXAMPLES = {
    "plan": {"value": {"verb": "plan", "snapshot": EXAMPLE_SNAPSHOT, "options": {"goal": "steady", "seconds": 5}}},
    "drain": {"value": {"verb": "plan", "snapshot": EXAMPLE_SNAPSHOT, "options": {"what_if": {"drain": ["m-0"]}}}},
    "explain": {"value": {"verb": "explain", "snapshot": EXAMPLE_SNAPSHOT, "options": {"name": "web-0"}}},
}
LINKS = {
    name: {"operationId": operation, "parameters": {"job": "$response.body#/id"}}
    for name, operation in (
        ("job", "get_job"),
        ("events", "get_job_events"),
        ("cancel", "cancel_job"),
        ("result", "get_job_result"),
        ("report", "get_job_report"),
        ("plan", "get_job_plan"),
        ("incumbent", "get_job_incumbent"),
        ("delete", "delete_job"),
    )
}
Responses = dict[int | str, dict[str, Any]]
OF_ONE, OF_FILES = problem_responses(404, 422), problem_responses(404, 409, 422)
STARTED: Responses = {202: {"description": "It waits, or runs.", "links": LINKS}}
EVENT = {  # of a stream, as its readers see it
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"enum": ["state", "progress", "incumbent", "ended"]},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
        "retry": {"type": "integer"},
    },
    "required": ["event", "data"],
}
EVENT_STREAM = "text/event-stream"
AS_EVENTS: Responses = {200: {"content": {EVENT_STREAM: {"schema": EVENT}}}}
AS_JSON: Responses = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}
AS_PAGE: Responses = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}
AS_FILE: Responses = {
    200: {"content": {"application/json": {"schema": {"type": "object"}}, "text/plain": {"schema": {"type": "string"}}}}
}
REPORT_POLICY = (  # a page of its own origin that can load nothing, so that its scripts reach nothing of the service
    "sandbox allow-scripts allow-popups; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; frame-ancestors 'none'"
)


def router(service: Service) -> APIRouter:
    """The routes of jobs."""
    routes = APIRouter(prefix="/v1", tags=["jobs"], responses=problem_responses(*ALWAYS))
    _add_jobs(routes, service)
    _add_job(routes, service)
    _add_files(routes, service)
    return routes


def _add_jobs(routes: APIRouter, service: Service) -> None:
    """Start jobs and list them; the verbs and their options."""
    queue = service.jobs
    limits = queue.settings.limits
    schema = {"schema": job_request_schema(limits), "examples": EXAMPLES}

    @routes.get("/verbs", operation_id="list_verbs", summary="What a job can do, and its options.")
    def verbs() -> VerbList:
        return verbs_shown(limits)

    @routes.post(
        "/jobs",
        operation_id="submit_job",
        summary="Start a decision.",
        status_code=202,
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": schema}}},
        responses=STARTED | problem_responses(404, 409, 413, 415, 422),
    )
    async def submit(request: Request, idempotency_key: IdempotencyKey = None) -> JobShown:
        body = await request.body()
        stated = _job_request(body)
        key = request_key(request, idempotency_key, body)
        job = await run_in_threadpool(queue.submit, stated["verb"], stated["snapshot"], stated["options"], key)
        return job_shown(job)

    @routes.get("/jobs", operation_id="list_jobs", summary="The newest jobs.", responses=problem_responses(422))
    def list_jobs(state: JobState | None = None, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> JobList:
        return JobList(jobs=[job_shown(job) for job in queue.store.jobs(limit, state)])


def _add_job(routes: APIRouter, service: Service) -> None:
    """One job: how far it is, its events, cancel it, delete it."""
    queue = service.jobs

    @routes.get("/jobs/{job}", operation_id="get_job", summary="How far a job is.", responses=OF_ONE)
    def look(job: JobId) -> JobShown:
        return job_shown(queue.find(job))

    @routes.get(
        "/jobs/{job}/events",
        operation_id="get_job_events",
        summary="Server-sent events: state, progress, incumbent, ended.",
        response_class=StreamingResponse,
        responses=AS_EVENTS | OF_ONE,
    )
    async def events(
        job: JobId,
        last_event_id: Annotated[int, Header(ge=0, le=2**53, description="The last event that was seen.")] = 0,
        follow: Annotated[bool, Query(description="Wait for further events, until the job has ended?")] = True,
    ) -> StreamingResponse:
        await run_in_threadpool(queue.find, job)
        stream = event_stream(queue, job, last_event_id, follow=follow, ending=service.ending)
        return StreamingResponse(stream, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    @routes.post(
        "/jobs/{job}/cancel",
        operation_id="cancel_job",
        summary="End a job with its best so far.",
        status_code=202,
        responses=OF_ONE,
    )
    def cancel(job: JobId, idempotency_key: IdempotencyKey = None) -> JobShown:
        return job_shown(queue.cancel(job))

    @routes.delete(
        "/jobs/{job}", operation_id="delete_job", summary="Forget a job that has ended.", status_code=204, responses=OF_FILES
    )
    def delete(request: Request, job: JobId, idempotency_key: IdempotencyKey = None) -> None:
        key = request_key(request, idempotency_key)
        if made_before(queue.store, key) is None:
            queue.delete(job)
        if key is not None:
            queue.store.remember(key, job, time.time())


def _add_files(routes: APIRouter, service: Service) -> None:
    """What a job has made."""
    queue = service.jobs

    @routes.get(
        "/jobs/{job}/result",
        operation_id="get_job_result",
        summary="The answer: the object that --json prints; of a job that was cut short, its best so far.",
        response_class=Response,
        responses=AS_JSON | OF_FILES,
    )
    def result(job: JobId) -> Response:
        return _sent(download(queue, job, "result"))

    @routes.get(
        "/jobs/{job}/incumbent",
        operation_id="get_job_incumbent",
        summary="The best so far while a job runs: its score and where everything would run.",
        response_class=Response,
        responses=AS_JSON | OF_FILES,
    )
    def incumbent(job: JobId) -> Response:
        return _sent(download(queue, job, "incumbent"))

    @routes.get(
        "/jobs/{job}/plan",
        operation_id="get_job_plan",
        summary="What the answer saves: a plan, a placement, accepted or served requests.",
        response_class=Response,
        responses=AS_FILE | OF_FILES,
    )
    def plan(job: JobId) -> Response:
        return _sent(download(queue, job, "plan"))

    @routes.get(
        "/jobs/{job}/report",
        operation_id="get_job_report",
        summary="The page that --report writes.",
        response_class=Response,
        responses=AS_PAGE | OF_FILES,
    )
    def report(job: JobId) -> Response:
        sent = _sent(download(queue, job, "report"))
        sent.headers["Content-Security-Policy"] = REPORT_POLICY
        return sent


def _sent(file: Download) -> Response:
    if file.path is None:
        return Response(file.content, media_type=file.media_type)
    return FileResponse(file.path, media_type=file.media_type, filename=file.name or None, content_disposition_type=file.shown)


def _job_request(body: bytes) -> dict[str, Any]:
    """Verb, snapshot and options of a request; InputError with a numbered fault if it has another form."""
    try:
        document = parse_json(body.decode("utf-8"), "body")
    except UnicodeDecodeError as error:
        value = f"byte 0x{body[error.start]:02x} at {error.start}"
        raise InputError("body", [_form("E1005", "", "is not UTF-8 text", value, "UTF-8")]) from None
    if not isinstance(document, dict):
        raise InputError("body", [_form("E2745", "", "is not an object", "", "an object with verb, snapshot and options")])
    faults = [
        _form("E2745", name, "is not known", "", "verb, snapshot and options")
        for name in document.keys() - {"verb", "snapshot", "options"}
    ]
    missing = [name for name in ("verb", "snapshot") if not isinstance(document.get(name), str)]
    faults += [_form("E2745", name, "is missing or no text", "", f"a text: {name}") for name in missing]
    if faults:
        raise InputError("body", faults)
    return {"options": {}, **document}


def _form(code: str, name: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=code, kind="body", name=name[:100], problem=problem, value=value, expected=expected)
