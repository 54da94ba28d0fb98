"""Packing patterns of one day for the next: which containers shared machines."""

import json
import os
from pathlib import Path

import numpy as np

from bayplan.errors import UsageError
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import Cluster, IntArray, Placement
from bayplan.score.counts import workload_counts


def patterns_of(cluster: Cluster, placement: Placement) -> IntArray:
    """(pattern, workload) every combination that runs on some machine, once."""
    count = workload_counts(cluster, placement).T.toarray()
    return np.unique(count[count.any(axis=1)], axis=0)


def write_patterns(path: str | os.PathLike[str], cluster: Cluster, patterns: IntArray) -> None:
    """Write the patterns as JSON, one line each: workload -> containers."""
    names = cluster.workloads.name
    lines = [json.dumps({names[w]: int(pattern[w]) for w in np.flatnonzero(pattern)}) for pattern in patterns]
    write_text_atomically(path, '{"patterns": [\n' + ",\n".join(lines) + "\n]}\n")


def read_patterns(path: str | os.PathLike[str], cluster: Cluster) -> IntArray:
    """The patterns in a file, without workloads that the cluster does not have. UsageError if it is no such file."""
    number = {name: w for w, name in enumerate(cluster.workloads.name)}
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8"))["patterns"]
        patterns = np.zeros((len(listed), len(number)), dtype=np.int64)
        for row, pattern in enumerate(listed):
            for name, count in pattern.items():
                if name in number:
                    patterns[row, number[name]] = int(count)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"cannot read patterns '{os.fspath(path)}': {error}; expected what --save-patterns writes") from error
    return patterns
