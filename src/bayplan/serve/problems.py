"""Errors as HTTP answers: application/problem+json (RFC 9457) that carries our fault numbers."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from bayplan.codes import CODES
from bayplan.errors import BayplanError, Fault, InputError, InternalError, UsageError, WorldError, escaped

MEDIA_TYPE = "application/problem+json"
STATUSES = {  # fault -> status; all others are 422
    **dict.fromkeys(("E1003", "E1004", "E1005", "E1006", "E1007", "E1008", "E1009", "E1010", "E1013"), 400),
    **dict.fromkeys(("E2001", "E2002", "E2009", "E2011"), 409),  # right by themselves, but not in the present state
    **dict.fromkeys(("E2010", "E2701"), 404),
    "E2702": 405,
    "E2703": 401,
    "E2704": 403,
    "E2705": 413,
    "E2706": 429,
    "E2707": 408,
    "E2708": 415,
    "E2709": 400,
    "E2710": 403,
    "E2711": 422,
    "E2712": 503,
    "E2713": 503,
    "E2714": 409,
    "E2715": 422,
    "E2716": 500,
    "E2717": 503,
    "E2718": 503,
    **dict.fromkeys(("E2735", "E2737", "E2738"), 404),
    **dict.fromkeys(("E2736", "E2740", "E2743", "E2751"), 409),
    "E2739": 429,
    "E2741": 413,
    "E2750": 404,
}
UNPROCESSABLE = 422
RETRY = {"E2706": 1, "E2712": 5, "E2713": 2, "E2717": 1, "E2739": 5}  # fault -> seconds after which to try again
MOST_FAULTS = 50  # in one answer
PARAMETER = re.compile(r"\{[^/]+\}")  # of a path
LONGEST_VALUE = 200  # letters of a value that is repeated


class FaultShown(BaseModel):
    """One thing that is wrong."""

    code: str = Field(examples=["E2009"])
    kind: str = Field(examples=["request"])
    name: str = Field(examples=["shop-7"])
    problem: str = Field(examples=["a request of this name runs or is booked"])
    value: str = ""
    expected: str = ""
    action: str = Field(examples=["release it first, wait for its end, or take another name"])


class ProblemShown(BaseModel):
    """What went wrong, and what to do."""

    type: str = Field(examples=["urn:bayplan:fault:E2009"])
    title: str = Field(examples=["a request of this name runs, or is booked"])
    status: int = Field(examples=[409])
    detail: str = Field(examples=["E2009 request 'shop-7': a request of this name runs or is booked"])
    faults: list[FaultShown]


class RequestRefusedError(BayplanError):
    """A request that gets no success, with the fault that says why."""

    def __init__(self, fault: Fault, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(str(fault))
        self.fault, self.headers = fault, dict(headers or {})


def refusal(code: str, kind: str, name: str, problem: str, **more: Any) -> RequestRefusedError:
    """The error for one fault; `more`: its `value`, what was `expected`, and `headers`."""
    headers = more.pop("headers", None)
    return RequestRefusedError(Fault(code=code, kind=kind, name=name, problem=problem, **more), headers)


def missing(kind: str, name: str, expected: str = "") -> RequestRefusedError:
    """404 for a thing that is not there."""
    return refusal("E2701", kind, name[:LONGEST_VALUE], "is not there", expected=expected)


def problem(faults: Sequence[Fault], headers: Mapping[str, str] | None = None) -> Response:
    """The answer that says what is wrong."""
    code = faults[0].code
    status = STATUSES.get(code, UNPROCESSABLE)
    content = {
        "type": f"urn:bayplan:fault:{code}",
        "title": CODES[code].meaning,
        "status": status,
        "detail": escaped("; ".join(str(fault)[: 2 * LONGEST_VALUE] for fault in faults[:3])),
        "faults": [_shown(fault) for fault in faults[:MOST_FAULTS]],
    }
    wait = {"Retry-After": str(RETRY[code])} if code in RETRY else {}
    body = json.dumps(content, ensure_ascii=True, allow_nan=False).encode()
    return Response(body, status, headers={**wait, **(headers or {})}, media_type=MEDIA_TYPE)


def problem_of(error: Exception) -> Response:
    """The answer for an error of ours; 500, without its text, for all others."""
    if isinstance(error, RequestRefusedError):
        return problem([error.fault], error.headers)
    if isinstance(error, InputError):
        return problem(error.faults)
    if isinstance(error, UsageError):
        return problem([_fault("E2715", str(error))])
    if isinstance(error, WorldError):
        return problem([_fault("E2712", str(error))])
    if isinstance(error, InternalError):
        return problem([_fault("E2716", str(error))])
    return problem([_fault("E2716", "an error that was not expected")])


def handle_problems(app: FastAPI) -> None:
    """Let every error of ours, of FastAPI and of Starlette be answered as a problem."""

    async def ours(request: Request, error: Exception) -> Response:
        return problem_of(error)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem([_validation_fault(each) for each in error.errors()])

    async def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path = request.scope["path"][:LONGEST_VALUE]
        if error.status_code == 405:
            headers = {**(error.headers or {}), "Allow": ", ".join(_methods(request))}
            return problem([_about("E2702", "path", path, f"does not know {request.method[:20]}")], headers)
        if error.status_code == 400:  # FastAPI could not read the body
            return problem([_about("E1006", "body", "", str(error.detail)[:LONGEST_VALUE])], error.headers)
        return problem([_about("E2701", "path", path, "is not there")], error.headers)

    app.add_exception_handler(BayplanError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)


def _methods(request: Request) -> list[str]:
    """What a path knows. Starlette names the methods of the first route that matches; others may have the same path."""
    paths: Mapping[str, Mapping[str, Any]] = request.app.openapi()["paths"]
    matching = (path for path in paths if re.fullmatch(PARAMETER.sub("[^/]+", path), request.scope["path"]))
    return sorted({method.upper() for path in matching for method in paths[path]})


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of these answers: each is a problem."""
    schema = {"$ref": "#/components/schemas/ProblemShown"}
    return {status: {"description": _MEANING[status], "content": {MEDIA_TYPE: {"schema": schema}}} for status in statuses}


_MEANING = {
    400: "The request cannot be read.",
    401: "A token is missing or wrong.",
    403: "The token may only read, or the request comes from another site.",
    404: "There is no such thing.",
    405: "The path does not know this method.",
    408: "The request took too long.",
    409: "The request does not fit the present state.",
    413: "The body is too long.",
    415: "The type or encoding of the body is not known.",
    422: "The request was read, and something in it is wrong.",
    429: "Too many requests: try again after Retry-After seconds.",
    500: "The service failed.",
    503: "Not now: the store, or another server. Nothing was done.",
}
ALWAYS = (400, 401, 403, 408, 429, 503)  # what every path may answer
WRITES = (*ALWAYS, 409, 413, 415, 422)


def _shown(fault: Fault) -> dict[str, str]:
    return {
        "code": fault.code,
        "kind": fault.kind,
        "name": escaped(fault.name[:LONGEST_VALUE]),
        "problem": escaped(fault.problem[:LONGEST_VALUE]),
        "value": escaped(fault.value[:LONGEST_VALUE]),
        "expected": escaped(fault.expected[: 2 * LONGEST_VALUE]),
        "action": CODES[fault.code].action,
    }


def _fault(code: str, problem: str) -> Fault:
    return _about(code, "service", "", problem)


def _about(code: str, kind: str, name: str, problem: str) -> Fault:
    return Fault(code=code, kind=kind, name=name, problem=problem)


_VALIDATION = {"missing": "E1107", "extra_forbidden": "E1108", "json_invalid": "E1006", "enum": "E1109", "literal_error": "E1109"}
_RANGE = ("greater_than", "less_than", "too_long", "too_short", "string_pattern_mismatch")


def _validation_fault(error: Mapping[str, Any]) -> Fault:
    """One error of FastAPI's validation as a numbered fault that names the parameter or the key."""
    kind, where = str(error.get("type", "")), [str(part) for part in error.get("loc", ())]
    code = _VALIDATION.get(kind) or ("E1110" if any(word in kind for word in _RANGE) else "E1101")
    value = "" if kind in ("missing", "json_invalid") else repr(error.get("input"))[:LONGEST_VALUE]
    name = ".".join(where[1:]) if len(where) > 1 else ""
    return Fault(code=code, kind=where[0] if where else "request", name=name, problem=str(error.get("msg", "")), value=value)
