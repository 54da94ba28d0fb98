"""Idempotency keys: a request that is sent twice with one key has one effect, and gets one answer."""

import hashlib
from typing import Annotated

from fastapi import Header, Request

from bayplan.serve.problems import RequestRefusedError, refusal
from bayplan.serve.store.jobs import JobStore, RequestKey

LONGEST_KEY, KEY = 128, "^[!-~]+$"  # its length, its pattern
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=LONGEST_KEY,
        pattern=KEY,
        description="The same request with the same key has one effect and gets the same answer; another request is refused.",
        examples=["plan-of-monday"],
    ),
]


def request_key(request: Request, key: str | None, *parts: bytes) -> RequestKey | None:
    """The key of a request, known by what it asks for; None if it states none. Each token has keys of its own."""
    if key is None:
        return None
    identity = request.scope.get("bayplan.identity")
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.url.path.encode(), request.url.query.encode(), *parts):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return RequestKey(scope=getattr(identity, "name", ""), key=key, digest=digest.hexdigest())


def made_before(store: JobStore, key: RequestKey | None) -> str | None:
    """What an equal request with this key has made; None if it is new. A key of another request is refused."""
    known = None if key is None else store.known_key(key)
    if key is None or known is None:
        return None
    if known.digest != key.digest:
        raise used_key(key.key)
    return known.made


def used_key(key: str) -> RequestRefusedError:
    """The refusal of a key that was used for another request."""
    return refusal("E2711", "Idempotency-Key", key[:100], "was used for another request", expected="a new one")
