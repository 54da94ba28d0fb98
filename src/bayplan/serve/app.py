"""The application: one function per area includes its routes; its life begins with the store and ends when all is written."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from bayplan.serve import jobs, metrics, problems, views
from bayplan.serve.access import AccessControl, Tokens, session
from bayplan.serve.admission import router as admissions
from bayplan.serve.admission.shapes import DOCUMENTED
from bayplan.serve.admission.writer import AdmissionWriter
from bayplan.serve.demo.demo import Demo
from bayplan.serve.jobs.queue import make_queue
from bayplan.serve.metrics import ServiceMetrics
from bayplan.serve.service import Service, Tell, silent
from bayplan.serve.settings import ServeSettings
from bayplan.serve.store.schema import open_store
from bayplan.serve.views.loop import LoopRecord
from bayplan.version import __version__

ABOUT = """Decide on which machine every container runs, over HTTP.

Errors are `application/problem+json` with the fault numbers of bayplan. Every write accepts an `Idempotency-Key`."""
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def make_service(settings: ServeSettings, tell: Tell = silent) -> Service:
    """The parts of a service: its store is opened, nothing runs yet."""
    database, measured = open_store(settings.store), ServiceMetrics()
    return Service(
        settings=settings,
        database=database,
        metrics=measured,
        admissions=AdmissionWriter(settings, database, measured, tell),
        jobs=make_queue(settings, database, lambda state, count: measured.jobs.labels(state).set(count), tell),
        tell=tell,
    )


def application(service: Service) -> FastAPI:
    """The application of a service. Its store is closed when it ends."""
    demo = Demo(service) if service.settings.demo else None
    record = service.settings.record
    loop = LoopRecord(record) if record else None

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        service.admissions.start()
        await run_in_threadpool(service.jobs.start)
        try:
            async with nullcontext() if demo is None else demo.running():
                yield
        finally:
            service.ending.set()
            if loop is not None:
                loop.close()
            await service.admissions.drain()
            await run_in_threadpool(service.jobs.stop)
            service.database.close()

    app = FastAPI(
        title="bayplan",
        version=__version__,
        description=ABOUT,
        lifespan=life,
        docs_url=None,  # its page would be loaded from another host
        redoc_url=None,
        telemetry=NO_TELEMETRY,  # nothing is sent anywhere, whatever the environment says
    )
    tokens = Tokens(service.settings)
    problems.handle_problems(app)
    app.include_router(metrics.router(service))
    app.include_router(admissions.router(service))
    app.include_router(session.router(service, tokens))
    for area in (*jobs.routers(service), *views.routers(service, loop)):
        app.include_router(area)
    app.add_middleware(admissions.ShortWay, writer=service.admissions)
    app.add_middleware(AccessControl, service=service, tokens=tokens)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Complete the OpenAPI document: the schema of problems, and tokens."""
    made = app.openapi

    def described() -> dict[str, Any]:
        document = made()
        parts = document.setdefault("components", {})
        if "securitySchemes" in parts:  # made before: FastAPI keeps it
            return document
        for model in (problems.ProblemShown, *DOCUMENTED):
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
            parts.setdefault("schemas", {}).update({**schema.pop("$defs", {}), model.__name__: schema})
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}, {}]
        _drop_validation_errors(document)
        return document

    app.openapi = described  # type: ignore[method-assign]  # as FastAPI's documentation says


def _drop_validation_errors(document: dict[str, Any]) -> None:
    """FastAPI's own form of a 422 is never sent: ours is."""
    problem = problems.problem_responses(422)[422]
    for methods in document["paths"].values():
        for operation in methods.values():
            if "422" in operation.get("responses", {}):
                operation["responses"]["422"] = problem
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
