"""What a user wants of a migration, in words, made into terms and options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from bayplan.api.problem import matching, matching_any, not_negative
from bayplan.errors import UsageError
from bayplan.migrate import MigrateOptions
from bayplan.model import Cluster, FloatArray, MigrationPolicy, StepLimits, Way, floats


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateWishes:
    """As they stand on the command line."""

    alive: float = 0.75
    way: str = Way.AUTO.value
    replace: Sequence[str] = ()  # patterns of workloads
    surge: Sequence[str] = ()
    max_steps: int | None = None
    max_per_machine: int | None = None
    max_per_service: int | None = None
    max_per: str | None = None  # LEVEL=N
    late: Sequence[str] = ()  # NAME=WEIGHT
    never: Sequence[str] = ()
    stopovers: bool = True


def terms_of(cluster: Cluster, wishes: MigrateWishes) -> MigrationPolicy:
    """What must hold on the way."""
    if not 0 <= wishes.alive <= 1:
        raise UsageError(f"--alive {wishes.alive}: expected a share of 0 to 1")
    return MigrationPolicy(alive=wishes.alive, way=_ways(cluster, wishes), limits=_limits(cluster, wishes))


def options_of(cluster: Cluster, wishes: MigrateWishes) -> MigrateOptions:
    """What is wanted beside that."""
    return MigrateOptions(
        weight=_weights(cluster, wishes.late) if wishes.late else None,
        never=matching_any(cluster, wishes.never, "to leave alone") if wishes.never else None,
        stopovers=wishes.stopovers,
    )


def _ways(cluster: Cluster, wishes: MigrateWishes) -> tuple[Way, ...]:
    """(workload,) or empty if all are AUTO."""
    ways = {way.value for way in Way}
    if wishes.way not in ways:
        raise UsageError(f"no way '{wishes.way}'; expected one of {', '.join(way.value for way in Way)}")
    of = [Way(wishes.way)] * len(cluster.workloads.name)
    stated: Mapping[Way, Sequence[str]] = {Way.REPLACE: wishes.replace, Way.SURGE: wishes.surge}
    chosen: dict[int, Way] = {}
    for way, patterns in stated.items():
        for w in (w for pattern in patterns for w in _workloads(cluster, pattern, way)):
            if chosen.setdefault(w, way) is not way:
                raise UsageError(f"workload '{cluster.workloads.name[w]}' is under --replace and --surge; expected one of them")
            of[w] = way
    return tuple(of) if set(of) != {Way.AUTO} else ()


def _workloads(cluster: Cluster, pattern: str, way: Way) -> list[int]:
    found = [w for w, name in enumerate(cluster.workloads.name) if fnmatchcase(name, pattern)]
    if not found:
        raise UsageError(f"--{way} '{pattern}': no workload is called so; expected a workload, or a pattern of names")
    return found


def _limits(cluster: Cluster, wishes: MigrateWishes) -> StepLimits:
    level, group = _per_level(cluster, wishes.max_per)
    return StepLimits(
        batch=wishes.max_steps, machine=wishes.max_per_machine, service=wishes.max_per_service, group=group, level=level
    )


def _per_level(cluster: Cluster, text: str | None) -> tuple[int, int | None]:
    """`zone=5` as the level's index and the number."""
    if text is None:
        return 0, None
    name, _, number = text.partition("=")
    levels = [level.name for level in cluster.levels]
    if name not in levels or not number.isdecimal() or int(number) < 1:
        raise UsageError(f"--max-per '{text}': expected LEVEL=N, LEVEL one of {', '.join(levels)}, N a whole number from 1 on")
    return levels.index(name), int(number)


def _weights(cluster: Cluster, pairs: Sequence[str]) -> FloatArray:
    """(container,) 1 unless stated; the largest of what is stated."""
    weight = np.ones(len(cluster.containers.name))
    stated = np.zeros(len(weight))
    for pair in pairs:
        name, equals, value = pair.rpartition("=")
        if not equals or not name:
            raise UsageError(f"--late '{pair}': expected NAME=WEIGHT")
        heavy = not_negative(value, f"--late '{pair}'")
        hit = matching(cluster, name, "to move late")
        weight[hit] = np.maximum(stated[hit], heavy)
        stated[hit] = weight[hit]
    return floats(weight)
