"""Tokens and sessions: what a request may do.

Tokens are kept as digests and compared in constant time, all of them, so that the time of an answer says nothing about them. The
page gets a session: a random cookie that scripts cannot read, and that other sites cannot send.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from bayplan.serve.settings import ServeSettings

COOKIE = "bayplan_session"
SENT_BY_OUR_PAGE = "x-bayplan"  # a header that no other site can send without asking
MOST_SESSIONS = 50  # of one token


class Role(StrEnum):
    """What a request may do."""

    OPERATOR = "operator"
    READER = "reader"

    @property
    def writes(self) -> bool:
        """May it change anything?"""
        return self is Role.OPERATOR


class Identity(NamedTuple):
    """Who sends a request: a role, and a name under which its requests are counted and its idempotency keys are kept."""

    role: Role
    name: str  # "token-3f2a..." (of the digest), also of a session that was begun with it; or "local"
    by_cookie: bool = False


class Session(NamedTuple):
    """A login of the page."""

    identity: Identity
    until: float


class Tokens:
    """The tokens of a service and the sessions that were begun with them."""

    def __init__(self, settings: ServeSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._known = [(_digest(token), Role.OPERATOR) for token in settings.operators]
        self._known += [(_digest(token), Role.READER) for token in settings.readers]
        self.is_open, self._seconds, self._clock = settings.is_open, settings.ages.session, clock
        self._sessions: dict[bytes, Session] = {}
        self._lock = threading.Lock()

    def of_token(self, token: str) -> Identity | None:
        """Whose token it is; None if it is no token of ours."""
        given, match = _digest(token), None
        for digest, role in self._known:
            if hmac.compare_digest(given, digest):
                match = Identity(role, f"token-{digest.hex()[:8]}")
        return match

    def of_session(self, cookie: str) -> Identity | None:
        """Whose session it is; None if there is none, or it has run out."""
        key = _digest(cookie)  # looked up by its digest, so that the time of the search says nothing
        session = self._sessions.get(key)
        if session is None or session.until < self._clock():
            return None
        return session.identity

    def begin_session(self, identity: Identity) -> str:
        """The cookie of a new session. If its token has too many, the oldest of them ends."""
        cookie, now = secrets.token_urlsafe(32), self._clock()
        begun = identity._replace(by_cookie=True)
        with self._lock:
            self._sessions = {key: each for key, each in self._sessions.items() if each.until >= now}
            same = [key for key, each in self._sessions.items() if each.identity == begun]
            for key in same[: max(0, len(same) + 1 - MOST_SESSIONS)]:
                del self._sessions[key]
            self._sessions[_digest(cookie)] = Session(begun, now + self._seconds)
        return cookie

    def end_session(self, cookie: str) -> None:
        """Forget a session."""
        with self._lock:
            self._sessions.pop(_digest(cookie), None)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
