"""How fast the performance model answers: by formula at the largest scale, and by simulation; appends to `performance.csv`.

    python -m benchmarks.performance

Each number is the fastest of three fresh processes, without reading the cluster and without compiling.
"""

from collections.abc import Iterator
from pathlib import Path

from experiments.results import append, commit, machine

from benchmarks.measure import Measured, best_of

RESULTS = Path(__file__).parent / "performance.csv"
COLUMNS = ("commit", "machine", "name", "seconds", "per_second", "peak_mb")
REQUESTS = 200_000
MODEL = "import bayplan as bp; from bayplan.score.performance import Assumptions, performance_of, walks_of"


def measurements() -> Iterator[tuple[str, Measured, int]]:
    """Name, cost, and how many requests were simulated."""
    for router in ("spill-over", "prefer-local", "random"):
        made = f"{MODEL}; s = bp.generate('rasa-m2'); given = Assumptions(router='{router}')"
        yield f"formula, rasa-m2, {router}", best_of(3, "performance_of(walks_of(s.cluster, s.placement, given))", made), 0
    for name in ("boutique", "rasa-m3"):
        made = f"import bayplan as bp; s = bp.generate('{name}'); bp.performance(s, distribution=True, requests=20)"
        run = f"bp.performance(s, distribution=True, requests={REQUESTS})"
        yield f"simulation, {name}, {REQUESTS:,} requests", best_of(3, run, made), REQUESTS


def main() -> None:
    """Measure, print, append."""
    for name, cost, requests in measurements():
        speed = f"{requests / cost.seconds:.0f}" if requests else ""
        row = (commit(), machine(), name, f"{cost.seconds:.3f}", speed, f"{cost.peak_mb:.0f}")
        append(RESULTS, COLUMNS, [dict(zip(COLUMNS, row, strict=True))])
        print(*row[2:], sep="\t")


if __name__ == "__main__":
    main()
