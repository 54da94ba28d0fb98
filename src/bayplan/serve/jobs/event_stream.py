"""The events of a job as a stream that a browser's EventSource reads, and goes on with where it was cut off."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator

from fastapi.concurrency import run_in_threadpool

from bayplan.errors import BayplanError
from bayplan.serve.jobs.documents import moment
from bayplan.serve.jobs.queue import JobQueue
from bayplan.serve.store.jobs import StoredEvent

LOOK = 0.05  # seconds between two looks at whether this server has something new
STORE = 1.0  # seconds between two looks into the store, where another server may have written
SIGN = 10.0  # seconds between two signs of life, so that nothing between takes the stream for dead


async def event_stream(queue: JobQueue, job: str, after: int, *, follow: bool, ending: threading.Event) -> AsyncIterator[str]:
    """What happened to a job after an event, as it happens; it ends with the job, or when the service ends."""
    yield "retry: 1000\n\n"
    signed = time.monotonic()
    while True:
        counted = queue.changes.get(job, 0)
        try:
            known = await run_in_threadpool(queue.store.job, job)  # first: an event may come between the two
            events = await run_in_threadpool(queue.store.events, job, after)
        except BayplanError:
            return  # the store cannot be used now: the client comes back
        over = not events and (known is None or known.state.ended or not follow)
        for event in events:
            yield written(event)
            after = event.number
        if over or ending.is_set():
            return
        if events:
            continue
        looked = time.monotonic()
        while queue.changes.get(job, 0) == counted and time.monotonic() - looked < STORE and not ending.is_set():
            await asyncio.sleep(LOOK)
        if time.monotonic() - signed > SIGN:
            signed = time.monotonic()
            yield ": still here\n\n"


def written(event: StoredEvent) -> str:
    """One event in the form of the stream."""
    data = json.dumps({**event.data, "at": moment(event.at)})
    return f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n"
