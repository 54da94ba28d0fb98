"""An engine by its name."""

from bayplan.engine.jobs import Engine
from bayplan.errors import UsageError, did_you_mean

ENGINES = ("here", "pool", "ray")
EXPECTED = "here, pool, ray, or ray:ADDRESS such as ray:10.0.0.1:6379 or ray:auto"


def engine_of(engine: str | Engine) -> Engine:
    """The engine that a name stands for; an engine is returned as it is."""
    if not isinstance(engine, str):
        return engine
    kind, _, address = engine.partition(":")
    if engine not in ENGINES and not (kind == "ray" and address):
        raise UsageError(f"engine '{engine}': expected one of {EXPECTED}{did_you_mean(kind, ENGINES)}")
    if kind == "here":  # each is imported where it is wanted: processes and sockets are not needed to plan here
        from bayplan.engine.here import InProcess

        return InProcess()
    if kind == "pool":
        from bayplan.engine.pool import ProcessPool

        return ProcessPool()
    from bayplan.engine.ray import RayEngine

    return RayEngine(address)
