"""Connections that do not wait for ever, neither for the head of a request nor for a client that reads its answer.

Heads have a limit of size, too: uvicorn has none of these for the parser that is quick enough for a thousand offers a second.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bayplan.serve.settings import Limits


def timed_connection(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol of a connection, with these limits."""
    return type("TimedConnection", (_TimedConnection,), {"limits": limits})


class _TimedConnection(HttpToolsProtocol):
    """HTTP/1.1, but a head must arrive in time and be short, and an answer must be read in time."""

    limits: Limits
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_answering():
            self._head_timer, self._head_bytes = _no_timer(self._head_timer), 0
        elif self._head_bytes > self.limits.head_bytes:
            self.send_400_response("The head of the request is too long.")
        elif self._head_timer is None and self.timeout_keep_alive_task is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer, self._read_timer = _no_timer(self._head_timer), _no_timer(self._read_timer)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read_timer = self.loop.call_later(self.limits.idle_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._read_timer = _no_timer(self._read_timer)
        super().resume_writing()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.limits.head_seconds, self.transport.abort)


def _no_timer(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Nothing, after the timer was cancelled."""
    if timer is not None:
        timer.cancel()
    return None
