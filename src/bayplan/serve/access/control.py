"""What every request passes first: tokens, limits and the log.

It is plain ASGI, because a framework's class for this costs as much as a decision.

Everything that can be refused is refused from the head of the request, before its body is read.
"""

import asyncio
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bayplan.serve.access.bodies import LimitedBody
from bayplan.serve.access.heads import RequestHead, cookies_of, expect_same_site, read_head
from bayplan.serve.access.rates import Rates
from bayplan.serve.access.tokens import COOKIE, SENT_BY_OUR_PAGE, Identity, Role, Tokens
from bayplan.serve.metrics import area_of
from bayplan.serve.problems import problem_of, refusal
from bayplan.serve.service import Service

PROBES = frozenset({"/healthz", "/readyz"})
PUBLIC = PROBES | {"/", "/v1/session"}
EVENTS = re.compile("/v1/jobs/[^/]+/events/?")  # paths of event streams
LOCAL_IDENTITY = Identity(Role.OPERATOR, "local")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")  # of everything but the page
NOT_KEPT = (b"cache-control", b"no-store")
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


class AccessControl:
    """Refuses what may not pass, adds security headers, counts and logs every request."""

    def __init__(self, app: ASGIApp, service: Service, tokens: Tokens) -> None:
        self.app, self.service, self.tokens = app, service, tokens
        self.limits = service.settings.limits
        self.rates = Rates(self.limits.rate)
        self._numbers, self._under_way = count(1), 0
        self._streams: Counter[str] = Counter()  # client -> event streams under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, secure=self.service.settings.certificate is not None)
        started, identity = time.perf_counter(), None
        self._under_way += 1
        self.service.metrics.under_way.inc()
        try:
            head = read_head(scope)
            identity = self._admitted(head, scope)
            scope["bayplan.identity"] = identity
            body = answer.body = LimitedBody(receive, head, self.limits)
            async with asyncio.timeout(None) as patience:
                answer.on_start = lambda: patience.reschedule(None)
                body.on_end = lambda: patience.reschedule(_now() + self.limits.answer_seconds)
                if not body.expected:
                    body.on_end()
                with self._stream_counted(head, _client(identity, scope)):
                    await self.app(scope, body.receive, answer.send)
        except TimeoutError:
            await self._fail(scope, receive, answer, refusal("E2707", "request", "", "took too long to be answered"))
        except Exception as error:
            await self._fail(scope, receive, answer, error)
        finally:
            self._under_way -= 1
            self.service.metrics.under_way.dec()
            self._log(scope, answer, identity, time.perf_counter() - started)

    def _admitted(self, head: RequestHead, scope: Scope) -> Identity | None:
        """The identity of the client, if it may ask this; None for what everyone may see. Raises the refusal otherwise."""
        expect_same_site(head, self.service.settings)
        identity = self._identity(head)
        is_probe = head.path in PROBES
        client = _client(identity, scope)
        if not self.rates.allows(f"probe-{client}" if is_probe else client):
            raise refusal("E2706", "client", "", "asks too often", expected=f"at most {self.limits.rate:g} requests a second")
        if is_probe:  # a server that has much to do is still alive
            return identity
        if self._under_way > self.limits.requests:
            raise refusal(
                "E2706", "service", "", "answers too many requests", expected=f"at most {self.limits.requests} at a time"
            )
        if head.path in PUBLIC or head.path.startswith("/page/"):
            return identity
        if identity is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="bayplan"', "Connection": "close"}
            raise refusal("E2703", "request", "", "has no token of this server", headers=challenge)
        if head.writes and not identity.role.writes:
            raise refusal(
                "E2704", "request", "", f"{head.method[:10]} needs more than a token to read", expected="an operator's token"
            )
        if head.writes and identity.by_cookie and not head.get(SENT_BY_OUR_PAGE.encode()):
            raise refusal("E2710", "request", "", "has a cookie but not the header X-Bayplan", expected="X-Bayplan: 1")
        return identity

    @contextmanager
    def _stream_counted(self, head: RequestHead, client: str) -> Iterator[None]:
        """Count an event stream while it is under way; refused if this client has too many. Nothing for other requests."""
        if not EVENTS.fullmatch(head.path):
            yield
            return
        if self._streams[client] >= self.limits.streams:
            expected = f"at most {self.limits.streams} at a time"
            raise refusal("E2706", "client", "", "follows too many event streams", expected=expected)
        self._streams[client] += 1
        try:
            yield
        finally:
            self._streams[client] -= 1
            if not self._streams[client]:
                del self._streams[client]

    def _identity(self, head: RequestHead) -> Identity | None:
        if self.tokens.is_open:
            return LOCAL_IDENTITY
        scheme, _, token = head.get(b"authorization").partition(" ")
        if token:
            return self.tokens.of_token(token.strip()) if scheme.lower() == "bearer" else None
        cookie = dict(cookies_of(head.get(b"cookie"))).get(COOKIE, "")
        return self.tokens.of_session(cookie) if cookie else None

    async def _fail(self, scope: Scope, receive: Receive, answer: "_Answer", error: Exception) -> None:
        """Answer with a problem, unless the answer has begun."""
        if answer.body is not None and answer.body.refused is not None:
            error = answer.body.refused
        number, answer.on_start, answer.body = next(self._numbers), None, None
        response = problem_of(error)
        if response.status_code == 500:
            lines = traceback.format_exception(error)
            self.service.tell("failed", {"number": number, "error": "".join(lines)[-4000:]})
            response.headers["X-Request-Number"] = str(number)
        if not answer.status:
            response.headers.setdefault("Connection", "close")  # what is left of the body would be taken for the next request
            await response(scope, receive, answer.send)

    def _log(self, scope: Scope, answer: "_Answer", identity: Identity | None, seconds: float) -> None:
        area, status = area_of(scope["path"]), answer.status or 499  # 499: the client went away
        self.service.metrics.count(area, scope["method"], status, seconds)
        fields = {
            "method": scope["method"][:20],
            "path": scope["path"][:200],  # never the query, the headers or the body: they may hold secrets
            "status": status,
            "milliseconds": round(1000 * seconds, 2),
            "bytes": answer.bytes,
            "by": identity.name if identity is not None else "",
            "address": scope["client"][0] if scope.get("client") else "",
        }
        self.service.tell("request", fields)


class _Answer:
    """What goes out: security headers are added, status and length are noted."""

    def __init__(self, send: Send, secure: bool) -> None:
        self._send, self._secure = send, secure
        self.status, self.bytes = 0, 0
        self.on_start: Any = None
        self.body: LimitedBody | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self.body is not None and self.body.refused is not None:
                raise self.body.refused
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            names = {name for name, _ in headers}
            headers += HEADERS
            headers += [pair for pair in (POLICY, NOT_KEPT) if pair[0] not in names]
            if self._secure:
                headers.append(STRICT_TRANSPORT)
            message["headers"] = headers
            if self.on_start is not None:
                self.on_start()
        else:
            self.bytes += len(message.get("body", b""))
        await self._send(message)


def _client(identity: Identity | None, scope: Scope) -> str:
    """The name under which requests are counted: that of the token, or the address where there is none."""
    if identity is not None and identity is not LOCAL_IDENTITY:
        return identity.name
    return f"address-{scope['client'][0] if scope.get('client') else ''}"


def _now() -> float:
    return asyncio.get_running_loop().time()
