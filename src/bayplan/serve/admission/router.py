"""The paths of `/v1/admissions`."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bayplan.errors import BayplanError, Fault, InputError
from bayplan.formats.document.parse import parse_json
from bayplan.serve.admission import changes, shapes, views
from bayplan.serve.admission.state import made_of
from bayplan.serve.admission.writer import AdmissionWriter
from bayplan.serve.keys import KEY, LONGEST_KEY, IdempotencyKey, made_before, request_key, used_key
from bayplan.serve.problems import ALWAYS, WRITES, problem_of, problem_responses, refusal
from bayplan.serve.service import Service
from bayplan.serve.store.admissions import StoredAdmission
from bayplan.serve.store.jobs import JobStore

MOST_ADMISSIONS = 100
Name = Annotated[str, Path(pattern=shapes.NAME, examples=["shop"])]
At = Annotated[float | None, Query(description="A time from now on; left out: now.", allow_inf_nan=False)]
Slots = Annotated[int, Query(ge=1, le=1000)]


def router(service: Service) -> APIRouter:
    """All paths of admissions."""
    routes = APIRouter(prefix="/v1/admissions", tags=["admissions"], responses=problem_responses(*ALWAYS))
    writer = service.admissions
    _collection(routes, writer, JobStore(service.database))
    _changes(routes, writer)
    _figures(routes, writer)
    return routes


def _collection(routes: APIRouter, writer: AdmissionWriter, keys: JobStore) -> None:
    """Create, list, look at and delete admissions."""

    @routes.post("", status_code=201, summary="Create an admission.", responses=problem_responses(*WRITES))
    def create(given: shapes.AdmissionGiven, idempotency_key: IdempotencyKey = None) -> shapes.AdmissionListed:
        description = {**given.description(), "key": idempotency_key}
        known = writer.store.all()
        if idempotency_key is not None:
            for before in known:
                if before.description.get("key") == idempotency_key:
                    _expect_same(before, given.name, description)
                    return _listed(before)
        made_of(description)  # says all that is wrong, and compiles what its method needs
        if len(known) >= MOST_ADMISSIONS:
            raise refusal("E2706", "service", "", "has too many admissions", expected=f"at most {MOST_ADMISSIONS}")
        stored = writer.store.create(given.name, description)
        there = writer.store.find(given.name) if stored is None and idempotency_key is not None else None
        if there is not None and there.description.get("key") == idempotency_key:  # the same request came in the meantime
            _expect_same(there, given.name, description)
            return _listed(there)
        if stored is None:
            raise refusal("E2714", "admission", given.name, "is there already", expected="another name")
        return _listed(stored)

    @routes.get("", summary="List the admissions.")
    def every() -> shapes.AdmissionsShown:
        return shapes.AdmissionsShown(admissions=[_listed(stored) for stored in writer.store.all()])

    @routes.get("/{name}", summary="Look at an admission.", responses=problem_responses(404, 422))
    async def look(name: Name) -> shapes.AdmissionShown:
        return shapes.AdmissionShown(**await writer.ask(name, views.summary))

    @routes.delete("/{name}", status_code=204, summary="Delete an admission with its log.", responses=problem_responses(404, 422))
    async def delete(request: Request, name: Name, idempotency_key: IdempotencyKey = None) -> None:
        key = request_key(request, idempotency_key)
        if await asyncio.to_thread(made_before, keys, key) is not None:
            return
        await writer.forget(name)
        if key is not None:
            await asyncio.to_thread(keys.remember, key, name, time.time())


def _expect_same(stored: StoredAdmission, name: str, description: Mapping[str, Any]) -> None:
    """The key of a creation may come again with the same body only."""
    if stored.name != name or changes.encoded(stored.description) != changes.encoded(description):
        raise used_key(str(description["key"]))


def _listed(stored: StoredAdmission) -> shapes.AdmissionListed:
    zones = len(stored.description["document"]["zones"])
    return shapes.AdmissionListed(name=stored.name, method=stored.description["method"], created=stored.created, zones=zones)


def _changes(routes: APIRouter, writer: AdmissionWriter) -> None:
    """Offers, releases and the time: what goes into the log."""
    for path, kind, about, shown in (
        ("offers", "offer", "Offer a request: it is accepted and placed, or refused, at once.", shapes.VerdictShown),
        ("releases", "release", "End an accepted request early.", shapes.ReleasedShown),
        ("advance", "advance", "Set the time.", shapes.AdvancedShown),
    ):
        model = {"offer": "OfferGiven", "release": "ReleaseGiven", "advance": "AdvanceGiven"}[kind]
        routes.add_api_route(
            f"/{{name}}/{path}",
            _change(writer, kind),
            methods=["POST"],
            name=kind,
            operation_id=kind,
            summary=about,
            response_model=None,
            responses={200: {"model": shown}, **problem_responses(*WRITES, 404)},
            openapi_extra=_documented(model),
        )


def _change(writer: AdmissionWriter, kind: str) -> Callable[..., Awaitable[Response]]:
    """One kind of change, as a route."""

    async def change(name: Name, request: Request) -> Response:
        return await answered_change(writer, kind, name, request)

    return change


async def answered_change(writer: AdmissionWriter, kind: str, name: str, request: Request) -> Response:
    """The answer to a change. The body is read by hand: a model for each field would cost more than the decision."""
    given = _object(kind, await request.body())
    if kind in changes.SHAPES:
        given = changes.expect_shape(kind, given)
    outcome = await writer.change(name, kind, given, request.headers.get("idempotency-key") or None)
    replayed = {"Idempotency-Replayed": "true"} if outcome.is_replayed else None
    return Response(outcome.text, media_type="application/json", headers=replayed)


class ShortWay:
    """Answers changes without the framework's search for a route and its dependencies, which would cost as much as the decision.

    The routes of changes say the same in the OpenAPI document, and answer what does not take this way.
    """

    def __init__(self, app: ASGIApp, writer: AdmissionWriter) -> None:
        self._app, self._writer = app, writer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        match = _SHORT.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if match is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await answered_change(self._writer, _KINDS[match[2]], match[1], Request(scope, receive))
        except BayplanError as error:
            response = problem_of(error)
        await response(scope, receive, send)


_KINDS = {"offers": "offer", "releases": "release", "advance": "advance"}
_SHORT = re.compile(f"/v1/admissions/({shapes.NAME.strip('^$')})/({'|'.join(_KINDS)})")


def _object(kind: str, body: bytes) -> Any:
    """The JSON object of a body; keys that are null count as left out."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise InputError(kind, [_body_fault("E1005", "is not UTF-8 text", f"byte {error.start}", "UTF-8")]) from error
    document = parse_json(text, "body")
    if not isinstance(document, dict):
        raise InputError(kind, [_body_fault("E1101", "is no object", type(document).__name__, "an object")])
    return {key: value for key, value in document.items() if value is not None}


def _body_fault(code: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=code, kind="body", name="", problem=problem, value=value, expected=expected)


def _documented(model: str) -> dict[str, Any]:
    """The body and the key of a change, for the OpenAPI document."""
    schema = {"$ref": f"#/components/schemas/{model}"}
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "The same key sent twice gets the same answer once.",
        "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": KEY},
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}, "parameters": [key]}


def _figures(routes: APIRouter, writer: AdmissionWriter) -> None:
    """What can be read."""
    there = problem_responses(404, 409, 422)

    @routes.get("/{name}/running", summary="Accepted requests that have not ended.", responses=there)
    async def running(name: Name) -> shapes.RunningShown:
        return shapes.RunningShown(running=await writer.ask(name, views.running))

    @routes.get("/{name}/prices", summary="What one unit costs in the slot of a time.", responses=there)
    async def prices(name: Name, time: At = None) -> shapes.RatesShown:
        zones, now, told = await writer.ask(name, views.figures(time))
        return shapes.RatesShown(**views.rates_data(zones, now, told.price, "price"))

    @routes.get("/{name}/utilisation", summary="The share in use in the slot of a time.", responses=there)
    async def utilisation(name: Name, time: At = None) -> shapes.RatesShown:
        zones, now, told = await writer.ask(name, views.figures(time))
        return shapes.RatesShown(**views.rates_data(zones, now, told.used, "used"))

    @routes.get("/{name}/forecast", summary="Prices and shares in use of the next slots.", responses=there)
    async def forecast(name: Name, slots: Slots = 24) -> shapes.ForecastShown:
        told = await writer.ask(name, views.forecast(slots))
        return shapes.ForecastShown(**await asyncio.to_thread(views.forecast_data, *told))

    @routes.get("/{name}/history", summary="Prices over time, and every change with its outcome.", responses=there)
    async def history(
        name: Name,
        slots: Slots = 200,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
    ) -> shapes.HistoryShown:
        admission, (zones, now, told) = await writer.ask(name, lambda state: (state.stored.id, views.history(state)))
        log = await asyncio.to_thread(writer.store.newest, admission, before, limit)
        return shapes.HistoryShown(**await asyncio.to_thread(views.history_data, zones, now, told, slots, log))
