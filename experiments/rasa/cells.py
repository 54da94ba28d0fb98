"""One answer: found, timed, checked. As a module it is one process, whose seconds count from its start:

`python -m experiments.rasa.cells JSON` prints the columns that are measured as JSON. JSON has the fields of `Cell`, the file, and
where to keep the answer, or an empty word.
"""

import json
import multiprocessing.forkserver
import re
import resource
import sys
from dataclasses import asdict, dataclass, replace
from math import floor
from pathlib import Path
from typing import NamedTuple

import bayplan as bp
from bayplan.check import check
from bayplan.cli.console import clock
from bayplan.decide.collocate import CollocateOptions
from bayplan.decide.collocate.partition.multi_stage import master_count
from bayplan.decide.collocate.rasa import GREEDY, POOL
from bayplan.formats import write
from bayplan.model import Placement, Snapshot, silent
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity
from bayplan.score.gmrp import moves
from experiments.rasa.authors import AS_THE_AUTHORS
from experiments.rasa.partitioned import PARTITION, partitioned
from experiments.results import Row

KEY = ("cluster", "method", "options", "seed", "threads", "seconds")
ANSWER = ("reading", "wall", "cpu", "before", "affinity", "moved", "placed", "containers", "valid")
SOLVED = ("by_cg", "by_mip", "by_greedy")  # subproblems by the solver that ran; by_greedy: none did
MEASURES = (*ANSWER, *SOLVED, *PARTITION, "memory", "fault")
DEFAULT = {"partition": "multi-stage", "select": "gcn", "trivial": "refit", "ratio": "1"}
MASTERS_ONLY = "-masters"  # at the end of a partitioner: it gets the masters alone
MINUTE = 60.0
AGAIN = "from=rasa"  # the start is what `rasa` made of the cluster before


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A question to a method."""

    cluster: str
    method: str
    options: str = ""  # "trivial=pinned ratio=0.5": partition, select, trivial, ratio (of the masters), cap, price, from
    seed: int = 0
    threads: int = 1
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

    @property
    def before(self) -> "Cell | None":
        """The cell whose answer this one starts from."""
        return replace(self, options="") if self.options == AGAIN else None


def question_of_row(row: Row) -> tuple[str, ...]:
    """The key of a row, without options that are what they would be anyway."""
    words = [word for word in row["options"].split() if DEFAULT.get(word.partition("=")[0]) != word.partition("=")[2]]
    return tuple(" ".join(words) if name == "options" else row[name] for name in KEY)


def options_of(cell: Cell, services: int) -> CollocateOptions:
    """The options of a cell, for a cluster of that many workloads."""
    chosen = cell.chosen
    partition = chosen.get("partition", DEFAULT["partition"])
    ratio = chosen.get("ratio", "1" if partition.endswith(MASTERS_ONLY) else None)
    return CollocateOptions(
        partition=partition.removesuffix(MASTERS_ONLY),
        select=chosen.get("select", DEFAULT["select"]),
        trivial=chosen.get("trivial", DEFAULT["trivial"]),
        masters=None if ratio is None else floor(float(ratio) * master_count(services)),
        move_price=float(chosen.get("price", 0.0)),
    )


class Answer(NamedTuple):
    """What a method found."""

    placement: Placement
    notes: tuple[str, ...]


def measured(cell: Cell, file: Path, *, keep: Path | None = None, used: float = 0.0) -> dict[str, str]:
    """The columns of `MEASURES` but the last two. `bayplan.cli.console.clock` runs already: reading counts, too.

    `keep`: the file that the cluster with the answer is written to. `used`: CPU seconds of this process that do not count.
    """
    began = clock.seconds()
    snapshot = bp.read(file)
    reading = clock.seconds() - began
    options = options_of(cell, len(snapshot.cluster.workloads.name))
    answer = answered(cell, snapshot, options)
    wall, cpu = clock.seconds(), _cpu() - used
    if keep:
        write(replace(snapshot, placement=answer.placement), keep)
    beside = partitioned(snapshot, options, cell.seed) if cell.method == "rasa" else dict.fromkeys(PARTITION, "")
    times = {"reading": f"{reading:.2f}", "wall": f"{wall:.2f}", "cpu": f"{cpu:.2f}"}
    return {**times, **judged(snapshot, answer.placement), **solved_by(answer.notes), **beside}


def answered(cell: Cell, snapshot: Snapshot, options: CollocateOptions) -> Answer:
    """The answer, within the seconds that are left. Then all workers have ended, so that their CPU seconds are known."""
    budget = bp.Budget(seconds=max(0.1, cell.seconds - clock.seconds()), threads=cell.threads)
    if cell.method in AS_THE_AUTHORS:
        method = AS_THE_AUTHORS[cell.method]
        result = method(Problem.of(snapshot), options, budget=budget, seed=cell.seed, progress=silent)
        assert result.solution is not None, result.left_out
        return Answer(result.solution, result.notes)
    limit = cell.chosen.get("cap")
    answer = bp.collocate(snapshot, method=cell.method, seed=cell.seed, max_moves=limit, budget=budget, **asdict(options))
    if cell.threads > 1:  # else it has started no workers; those of a sweep would be waited for in vain
        multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]
    assert answer.result.solution is not None, answer.left_out
    return Answer(answer.placement, answer.result.notes)


def judged(snapshot: Snapshot, after: Placement) -> dict[str, str]:
    """What an answer gains, moves and violates, by the scores alone."""
    cluster, before = snapshot.cluster, snapshot.placement
    return {
        "before": f"{gained_affinity(cluster, before):.6f}",
        "affinity": f"{gained_affinity(cluster, after):.6f}",
        "moved": f"{moves(cluster, after, before) / len(after.machine_of):.6f}",
        "placed": str(len(after.placed)),
        "containers": str(len(after.machine_of)),
        "valid": "no" if check(cluster, after, before) else "yes",
    }


def solved_by(notes: tuple[str, ...]) -> dict[str, str]:
    """The columns of `SOLVED`; empty for methods that have no subproblems."""
    note = next((note for note in notes if note.startswith("subproblems: ")), "")
    numbers = {by: re.search(rf"(\d+) by {by}", note) for by in (*sorted(POOL), GREEDY)}
    found = [match[1] if match else "0" for match in numbers.values()]
    return dict(zip(SOLVED, found if note else [""] * len(SOLVED), strict=True))


def _cpu() -> float:
    """CPU seconds so far, of this process and of children that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def measured_here(cell: Cell, file: Path, keep: Path | None = None) -> dict[str, str]:
    """The measures of a cell without a process of its own."""
    clock.start(())
    return {**measured(cell, file, keep=keep, used=_cpu()), "memory": "", "fault": ""}


def described(cell: Cell, file: Path, keep: Path | None = None) -> str:
    """What `main` is given."""
    return json.dumps({**asdict(cell), "file": str(file), "keep": str(keep or "")})


def main(text: str) -> None:
    """Print one row."""
    clock.start(None)
    fields = json.loads(text)
    file, keep = Path(fields.pop("file")), fields.pop("keep")
    print(json.dumps(measured(Cell(**fields), file, keep=Path(keep) if keep else None)))


if __name__ == "__main__":
    main(sys.argv[1])
