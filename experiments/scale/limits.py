"""What would break first: each limit of a large run, with its number and how it was derived."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from experiments.results import Row, picked
from experiments.scale.laws import TOTALS, Law
from experiments.scale.predict import (
    AFTER,
    ASSUMED,
    BEFORE,
    CLUSTERS,
    CONTAINERS,
    PART_SIZE,
    ROUNDS,
    VARY,
    EngineCosts,
    FleetFacts,
    PartFacts,
    given_up,
)
from experiments.scale.tables import amount, short


class Limit(NamedTuple):
    """A line of the table."""

    what: str
    number: str
    binds: float | None  # from how many workers on it is what the run waits for; None if it does not depend on them
    derived: str


def fleet_limits(facts: FleetFacts, costs: EngineCosts, laws: Mapping[str, Law], engines: Sequence[Row]) -> list[Limit]:
    """Of 100 clusters of 100,000 containers each, a job for each cluster; those that bind first come first."""
    size, largest = CONTAINERS / CLUSTERS, (1 + VARY) * CONTAINERS / CLUSTERS
    usual, longest, work, slow = facts.law.beyond(size), facts.law.beyond(largest), facts.work(0), ASSUMED.straggler_factor
    driver = costs.driver_seconds + work.merge_seconds + (work.input_bytes + work.output_bytes) / costs.driver_bandwidth
    alone = CLUSTERS * usual / longest  # workers whose share of the work takes as long as the largest cluster
    beyond = _beyond(facts.law, largest)
    binding = [
        Limit("number of jobs", f"{CLUSTERS} jobs", CLUSTERS, "`plan_fleet` makes one job for each cluster"),
        Limit("largest cluster", amount(longest, "s"), alone, f"law of *read and plan*, {largest:,.0f} containers{beyond}"),
        Limit(
            "largest cluster on a straggler",
            amount(slow * longest, "s"),
            alone / slow,
            f"{slow:g} times slower (assumed)",
        ),
        Limit("CPU of the driver", f"{amount(driver, 's')} a job", usual / driver, "empty jobs, and merging in case `fleet`"),
    ]
    others = [
        Limit("memory of a worker", *_memory(laws, "memory whole", largest)),
        Limit(
            "bytes to the driver",
            _megabytes(facts.bytes_out * CONTAINERS),
            None,
            f"{short(facts.bytes_out)} a container, measured",
        ),
        Limit("object store", "0 bytes", None, "workers read files: clusters of a fleet share nothing"),
        Limit(
            "a plan given up",
            f"{given_up(usual, CLUSTERS):.1g} likely",
            None,
            "a job lost three times, a failure a day (assumed)",
        ),
        *_stored(laws, engines, size),
    ]
    return [*sorted(binding, key=lambda limit: limit.binds or 0.0), *others]


def _stored(laws: Mapping[str, Law], engines: Sequence[Row], size: float) -> Iterator[Limit]:
    if "file" in laws:
        yield Limit(
            "files", amount(laws["file"].beyond(size) * CLUSTERS, "MB"), None, "law of the size of Parquet files, 100 clusters"
        )
    shared = [float(row["bytes_shared"]) / float(row["containers"]) for row in picked(engines, case="collocate", engine="ray")]
    if shared:
        each = median(shared)
        words = f"{short(each)} a container, measured on M2; once on each node"
        yield Limit("object store for `collocate --method rasa`", _megabytes(each * size), None, words)


def limit_rows(limits: Sequence[Limit]) -> list[list[str]]:
    """Cells of the table."""
    return [[each.what, each.number, "-" if each.binds is None else f"{each.binds:,.0f}", each.derived] for each in limits]


def part_limits(facts: PartFacts, laws: Mapping[str, Law]) -> list[Limit]:
    """Of one cluster of 10^7 containers in parts: everything about its driver is extrapolated."""
    own = {name: law.beyond(CONTAINERS) for name, law in facts.driver.items() if name in BEFORE + AFTER}
    slowest, size = max(own, key=lambda name: own[name]), PART_SIZE
    longest = f"laws at 10^7; the longest is `{slowest}` with {amount(own[slowest], 's')}"
    made, sent = ROUNDS * facts.made * CONTAINERS, ROUNDS * facts.bytes_in * CONTAINERS
    return [
        Limit("stages of the driver", amount(sum(own.values()), "s"), None, longest),
        Limit("parts made by the driver", amount(made, "s"), None, "to cut out and pack them, measured, two rounds"),
        Limit("memory of the driver", *_memory(laws, "memory in parts", CONTAINERS)),
        Limit("bytes to workers", _megabytes(sent), None, f"{short(facts.bytes_in)} a container and round, measured"),
        Limit("slowest part", amount(max(facts.seconds) * size, "s"), None, f"of those measured, at {size:,} containers"),
    ]


def _memory(laws: Mapping[str, Law], name: str, containers: float) -> tuple[str, None, str]:
    if name not in laws:
        return "unknown", None, "too few sizes were measured for a law"
    law, beyond = laws[name], _beyond(laws[name], containers)
    return amount(law.beyond(containers), "MB"), None, f"law of *{TOTALS[name].name}*, exponent {law.exponent:.2f}{beyond}"


def _beyond(law: Law, containers: float) -> str:
    return "" if containers <= law.most else f", {containers / law.most:.1f} times the largest, linear at least"


def _megabytes(count: float) -> str:
    return amount(count / 2**20, "MB")
