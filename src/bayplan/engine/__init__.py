"""Where independent sub-problems run."""

from collections.abc import Mapping

from bayplan.engine.job import Engine, Job
from bayplan.engine.local import Here
from bayplan.engine.pool import Pool
from bayplan.engine.ray import Ray

__all__ = ["ENGINES", "Engine", "Job"]

ENGINES: Mapping[str, Engine] = {
    "pool": Pool(),
    "here": Here(),
    "ray": Ray(),
}
