"""Where independent subproblems run: in this process, in a pool of processes, on Ray."""

from collections.abc import Mapping

from bayplan.engine.local import Engine, InProcess, Job
from bayplan.engine.pool import ProcessPool
from bayplan.engine.ray import RayEngine

__all__ = ["ENGINES", "Engine", "Job"]

ENGINES: Mapping[str, Engine] = {
    "pool": ProcessPool(),
    "here": InProcess(),
    "ray": RayEngine(),
}
