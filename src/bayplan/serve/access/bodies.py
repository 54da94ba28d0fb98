"""Bodies within their limits of size and time, whatever their head says of them."""

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive

from bayplan.serve.access.heads import RequestHead
from bayplan.serve.problems import RequestRefusedError, refusal
from bayplan.serve.settings import Limits

FILES = ("/v1/snapshots",)  # paths whose bodies are files; they may be compressed


class LimitedBody:
    """The body of one request; too long or too slow, it is refused: by its stated length before it is read."""

    def __init__(self, receive: Receive, head: RequestHead, limits: Limits) -> None:
        is_file = head.method == "POST" and head.path.rstrip("/") in FILES
        self._receive, self._left_seconds = receive, limits.body_seconds
        self.most = limits.file_bytes if is_file else limits.body_bytes
        self._left = self.most
        self.expected = bool(head.length) or bool(head.get(b"transfer-encoding"))
        self.on_end: Callable[[], object] = lambda: None
        self.refused: RequestRefusedError | None = None  # while it was read; a framework may have swallowed that
        if head.length is not None and head.length > self.most:
            raise self._too_long(head.length)
        encoding = head.get(b"content-encoding")
        if encoding not in ("", "identity") and not (is_file and encoding == "gzip"):
            raise refusal("E2708", "body", "", "is encoded in a way that is not read here", value=encoding[:40], expected="none")

    async def receive(self) -> Message:
        """The next piece."""
        if not self.expected:
            return await self._receive()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._left_seconds):
                message = await self._receive()
        except TimeoutError:
            self.refused = refusal("E2707", "body", "", "did not come in time")
            raise self.refused from None
        self._left_seconds -= loop.time() - began
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self.refused = self._too_long(self.most - self._left)
            raise self.refused
        if message["type"] != "http.request" or not message.get("more_body", False):
            self.expected = False
            self.on_end()
        return message

    def _too_long(self, length: int) -> RequestRefusedError:
        return refusal("E2705", "body", "", "is too long", value=f"{length} bytes", expected=f"at most {self.most}")
