"""How much affinity the partition of [RASA] §IV-B loses on generated clusters: what their rank shift is calibrated to."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from bayplan.decide.collocate.partition import AffinityGraph, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import master_workloads, multi_stage, workloads_with_affinity
from bayplan.generate.rasa.cluster import make_cluster
from bayplan.generate.rasa.settings import M1, M2, M3, M4
from experiments.results import Row, append, commit, rows, table

SETTINGS = {settings.name: settings for settings in (M1, M2, M3, M4)}
REPORTED = {"rasa-m1": 0.0385, "rasa-m2": 0.1153, "rasa-m3": 0.0091, "rasa-m4": 0.0867}  # the authors' supplement
FIELDS = ("cluster", "seed", "partition_seed", "outside", "lost", "commit")
PARTITIONS = 3  # seeds of the partitioner for each cluster


def measure_losses(path: Path, names: Sequence[str], seeds: Sequence[int]) -> None:
    """One row per cluster, seed and seed of the partitioner; the placement does not matter, so none is made."""
    done = {(row["cluster"], row["seed"]) for row in rows(path)}
    for name in names:
        for seed in seeds:
            if (name, str(seed)) not in done:
                graph, at = affinity_graph(make_cluster(SETTINGS[name], np.random.default_rng(seed))), commit()
                new = (_losses(graph, of_partition) for of_partition in range(PARTITIONS))
                append(path, FIELDS, [{"cluster": name, "seed": str(seed), **one, "commit": at} for one in new])


def _losses(graph: AffinityGraph, seed: int) -> Row:
    lost = multi_stage(graph, masters=None, seed=seed).lost
    return {"partition_seed": str(seed), "outside": f"{outside_of_masters(graph):.6f}", "lost": f"{lost:.6f}"}


def outside_of_masters(graph: AffinityGraph) -> float:
    """The share of the affinity on edges with an end that is no master."""
    masters = master_workloads(graph, workloads_with_affinity(graph))
    return float(graph.weight[~(np.isin(graph.a, masters) & np.isin(graph.b, masters))].sum())


def losses_table(measured: Sequence[Row]) -> list[str]:
    """Reported and generated side by side."""
    head = ["cluster", "the authors", "lost: mean (least .. most)", "outside of the masters, mean"]
    body = []
    for name in dict.fromkeys(row["cluster"] for row in measured):
        mine = [row for row in measured if row["cluster"] == name]
        lost, outside = ([float(row[column]) for row in mine] for column in ("lost", "outside"))
        span = f"{fmean(lost):.2%} ({min(lost):.2%} .. {max(lost):.2%})"
        body.append([name, f"{REPORTED[name]:.2%}", span, f"{fmean(outside):.2%}"])
    return table(head, body)
