"""Write docs/scale.md and its pictures from measured rows.

python -m experiments.scale.pages                     from the rows of the repository into docs/
python -m experiments.scale.pages --from A --out B    from CSV files of a folder into another, to try
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.results import ROOT, Row, on_page, rows, table
from experiments.scale import tables
from experiments.scale.figures import pictures
from experiments.scale.laws import STAGES, TOTALS, laws_of, newest
from experiments.scale.limits import Limit, fleet_limits, limit_rows, part_limits
from experiments.scale.predict import (
    ASSUMED,
    RUNS,
    EngineCosts,
    Prediction,
    engine_costs,
    fleet_facts,
    part_facts,
    predictions,
    validations,
)

HERE, BENCHMARKS, DOCS = Path(__file__).parent, ROOT / "benchmarks", ROOT / "docs"
FILES = {"laws": BENCHMARKS, "engines": BENCHMARKS, "parts": BENCHMARKS, "fleet": BENCHMARKS, "jobs": HERE}
UNMEASURABLE = 1e5  # MB/s
INTRODUCTION = (
    "# How far it goes",
    "",
    "Made by `python -m experiments.scale.pages` from CSV files; no number on this page was typed. Which engine, parts or "
    "fleets to use, and how: [More than one machine](how-to/more-than-one-machine.md).",
    "",
    "*Measured* was run on the machine named below its table. *Predicted* comes out of a simulation of a Ray cluster, fed with "
    "measured times of jobs and measured costs of Ray; what had to be assumed is listed there.",
)


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--from", dest="source", type=Path, help="folder of all CSV files; by default where benchmarks write them"
    )
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of the page")
    given = parser.parse_args()
    page, drawn = made({name: rows((given.source or home) / f"{name}.csv") for name, home in FILES.items()})
    (given.out / "pictures").mkdir(parents=True, exist_ok=True)
    (given.out / "scale.md").write_text(page, encoding="utf-8")
    for name, content in drawn.items():
        (given.out / "pictures" / name).write_text(content, encoding="utf-8")
    print(f"wrote {given.out / 'scale.md'} and {len(drawn)} pictures")


def made(measured: dict[str, list[dict[str, str]]]) -> tuple[str, dict[str, str]]:
    """The page and its pictures; what was not measured is left out."""
    grown = newest(measured["laws"], "series", "scale", "repetition")
    engines = newest(measured["engines"], "case", "engine", "repetition")
    whole_parts = newest(measured["parts"], "cluster", "parts", "seed", "iterations")
    fleet_rows, jobs = newest(measured["fleet"], "fleet", "arm", "seed"), measured["jobs"]
    laws = {**laws_of(STAGES, grown), **laws_of(TOTALS, grown)}
    costs = engine_costs(engines)
    cluster_jobs, part_jobs = fleet_facts(laws.get("job"), engines, jobs, costs), part_facts(laws, jobs)
    of_fleet = [] if cluster_jobs is None or costs is None else predictions([cluster_jobs.work(n) for n in range(RUNS)], costs)
    of_parts = [] if part_jobs is None or costs is None else predictions([part_jobs.work(n) for n in range(RUNS)], costs)
    lines = [
        *INTRODUCTION,
        *law_section(grown),
        *engine_section(engines),
        *parts_section(whole_parts),
        *fleet_section(fleet_rows),
        *validation_section(engines, jobs, costs),
        *fleet_prediction_section(of_fleet),
        *limit_section([] if cluster_jobs is None or costs is None else fleet_limits(cluster_jobs, costs, laws, engines)),
        *part_prediction_section(of_parts, [] if part_jobs is None else part_limits(part_jobs, laws)),
    ]
    text = "\n".join(on_page(lines)).replace("](../pictures/", "](pictures/") + "\n"
    return text, pictures(grown, of_fleet, of_parts)


def law_section(grown: Sequence[Row]) -> list[str]:
    """How a plan grows."""
    stages, totals = laws_of(STAGES, grown), laws_of(TOTALS, grown)
    if not grown:
        return []
    return [
        "",
        "## Measured: how a plan grows",
        "",
        "`python -m benchmarks.laws`: `plan --max-moves 2%` on clusters like M2, from a file to the plan, each size in a "
        "process of its own. Every container brings 50 iterations, so twice the cluster is twice the search. *Default* is whole "
        "up to 200,000 containers and in parts of about 40,000 above; the other series has smaller parts, so that whole and "
        "parts overlap.",
        "",
        "![wall seconds of each stage over the number of containers](pictures/scale-time.svg)",
        "",
        "Power laws by least squares of the logarithms: time = factor x containers^exponent. The interval is that of the "
        "exponent if the law holds; with few points it is wide. An exponent of 1 is linear.",
        "",
        *tables.law_lines(STAGES, stages),
        "",
        *tables.law_lines(TOTALS, totals),
        "",
        "![memory and bytes over the number of containers](pictures/scale-memory.svg)",
        "",
        "Messages and bytes, where parts travel to workers (each job is one message there and one back):",
        "",
        *tables.per_container_lines(grown),
        "",
        "What was measured, in seconds of wall time by stage, and processor seconds of all processes:",
        "",
        *tables.measured_lines(grown, tables.TIMES),
        "",
        *tables.measured_lines(grown, tables.SIZES),
        "",
        f"On {tables.machines_of(grown)}; whole clusters on one thread, parts on as many workers as there are cores.",
    ]


def engine_section(engines: Sequence[Row]) -> list[str]:
    """Engines in one run."""
    if not engines:
        return []
    return [
        "",
        "## Measured: engines in one run",
        "",
        "`python -m benchmarks.engines`: one process, a pool of two, and a real Ray cluster of three nodes on loopback, one CPU "
        "each, which share the cores of one machine. Arms alternate; medians over runs; ratios are to *here* in the same run. "
        "*Parallel part*: while jobs ran. *Start*: until workers were there, with modules and kernels loaded; it is neither in "
        "the wall time nor in the CPU seconds. By iterations the work is the same everywhere, and so must be the answer. The "
        "nodes of Ray idle while the other arms run.",
        "",
        *tables.engine_lines(engines),
        "",
        "What travels:",
        "",
        *tables.byte_lines(engines),
        "",
        "What engines cost themselves, with jobs that do nothing (*empty*), bring or return a megabyte, or share 32:",
        "",
        *tables.job_cost_lines(engines),
        "",
        "The same processor time: one process for 2 T seconds against two processes for T. Quality is gained affinity, or the "
        "gain of the fleet; it should not be lower.",
        "",
        *tables.equal_cpu_lines(engines),
        "",
        f"On {tables.machines_of(engines)}.",
    ]


def parts_section(measured: Sequence[Row]) -> list[str]:
    """What parts cost in quality."""
    if not measured:
        return []
    return [
        "",
        "## Measured: what parts cost in quality",
        "",
        "`python -m benchmarks.parts`: the target of `plan --max-moves 2%`, whole and in parts, by the same iterations. *Local* "
        "is the share of traffic that can stay on one machine, mean over seeds. M2 is below the size from which parts are the "
        "default; by the default size of a part it would be 4.",
        "",
        *tables.parts_lines(measured),
        "",
        f"On {tables.machines_of(measured)}.",
    ]


def fleet_section(measured: Sequence[Row]) -> list[str]:
    """One budget of moves for many clusters."""
    if not measured:
        return []
    return [
        "",
        "## Measured: one budget of moves for a fleet",
        "",
        "`python -m benchmarks.fleet`: clusters of about 500 machines. Moves (2 % of what runs, in all) are shared where they "
        "bring most, or each cluster has the same share; both in the same seconds with the same workers. Sharing spends part of "
        "its time on fronts, so it pays only where clusters differ: in the second fleet, every other cluster was planned before.",
        "",
        *tables.fleet_lines(measured),
        "",
        f"On {tables.machines_of(measured)}. MB: peak memory of the driver.",
    ]


def validation_section(engines: Sequence[Row], jobs: Sequence[Row], costs: EngineCosts | None) -> list[str]:
    """How far the model can be trusted."""
    if costs is None:
        return []
    return [
        "",
        "## Is the simulation right?",
        "",
        "`experiments/scale/simulated_cluster.py` is a discrete-event model of one driver and its workers. Its "
        "parameters are measured: "
        f"{1000 * costs.driver_seconds:.1f} ms of the driver's CPU and {1000 * costs.round_trip:.0f} ms of waiting for "
        "each job, and "
        f"{_bandwidth(costs)} through the driver. Below, the wall time of the parallel part on three nodes: "
        "measured, predicted from the times of the jobs of that same run (which tests how the model queues), and "
        "predicted from the "
        "times of these jobs in one process, slowed down by the workers that share a core (which tests the whole chain).",
        "",
        *tables.validation_lines(validations(engines, jobs, costs)),
    ]


def _bandwidth(costs: EngineCosts) -> str:
    fast = costs.driver_bandwidth / 2**20
    return f"{fast:,.0f} MB/s" if fast < UNMEASURABLE else "more bytes than could be measured"


def fleet_prediction_section(found: Sequence[Prediction]) -> list[str]:
    """10^7 containers in 100 clusters."""
    if not found:
        return []
    return [
        "",
        "## Predicted: 10,000,000 containers in 100 clusters",
        "",
        "A fleet whose clusters differ in size as those of `generate fleet` do, 100,000 containers on average, one job "
        "each: `bayplan plan "
        "clusters.yaml --engine ray:HEAD:6379`. The time of a job is the law of *read and plan, whole* at its size, "
        "times a factor "
        f"drawn from measured jobs of clusters around their own law. Medians of {RUNS} simulated runs. Assumed, not "
        "measured: "
        f"a network of {8 * ASSUMED.network / 1e9:.0f} Gbit/s, files that all workers can read, workers as fast as the "
        "machine above; and "
        f"for the disturbed runs one failure of a worker in {ASSUMED.hours_between_failures:g} hours, noticed after "
        f"{ASSUMED.seconds_to_notice:g} s and back after {ASSUMED.seconds_to_restart:g} s, and "
        f"{ASSUMED.straggler_share:.0%} of the jobs "
        f"{ASSUMED.straggler_factor:g} times slower.",
        "",
        "![seconds over the number of workers](pictures/scale-fleet.svg)",
        "",
        *tables.prediction_lines(found),
        "",
        f"More than {_enough(found):,} workers gain less than a tenth.",
    ]


def _enough(found: Sequence[Prediction]) -> int:
    """The fewest workers that are within a tenth of the best."""
    best = min(each.seconds for each in found)
    return next(each.workers for each in found if each.seconds <= 1.1 * best)


def limit_section(limits: Sequence[Limit]) -> list[str]:
    """What would break first."""
    if not limits:
        return []
    return [
        "",
        "## What would break first",
        "",
        "For 10,000,000 containers in 100 clusters, those that bind first as workers are added come first: "
        f"{limits[0].what}, at "
        f"{limits[0].binds or 0.0:,.0f} workers. What has no number of workers does not depend on them.",
        "",
        *table(("what", "number", "binds from workers", "how derived"), limit_rows(limits)),
    ]


def part_prediction_section(found: Sequence[Prediction], limits: Sequence[Limit]) -> list[str]:
    """One cluster of 10^7 containers."""
    if not found:
        return []
    return [
        "",
        "## Predicted: one cluster of 10,000,000 containers, in parts",
        "",
        "Ten times beyond what was measured, so this is an extrapolation: parts of 40,000 containers, drawn from the jobs of "
        "the largest measured cluster, in two rounds; what the driver does alone (read, prepare, drop, order, explain) by its "
        "laws, and at least linearly from the largest measured cluster on, as its memory.",
        "",
        "![seconds over the number of workers](pictures/scale-parts.svg)",
        "",
        *tables.prediction_lines(found),
        "",
        *table(("what", "number", "binds from workers", "how derived"), limit_rows(limits)),
    ]


if __name__ == "__main__":
    main()
