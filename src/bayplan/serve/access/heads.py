"""The head of a request: its headers, read once, and what is refused about them before anything else is looked at."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bayplan.serve.keys import KEY, LONGEST_KEY
from bayplan.serve.problems import RequestRefusedError, refusal
from bayplan.serve.settings import ServeSettings

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
ONCE = (b"host", b"content-length", b"transfer-encoding", b"authorization", b"content-encoding", b"idempotency-key")
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class RequestHead(NamedTuple):
    """The headers that the service looks at, as text; empty where there is none."""

    method: str
    path: str
    headers: Mapping[bytes, str]

    def get(self, name: bytes) -> str:
        """The value of a header."""
        return self.headers.get(name, "")

    @property
    def writes(self) -> bool:
        """Does the method change anything?"""
        return self.method not in SAFE

    @property
    def length(self) -> int | None:
        """The stated length of the body; None if there is none."""
        text = self.get(b"content-length")
        return int(text) if text.isdecimal() and len(text) < 20 else None


def read_head(scope: Mapping[str, Any]) -> RequestHead:
    """The head of a request; refused if headers that may stand once stand twice, or contradict each other."""
    headers: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in headers and name in ONCE:
            raise refusal("E2709", "header", name.decode("latin-1"), "is there twice", expected="it once")
        headers[name] = value.decode("latin-1")
    head = RequestHead(scope["method"], scope["path"], headers)
    if b"transfer-encoding" in headers and b"content-length" in headers:  # two lengths: where does the next request begin?
        raise refusal("E2709", "header", "content-length", "is there beside Transfer-Encoding", expected="one of the two")
    if b"content-length" in headers and head.length is None:
        raise refusal("E2709", "header", "content-length", "is no number", expected="digits")
    key = headers.get(b"idempotency-key")
    if key is not None and (len(key) > LONGEST_KEY or not re.match(KEY, key)):
        raise refusal(
            "E2709", "header", "idempotency-key", "cannot be used", expected=f"1 to {LONGEST_KEY} printable characters, no blank"
        )
    if "\0" in head.path or any(part in (".", "..") for part in head.path.split("/")):
        raise refusal("E2701", "path", head.path[:80], "is not there")
    return head


def expect_same_site(head: RequestHead, settings: ServeSettings) -> None:
    """Refuse what another site's page sends, and names that only pretend to be this machine (DNS rebinding)."""
    host = head.get(b"host")
    if settings.is_open and _name(host) not in LOCAL | {settings.host}:
        raise refusal("E2710", "host", host[:80], "is not this machine", expected="localhost or 127.0.0.1")
    origin = head.get(b"origin")
    if origin and _place(origin) != host:
        raise _from_elsewhere(origin[:80])
    if head.writes and head.get(b"sec-fetch-site") in ("cross-site", "same-site"):
        raise _from_elsewhere(head.get(b"sec-fetch-site"))


def _from_elsewhere(origin: str) -> RequestRefusedError:
    return refusal("E2710", "request", "", "comes from another site", value=origin, expected="the site of this service")


def _place(origin: str) -> str | None:
    """Host and port of an Origin header; None if it cannot be read."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def cookies_of(text: str) -> Iterable[tuple[str, str]]:
    """Names and values of a Cookie header."""
    for part in text.split(";"):
        name, found, value = part.strip().partition("=")
        if found:
            yield name, value
