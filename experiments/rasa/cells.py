"""One answer: found, timed, checked. As a module it is one process, whose seconds count from its start:

`python -m experiments.rasa.cells JSON` prints the columns that are measured as JSON. JSON has the fields of `Cell` and the file.
"""

import json
import multiprocessing.forkserver
import resource
import sys
import time
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path

import numpy as np

import bayplan as bp
from bayplan.check import check
from bayplan.cli.console import clock
from bayplan.decide.collocate import CollocateOptions
from bayplan.decide.collocate.partition import PARTITIONERS, affinity_graph
from bayplan.decide.collocate.partition.multi_stage import master_count, master_workloads, workloads_with_affinity
from bayplan.model import Cluster, Placement, Snapshot
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves
from experiments.results import Row

KEY = ("cluster", "method", "options", "seed", "threads", "seconds")
ANSWER = ("reading", "wall", "cpu", "affinity", "moved", "placed", "containers", "valid")
PARTITION = ("sets", "lost", "partition_seconds", "masters", "masters_affinity")  # of `rasa`
MEASURES = (*ANSWER, *PARTITION, "memory", "fault")
DEFAULT = {"partition": "multi-stage", "select": "gcn", "trivial": "refit", "ratio": "1"}
MINUTE = 60.0  # a method gets no more, even where reading has its own seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A question to a method."""

    cluster: str
    method: str
    options: str = ""  # "trivial=pinned ratio=0.5": partition, select, trivial, ratio (of the masters), cap, price
    seed: int = 0
    threads: int = 2
    seconds: float = MINUTE  # from the start of the process

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        return (self.cluster, self.method, self.options, str(self.seed), str(self.threads), f"{self.seconds:g}")

    @property
    def question(self) -> tuple[str, ...]:
        """What is asked: the same for cells that differ in how they say so."""
        return question_of_row(dict(zip(KEY, self.key, strict=True)))

    @property
    def chosen(self) -> dict[str, str]:
        """The options by name."""
        return dict(word.split("=", 1) for word in self.options.split())


def question_of_row(row: Row) -> tuple[str, ...]:
    """The key of a row, without options that are what they would be anyway."""
    words = [word for word in row["options"].split() if DEFAULT.get(word.partition("=")[0]) != word.partition("=")[2]]
    return tuple(" ".join(words) if name == "options" else row[name] for name in KEY)


def options_of(cell: Cell, services: int) -> CollocateOptions:
    """The options of a cell, for a cluster of that many workloads."""
    chosen = cell.chosen
    ratio = chosen.get("ratio")
    return CollocateOptions(
        partition=chosen.get("partition", "multi-stage"),
        select=chosen.get("select", "gcn"),
        trivial=chosen.get("trivial", "refit"),
        masters=None if ratio is None else floor(float(ratio) * master_count(services)),
        move_price=float(chosen.get("price", 0.0)),
    )


def measured(cell: Cell, file: Path) -> dict[str, str]:
    """The columns of `ANSWER` and `PARTITION`. `bayplan.cli.console.clock` runs already: reading counts, too."""
    began, used = clock.seconds(), _cpu()
    snapshot = bp.read(file)
    reading = clock.seconds() - began
    options = options_of(cell, len(snapshot.cluster.workloads.name))
    budget = bp.Budget(seconds=min(MINUTE, max(0.1, cell.seconds - clock.seconds())), threads=cell.threads)
    limit = cell.chosen.get("cap")
    answer = bp.collocate(snapshot, method=cell.method, seed=cell.seed, max_moves=limit, budget=budget, **asdict(options))
    wall = clock.seconds()
    assert answer.result.solution is not None, answer.left_out
    return {
        "reading": f"{reading:.2f}",
        "wall": f"{wall:.2f}",
        "cpu": f"{_cpu() - used:.2f}",
        **judged(snapshot, answer.placement),
        **(partitioned(snapshot.cluster, options, cell.seed) if cell.method == "rasa" else dict.fromkeys(PARTITION, "")),
    }


def judged(snapshot: Snapshot, after: Placement) -> dict[str, str]:
    """What an answer gains, moves and violates, by the scores alone."""
    cluster, before = snapshot.cluster, snapshot.placement
    return {
        "affinity": f"{gained_affinity(cluster, after):.6f}",
        "moved": f"{moves(cluster, after, before) / len(after.machine_of):.6f}",
        "placed": str(len(after.placed)),
        "containers": str(len(after.machine_of)),
        "valid": "no" if check(cluster, after, before) else "yes",
    }


def partitioned(cluster: Cluster, options: CollocateOptions, seed: int) -> dict[str, str]:
    """What the partitioner alone does, and what affinity there is between masters."""
    began = time.perf_counter()
    graph = affinity_graph(cluster)
    partition = PARTITIONERS[options.partition](graph, masters=options.masters, seed=seed)
    seconds = time.perf_counter() - began
    chosen = master_workloads(graph, workloads_with_affinity(graph), options.masters)
    inside = np.isin(graph.a, chosen) & np.isin(graph.b, chosen)
    numbers = (f"{partition.lost:.6f}", f"{seconds:.3f}", str(len(chosen)), f"{graph.weight[inside].sum():.6f}")
    return dict(zip(PARTITION, (str(len(partition.sets)), *numbers), strict=True))


def _cpu() -> float:
    """CPU seconds so far, of this process and of children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def described(cell: Cell, file: Path) -> str:
    """What `main` is given."""
    return json.dumps({**asdict(cell), "file": str(file)})


def main(text: str) -> None:
    """Print one row. Workers are children of a fork server, so their seconds are known when it has ended."""
    clock.start(None)
    fields = json.loads(text)
    file = Path(fields.pop("file"))
    row = measured(Cell(**fields), file)
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]
    print(json.dumps({**row, "cpu": f"{_cpu():.2f}"}))


if __name__ == "__main__":
    main(sys.argv[1])
