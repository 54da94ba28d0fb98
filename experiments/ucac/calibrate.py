"""`python -m experiments.ucac.calibrate [--out FOLDER]`: how the numbers that [UCaC] does not state were set, on seeds 100-104.

Scale factors: K = 20, both confidences; machines of `bf-nsigma` and of `csp-machines` for each factor, one row per packing in
calibration.csv. The factor whose ratio is nearest to the paper's is the one of the generator (`FACTOR`). The week:
its size, swing and drift, from UCaC and violations of `csp-ucac` and of `csp-machines`, one row per day in
calibration-week.csv. Resumable.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from bayplan.generate.ucac_services import SIZE
from bayplan.model import Budget
from experiments.results import Row, append, commit, machine, rows
from experiments.ucac.cells import Setting, Size, answer, busy, instance, packed, used
from experiments.ucac.figures import ALPHAS, TABLE, TABLE_4
from experiments.ucac.weeks import MEASURES, Days, week_of

HERE = Path(__file__).parent
CSV, WEEK_CSV = "calibration.csv", "calibration-week.csv"
SEEDS = range(100, 105)
SERVICES = 20
FACTORS = {
    "scale-down": (0.80, 0.82, 0.84, 0.85, 0.86, 0.87, 0.88, 0.90, 0.92),
    "scale-up": (1.05, 1.10, 1.20, 1.30),
}
PAIR = ("bf-nsigma", "csp-machines")
CHANGES = ((0.15, 0.0), (0.15, 0.01), (0.15, 0.02), (0.15, 0.03), (0.15, 0.05), (0.05, 0.02), (0.30, 0.02))  # swing, drift
WEEK_BUDGET = Budget(seconds=5.0)  # a packing
WEEK_PAIR = ("csp-ucac", "csp-machines")
KEY = ("case", "factor", "alpha", "seed", "method")
FIELDS = (*KEY, "ucac", "machines", "seconds", "cpu_seconds", "commit", "machine")
WEEK_KEY = ("swing", "drift", "seed", "method")
WEEK_FIELDS = (*WEEK_KEY, *MEASURES, "commit", "machine")


def measure(path: Path, size: Size, seeds: Sequence[int] = SEEDS) -> None:
    """One row per packing that is not there yet."""
    done = {tuple(row[name] for name in KEY) for row in rows(path)}
    pairs = [(case, factor) for case, factors in FACTORS.items() for factor in factors]
    for alpha, seed, (case, factor), method in product(ALPHAS, seeds, pairs, PAIR):
        key = (case, f"{factor:g}", f"{alpha:g}", str(seed), method)
        if key not in done:
            setting = Setting(case=case, services=SERVICES, alpha=alpha, seed=seed)
            append(path, FIELDS, [_row(key, setting, size)])


def _row(key: tuple[str, ...], setting: Setting, size: Size) -> dict[str, str]:
    snapshot = instance(setting, size, float(key[1]))
    result, spent = packed(snapshot, key[4], setting.seed)
    print(" ".join(key), f"{spent.seconds:.2f} s", file=sys.stderr)
    machines = int(busy(snapshot.cluster, answer(result)).sum())
    total = used(snapshot.cluster, answer(result), setting.alpha).sum()
    numbers = {"ucac": f"{total:.3f}", "machines": str(machines), **spent.columns}
    return {**dict(zip(KEY, key, strict=True)), **numbers, **where()}


def ratios(measured: Sequence[Row]) -> dict[tuple[str, str, str], float]:
    """(case, factor, alpha) -> machines of csp-machines over those of bf-nsigma, the mean over seeds."""
    by_key: dict[tuple[str, str, str], list[float]] = {}
    count = {tuple(row[name] for name in KEY): float(row["machines"]) for row in measured}
    for (case, factor, alpha, seed, method), machines in count.items():
        other = count.get((case, factor, alpha, seed, PAIR[0]))
        if method == PAIR[1] and other:
            by_key.setdefault((case, factor, alpha), []).append(machines / other)
    return {key: mean(values) for key, values in by_key.items()}


def misses(measured: Sequence[Row]) -> dict[tuple[str, str], float]:
    """(case, factor) -> how far its ratios are from the paper's, summed over both confidences."""
    total: dict[tuple[str, str], float] = {}
    for (case, factor, alpha), ratio in ratios(measured).items():
        wanted = TABLE[case][SERVICES, PAIR[1]][ALPHAS.index(float(alpha))].machines
        total[case, factor] = total.get((case, factor), 0.0) + abs(ratio - wanted)
    return total


def nearest_factor(measured: Sequence[Row], case: str) -> float:
    """The factor of least distance."""
    of_case = {factor: miss for (name, factor), miss in misses(measured).items() if name == case}
    return float(min(of_case, key=lambda factor: of_case[factor]))


def measure_weeks(path: Path, machines: int, seeds: Sequence[int] = SEEDS[:2]) -> None:
    """Seven rows per week that is not there yet."""
    done = {tuple(row[name] for name in WEEK_KEY) for row in rows(path)}
    for (swing, drift), seed, method in product(CHANGES, seeds, WEEK_PAIR):
        key = (f"{swing:g}", f"{drift:g}", str(seed), method)
        if key not in done:
            print("week", *key, file=sys.stderr)
            days = Days(size=SIZE, swing=swing, drift=drift, machines=machines, draws=1, budget=WEEK_BUDGET)
            week = week_of(method, None, seed, days)
            append(path, WEEK_FIELDS, [{**dict(zip(WEEK_KEY, key, strict=True)), **row, **where()} for row in week])


class Outcome(NamedTuple):
    """The means over weeks of one kind."""

    ucac: float  # cores of csp-ucac, mean over days
    violations: float  # of csp-ucac, predicted, per machine-day
    ucac_ratio: float  # of csp-machines over csp-ucac
    machines_ratio: float


def outcomes(measured: Sequence[Row]) -> dict[tuple[str, str], Outcome]:
    """(swing, drift) -> its outcome."""
    outcome_of = {}
    for key in dict.fromkeys((row["swing"], row["drift"]) for row in measured):
        ours, theirs = (
            [row for row in measured if (row["swing"], row["drift"]) == key and row["method"] == m] for m in WEEK_PAIR
        )
        if ours and theirs:
            ucac, machines = (
                [mean(float(row[name]) for row in rows_of) for rows_of in (ours, theirs)] for name in ("ucac", "machines")
            )
            rate = sum(float(row["predicted"]) for row in ours) / sum(float(row["machines"]) for row in ours)
            outcome_of[key] = Outcome(ucac[0], rate, ucac[1] / ucac[0], machines[1] / machines[0])
    return outcome_of


THEIR_WEEK = (
    TABLE_4[WEEK_PAIR[1]].ucac / TABLE_4[WEEK_PAIR[0]].ucac,
    TABLE_4[WEEK_PAIR[1]].machines / TABLE_4[WEEK_PAIR[0]].machines,
)


@cache
def where() -> dict[str, str]:
    """The commit whose code this process has loaded, and the machine."""
    return {"commit": commit(), "machine": machine()}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then print what follows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE, help="the folder for the CSV files")
    out = parser.parse_args(argv).out
    out.mkdir(parents=True, exist_ok=True)
    where()
    measure(out / CSV, Size())
    for (case, factor), miss in sorted(misses(rows(out / CSV)).items()):
        print(case, factor, f"{miss:.4f}")
    for case in FACTORS:
        print(case, "nearest:", nearest_factor(rows(out / CSV), case))
    measure_weeks(out / WEEK_CSV, Size().machines)
    for key, outcome in outcomes(rows(out / WEEK_CSV)).items():
        print("week", *key, outcome)


if __name__ == "__main__":
    main()
