"""What is written to the API server beside the work: in a thread of its own, so that no failure or delay of it stops the loop."""

import queue
import threading
import time
from collections.abc import Callable

from bayplan.errors import WorldError

LONGEST = 1000  # jobs that wait; further ones are dropped
Job = Callable[[], None]


class Outbox:
    """Jobs one after the other. `failed` is told what a job raised, from the thread of the outbox."""

    def __init__(self, failed: Callable[[WorldError], None] = lambda error: None, longest: int = LONGEST) -> None:
        self._jobs: queue.Queue[Job] = queue.Queue(longest)
        self._failed = failed
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> bool:
        """Have a job done later; False if too many wait: then it is dropped."""
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return False
        return True

    def drain(self, seconds: float) -> bool:
        """Wait until all is done, at most as long as this; is it?"""
        deadline = time.monotonic() + seconds
        with self._jobs.all_tasks_done:
            while self._jobs.unfinished_tasks and (left := deadline - time.monotonic()) > 0:
                self._jobs.all_tasks_done.wait(left)
            return not self._jobs.unfinished_tasks

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except WorldError as error:
                self._failed(error)
            finally:
                self._jobs.task_done()
