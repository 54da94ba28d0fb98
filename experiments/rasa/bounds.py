"""How much any placement can gain at most, as far as it is proven in so many seconds: `--bound` of `bayplan collocate`."""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bayplan.decide.collocate.bound import affinity_bound
from bayplan.formats import read
from bayplan.model import silent
from bayplan.model.problem import Problem
from experiments.rasa.clusters import M3, file_of
from experiments.results import Row, measured_on
from experiments.verdicts import yes

KEY = ("cluster", "seconds")
MEASURES = ("wall", "cpu", "bound")
ASKED = 0.8830  # on M3, in ten minutes
TEN_MINUTES = 600.0
KNOWN = 0.8810  # a bound for M3 that was proven before


class Asked(NamedTuple):
    """A bound that is to be proven."""

    cluster: str
    seconds: float

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return self.cluster, f"{self.seconds:g}"


EVERY = (*(Asked(M3, seconds) for seconds in (10.0, 60.0, 300.0)), *(Asked(f"rasa-m{n}", 60.0) for n in (1, 2, 4)))
QUICK = (Asked("rasa-m3", 0.5),)


def proven(asked: Asked) -> dict[str, str]:
    """The columns of `MEASURES`."""
    problem = Problem.of(read(file_of(asked.cluster)))
    began, used = time.perf_counter(), time.process_time()
    bound = affinity_bound(problem, seconds=asked.seconds, progress=silent)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    return {"wall": f"{wall:.2f}", "cpu": f"{cpu:.2f}", "bound": f"{bound or 0:.6f}"}


def bound_lines(measured: Sequence[Row], answers: Sequence[Row]) -> list[str]:
    """A table, beside the most that any answer in `answers` has gained, and what follows."""
    head = ["cluster", "seconds asked", "wall s", "CPU s", "proven bound", "most gained by any answer", "gap"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in measured:
        most, bound = _most(answers, row["cluster"]), float(row["bound"])
        gap = "" if most is None else f"{bound / most - 1:.2%}"
        numbers = [row["cluster"], row["seconds"], row["wall"], row["cpu"] or "-", f"{bound:.4f}"]
        cells = [*numbers, "" if most is None else f"{most:.4f}", gap]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", *_verdicts(measured, answers), "", f"Measured on {measured_on(measured)}."]


def _verdicts(measured: Sequence[Row], answers: Sequence[Row]) -> Iterator[str]:
    real = [row for row in measured if row["cluster"] == M3 and float(row["seconds"]) <= TEN_MINUTES]
    if real:
        best = min(real, key=lambda row: float(row["bound"]))
        good = yes(float(best["bound"]) <= ASKED)
        yield (
            f"- M3, at most {ASKED:.4f} proven in ten minutes? {good}: {float(best['bound']):.4f} in {float(best['wall']):.0f} s "
            f"(known before: {KNOWN:.4f})."
        )
    passed = [row for row in measured if (most := _most(answers, row["cluster"])) is not None and float(row["bound"]) < most]
    yield f"- Is a bound below an answer? {'**yes**: ' + passed[0]['cluster'] if passed else 'no, nowhere'}."


def _most(answers: Sequence[Row], cluster: str) -> float | None:
    gained = [float(row["affinity"]) for row in answers if row["cluster"] == cluster and row["valid"] == "yes"]
    return max(gained, default=None)
