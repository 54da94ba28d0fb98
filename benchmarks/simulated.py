"""Measure a week of a simulated cluster without a loop: 336 half hours, each with twenty observations, and a busy cluster.

One process, kernels warm. `seconds` is the whole week, `observe_ms` one observation on average, `worst_ms` the slowest one. Rows
are appended to `benchmarks/simulated.csv`.

    python -m benchmarks.simulated [CLUSTER ...]     rasa-m3 and boutique, if none is named
"""

import sys
import time
from pathlib import Path

from experiments.results import append, commit, machine

import bayplan as bp
from bayplan.check.operation import Instant
from bayplan.operate.simulated import SimulatedOrchestrator, preset

RESULTS = Path(__file__).parent / "simulated.csv"
COLUMNS = ("commit", "machine", "cluster", "containers", "churn", "instants", "observations", "seconds", "observe_ms", "worst_ms")
TURNS, OBSERVATIONS = 336, 20
HALF_HOUR = 1_800.0


def main() -> None:
    """Measure every cluster under every kind of churn, and append the rows."""
    for name in sys.argv[1:] or ["rasa-m3", "boutique"]:
        for churn in ("calm", "busy"):
            row = _measured(name, churn)
            append(RESULTS, COLUMNS, [row])
            seen = f"{row['observations']} observations of {row['observe_ms']} ms (at most {row['worst_ms']} ms)"
            print(f"a {churn} week of {name}: {row['seconds']} s, {row['instants']} instants, {seen}")


def _measured(name: str, churn: str) -> dict[str, str]:
    snapshot = bp.generate(name)
    SimulatedOrchestrator(snapshot, settings=preset("busy"), seed=1).wait(HALF_HOUR)  # loads the scheduler's kernel
    cluster = SimulatedOrchestrator(snapshot, settings=preset(churn))
    instants: list[Instant] = []
    cluster.listeners.append(instants.append)
    started, observing = time.perf_counter(), []
    for _ in range(TURNS * OBSERVATIONS):
        cluster.wait(HALF_HOUR / OBSERVATIONS)
        begun = time.perf_counter()
        cluster.observe()
        observing.append(time.perf_counter() - begun)
    return {
        "commit": commit(),
        "machine": machine(),
        "cluster": name,
        "containers": str(len(snapshot.cluster.containers.name)),
        "churn": churn,
        "instants": str(len(instants)),
        "observations": str(len(observing)),
        "seconds": f"{time.perf_counter() - started:.1f}",
        "observe_ms": f"{1000 * sum(observing) / len(observing):.2f}",
        "worst_ms": f"{1000 * max(observing):.0f}",
    }


if __name__ == "__main__":
    main()
