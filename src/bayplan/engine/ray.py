"""Jobs on a Ray cluster, or on Ray's processes on this machine. Needs `pip install 'bayplan[ray]'`."""

from collections.abc import Sequence
from typing import Any

from bayplan.engine.local import Job, T
from bayplan.errors import UsageError, WorldError


class RayEngine:
    """The engine for more than one machine. bayplan has to be installed on all of them."""

    def run(self, jobs: Sequence[Job[T]], *, workers: int) -> list[T]:
        """What each job returns. `workers` counts where Ray is started here; a Ray cluster decides on its own."""
        ray = _library()
        try:
            if not ray.is_initialized():
                ray.init(num_cpus=max(1, workers), log_to_driver=False, include_dashboard=False)
            send = ray.remote(num_cpus=1, max_retries=0)(_attempt).remote
            futures = [send(job) for job in jobs]
        except (ConnectionError, RuntimeError) as error:
            raise WorldError(f"engine 'ray' does not start: {error}; expected a cluster or memory for its processes") from error
        try:
            return [_answer(ray, job, future) for job, future in zip(jobs, futures, strict=True)]
        except BaseException:
            for future in futures:
                ray.cancel(future, force=True)
            raise


def _library() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("engine 'ray' needs Ray: pip install 'bayplan[ray]'; expected 'pool' or 'here' without it") from error
    return ray


def _attempt(job: Job[T]) -> T:
    """What a job returns, in a worker."""
    return job()


def _answer(ray: Any, job: Job[T], future: Any) -> T:
    """What Ray brings back, or the job's own error."""
    try:
        answer: T = ray.get(future)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise WorldError(f"the process of job '{job.name}' died: {error}") from error
    return answer
