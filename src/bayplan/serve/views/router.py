"""The routes of the page: its files, the bay plan and the findings of a snapshot, the loop."""

import gzip
import json
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from bayplan.errors import UsageError
from bayplan.serve.jobs.answers import JSON, download
from bayplan.serve.jobs.documents import EXAMPLE_JOB, JOB_ID, SnapshotShown, snapshot_shown
from bayplan.serve.jobs.job_routes import REPORT_POLICY
from bayplan.serve.jobs.queue import JobQueue
from bayplan.serve.jobs.snapshot_routes import SnapshotId
from bayplan.serve.keys import IdempotencyKey, made_before, request_key
from bayplan.serve.problems import ALWAYS, WRITES, missing, problem_responses, refusal
from bayplan.serve.store.jobs import JobStore
from bayplan.serve.views.drawing import Drawings
from bayplan.serve.views.loop import LoopRecord
from bayplan.serve.views.page_files import POLICY, PageFile, page_files

NOT_SEEN = "a loop that has begun a turn since its record was begun"
KEPT: dict[int | str, dict[str, Any]] = {200: {"model": SnapshotShown, "description": "It was there already."}}
NO_LOOP = "this service was started without the record of a loop (--record FILE)"
Seconds = Annotated[float | None, Query(gt=0, le=1e9, description="only the last seconds", examples=[604800])]


class LoopInstruction(BaseModel):
    """What a person says to the loop."""

    model_config = ConfigDict(extra="forbid", strict=True)

    plan: str = Field(default="latest", max_length=100, description="the id of a plan, or its beginning; `latest`: the newest")
    by: str = Field(default="", max_length=100, description="who says it; the name of the token if empty")
    why: str = Field(default="", max_length=1000)
    trust: bool = Field(default=False, description="resume: also trust an observation that has far less than there was before")


class HandedPlan(BaseModel):
    """A plan for the loop."""

    model_config = ConfigDict(extra="forbid", strict=True)

    job: str = Field(pattern=JOB_ID, examples=[EXAMPLE_JOB], description="the job of `plan` or `migrate` that made it")
    by: str = Field(default="", max_length=100, description="who approves it; the name of the token if empty")


class LoopInstructionTaken(BaseModel):
    """What was written into the record for the loop."""

    done: str = Field(examples=["paused: moves that have begun are brought to their end, and none is begun"])


def page_router() -> APIRouter:
    """`/` and what it loads. The same for everyone: it holds no data."""
    routes = APIRouter(include_in_schema=False)
    files = page_files()

    @routes.get("/")
    async def index(request: Request) -> Response:
        return _file(request, files["index.html"])

    @routes.get("/page/{name}")
    async def part(request: Request, name: str) -> Response:
        if name not in files or name == "index.html":
            raise missing("file", name)
        return _file(request, files[name])

    return routes


def _file(request: Request, file: PageFile) -> Response:
    headers = {"ETag": file.tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def snapshot_router(drawings: Drawings) -> APIRouter:
    """What a bay plan is drawn from, and what is wrong with it."""
    routes = APIRouter(prefix="/v1/snapshots", tags=["snapshots"], responses=problem_responses(*ALWAYS, 404, 409, 422))

    @routes.get("/{snapshot}/bayplan", operation_id="get_snapshot_bayplan", summary="The columns that a bay plan is drawn from.")
    def bayplan(request: Request, snapshot: SnapshotId) -> dict[str, Any]:
        return _packed(request, drawings.of(snapshot).columns)  # type: ignore[return-value]  # a response that is made already

    @routes.get("/{snapshot}/findings", operation_id="get_snapshot_findings", summary="What is wrong, in words; the worst first.")
    def findings(snapshot: SnapshotId) -> dict[str, Any]:
        return drawings.of(snapshot).findings

    return routes


def _packed(request: Request, packed: bytes) -> Response:
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, media_type="application/json", headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    return Response(gzip.decompress(packed), media_type="application/json", headers={"Vary": "Accept-Encoding"})


def loop_router(loop: LoopRecord | None, jobs: JobQueue) -> APIRouter:
    """The loop of a record: what it does, what it did and sees, and what people say to it; plans of `jobs` can be given to it."""
    routes = APIRouter(prefix="/v1/loop", tags=["loop"], responses=problem_responses(*ALWAYS, 404, 422))

    def known() -> LoopRecord:
        if loop is None:
            raise refusal("E2750", "loop", "", NO_LOOP, expected="--record FILE")
        return loop

    @routes.get("", operation_id="get_loop", summary="What the loop does now.")
    def status() -> dict[str, Any]:
        if loop is None:
            return {"known": False, "headline": NO_LOOP}
        try:
            return {"known": True, **loop.status()}
        except UsageError as error:  # the loop has not begun its record yet
            return {"known": False, "headline": str(error)}

    @routes.get("/history", operation_id="get_loop_history", summary="What the loop did, why, and what it brought.")
    def history(last: Seconds = None) -> dict[str, Any]:
        return known().history(last)

    @routes.get("/report", operation_id="get_loop_report", summary="The same as a page.", response_class=HTMLResponse)
    def report(last: Seconds = None) -> HTMLResponse:
        return HTMLResponse(known().report(last), headers={"Content-Security-Policy": REPORT_POLICY})

    @routes.get(
        "/bayplan",
        operation_id="get_loop_bayplan",
        summary="The columns of the cluster as the loop saw it last.",
    )
    def bayplan(request: Request) -> dict[str, Any]:
        columns = known().columns()
        if columns is None:
            raise missing("observation", "", expected=NOT_SEEN)
        return _packed(request, columns)  # type: ignore[return-value]  # a response that is made already

    _add_instructions(routes, known, jobs.store)
    _add_plans(routes, known, jobs)
    return routes


def _add_plans(routes: APIRouter, known: Callable[[], LoopRecord], jobs: JobQueue) -> None:
    """What a person needs to plan for the loop: what it sees as a snapshot, and a way to give it the plan."""

    @routes.post(
        "/snapshot",
        operation_id="keep_loop_snapshot",
        summary="Keep the cluster as the loop saw it last as a snapshot, to plan on.",
        status_code=201,
        responses=KEPT | problem_responses(*WRITES),
    )
    def keep(request: Request, response: Response, idempotency_key: IdempotencyKey = None) -> SnapshotShown:
        key = request_key(request, idempotency_key)
        earlier = made_before(jobs.store, key)
        if earlier is not None:
            return snapshot_shown(jobs.snapshots.find(earlier))
        content = known().snapshot()
        if content is None:
            raise missing("observation", "", expected=NOT_SEEN)
        snapshot, new = jobs.snapshots.keep(content, "json")
        if key is not None:
            jobs.store.remember(key, snapshot.id, time.time())
        response.status_code = 201 if new else 200
        return snapshot_shown(snapshot)

    @routes.post(
        "/plans",
        operation_id="hand_plan_to_loop",
        summary="Hand the plan of a job to the loop: a person has read and approved it.",
        responses=problem_responses(409, *WRITES),
    )
    def hand_in(request: Request, handed: HandedPlan, idempotency_key: IdempotencyKey = None) -> LoopInstructionTaken:
        return _once(
            request,
            idempotency_key,
            handed,
            jobs.store,
            lambda by: known().hand_in(_plan_of(jobs, handed.job), f"the plan of {handed.job}", by),
        )


def _plan_of(jobs: JobQueue, name: str) -> dict[str, Any]:
    """The plan that a job has made; a refusal if it has none with steps."""
    file = download(jobs, name, "plan")
    text = file.content or (file.path.read_text(encoding="utf-8") if file.path is not None else "")
    document = json.loads(text) if file.media_type == JSON else None
    if not isinstance(document, dict) or "batches" not in document:
        expected = "a job of plan or migrate that has ended with its answer"
        raise refusal("E2751", "job", name, "has no steps that a loop can make", value=jobs.find(name).verb, expected=expected)
    return document


def _add_instructions(routes: APIRouter, known: Callable[[], LoopRecord], keys: JobStore) -> None:
    taken: dict[str, Callable[[LoopInstruction, str], str]] = {
        "pause": lambda said, by: known().pause(by, said.why),
        "resume": lambda said, by: known().resume(by, trust=said.trust),
        "approve": lambda said, by: known().approve(said.plan, by),
        "rollback": lambda said, by: known().rollback(said.plan, by),
    }
    about = {
        "pause": "Stop all acting; moves that have begun are brought to their end.",
        "resume": "Let the loop act again; a plan that was under way goes on.",
        "approve": "Approve a plan that waits for it.",
        "rollback": "Ask the loop to take a plan back, as far as that is still possible.",
    }
    for name, take in taken.items():
        routes.add_api_route(
            f"/{name}",
            _instruction(take, keys),
            methods=["POST"],
            summary=about[name],
            operation_id=f"loop_{name}",
            responses=problem_responses(*WRITES),
        )


def _instruction(take: Callable[[LoopInstruction, str], str], keys: JobStore) -> Callable[..., LoopInstructionTaken]:
    def instruct(
        request: Request, said: LoopInstruction | None = None, idempotency_key: IdempotencyKey = None
    ) -> LoopInstructionTaken:
        given = said or LoopInstruction()
        return _once(request, idempotency_key, given, keys, lambda by: take(given, by))

    return instruct


def _once(
    request: Request, stated: str | None, said: LoopInstruction | HandedPlan, keys: JobStore, take: Callable[[str], str]
) -> LoopInstructionTaken:
    """Do what is said, in the name of a person or of the token; said again with the same key, only the answer is given again."""
    key = request_key(request, stated, said.model_dump_json().encode())
    earlier = made_before(keys, key)
    if earlier is not None:
        return LoopInstructionTaken(done=earlier)
    identity = request.scope.get("bayplan.identity")
    done = take(said.by or (identity.name if identity is not None else "") or "unknown")
    if key is not None:
        keys.remember(key, done, time.time())
    return LoopInstructionTaken(done=done)
