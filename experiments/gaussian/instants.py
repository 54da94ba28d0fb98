"""Usage over the replicas at single peak moments, from `service_stats_replicas.csv`: the data of [UCaC] Figure 2."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from scipy.special import ndtri

MEASURES = ("source", "service", "day", "replicas", "skew", "skew_error", "z95", "z_max", "z_max_normal")


def instants(path: Path) -> Iterator[dict[str, str]]:
    """One row per service and day whose replicas differ; z: in deviations above the mean."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            n, mean, std = int(row["n_replicas"]), float(row["mean"]), float(row["std"])
            if std > 0:
                numbers = (
                    float(row["skew"]),
                    math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3))),
                    (float(row["p95"]) - mean) / std,
                    (float(row["max"]) - mean) / std,
                    float(ndtri((n - 0.375) / (n + 0.25))),  # what the largest of n normal draws is, about
                )
                words = (row["source"], row["service"], row["day"], str(n), *(f"{number:.4f}" for number in numbers))
                yield dict(zip(MEASURES, words, strict=True))
