"""The demo from its start to its end: a folder of its own, its content, its loop."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from bayplan.serve.demo.content import fill
from bayplan.serve.demo.live_loop import RECORD, run_live_loop
from bayplan.serve.demo.offers import offer_stream
from bayplan.serve.jobs.processes import WorkerProcess
from bayplan.serve.service import Service
from bayplan.serve.settings import FOLDER, STORE, ServeSettings

STARTING = 60.0  # seconds in which the loop begins its record


@contextmanager
def demo_settings(settings: ServeSettings) -> Iterator[ServeSettings]:
    """The settings of a demo: what it writes goes into a folder that is deleted at the end, unless it was stated where."""
    if not settings.demo:
        yield settings
        return
    with tempfile.TemporaryDirectory(prefix="bayplan-demo-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        yield replace(
            settings,
            store=str(folder / STORE) if settings.store == STORE else settings.store,
            folder=folder / FOLDER if settings.folder == Path(FOLDER) else settings.folder,
            record=settings.record or str(folder / RECORD),
        )


class Demo:
    """The content and the loop of a demo, beside a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._loop: WorkerProcess | None = None

    def start(self) -> None:
        """Begin the loop and send the snapshots."""
        folder = Path(self.service.settings.record).parent
        if not (folder / RECORD).exists():
            self._loop = WorkerProcess(run_live_loop, folder)
        fill(self.service.jobs.snapshots)
        if self._loop is not None:
            self._loop.message(STARTING)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """From its start to its end, beside the service."""
        await asyncio.to_thread(self.start)
        offers = asyncio.create_task(offer_stream(self.service))
        try:
            yield
        finally:
            offers.cancel()
            with suppress(asyncio.CancelledError):
                await offers
            await asyncio.to_thread(self.stop)

    def stop(self) -> None:
        """End the loop; its record is safe at any moment."""
        if self._loop is not None:
            self._loop.kill()
            self._loop.end()
            self._loop = None
