"""Google clusterdata-2011-2: the tasks of the first 94 minutes, and those that ran before; and a semi-real 29 days.

Amounts are normalised there: the largest machine has 1.0 of each. Only part 0 of 500 of the task events can be had,
so `read_google2011` is 94 minutes, not 29 days. A task that outlives part 0 has the end of its *job*, an upper bound; ends are
therefore clipped to the window. The events of *jobs* are there for all 29 days, without demands: `read_google2011_jobs`
draws these.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from bayplan.formats.traces.table import LARGEST, amounts_ok, names_ok, positions, read_columns
from bayplan.model import IntArray, Resource, TimedRequests, ints

SCALE = 10**8  # the trace has at most eight decimals: exact
WINDOW = 94 * 60.0  # seconds
RESOURCES = (Resource(name="cpu", scale=SCALE), Resource(name="memory", scale=SCALE))


def read_google2011(
    folder: Path | str,
    *,
    capacity: tuple[float, float] = (1.0, 1.0),
    value: Literal["one", "priority"] = "one",
    window: float = WINDOW,
) -> TimedRequests:
    """One request per task, from its submission (0: it was there before) to its end, in seconds.

    `capacity` is cpu and memory of one machine; the value of a task is 1, or its priority (0..11) plus 1;
    the priority is its class in any case.
    Tasks that start at or after `window` are left out.
    """
    columns = read_columns(folder, "tasks_part0.parquet", ["job", "idx", "submit_us", "end_us", "cpu", "mem", "prio"])
    amounts_ok(folder, submit_us=columns["submit_us"], prio=columns["prio"])
    amounts_ok(folder, largest=LARGEST / SCALE, cpu=columns["cpu"], mem=columns["mem"])
    start = columns["submit_us"] / 1e6
    end = np.fmin(columns["end_us"] / 1e6, window)  # fmin: NaN, still alive at the end of the trace, is the window
    inside = start < end
    demand = np.rint(np.stack([columns["cpu"], columns["mem"]], axis=1) * SCALE)
    names = [f"{job}-{task}" for job, task in zip(columns["job"].tolist(), columns["idx"].tolist(), strict=True)]
    names_ok(folder, "task", names)
    worth = columns["prio"] + 1.0 if value == "priority" else np.ones(len(start))
    return TimedRequests(
        name=tuple(name for name, keep in zip(names, inside.tolist(), strict=True) if keep),
        resources=RESOURCES,
        capacity=np.rint(np.array(capacity) * SCALE),
        start=start[inside],
        end=end[inside],
        demand=demand[inside],
        value=worth[inside],
        priority=tuple(map(str, columns["prio"].astype(np.int64)[inside].tolist())),
    )


def read_google2011_jobs(folder: Path | str, *, capacity: tuple[float, float] = (1.0, 1.0), seed: int = 0) -> TimedRequests:
    """Semi-real: one request per job of the 29 days, from its submission to its end, in seconds; each is worth 1.

    The demand of a job is that of one task, drawn with the seed from the tasks of the first 94 minutes that have its scheduling
    class. A job that was alive at the end of the trace ends with it.
    """
    jobs = read_columns(folder, "jobs_29days.parquet", ["job", "submit_us", "end_us", "sclass"])
    amounts_ok(folder, submit_us=jobs["submit_us"], sclass=jobs["sclass"])
    names = [f"job{job}" for job in jobs["job"].tolist()]
    names_ok(folder, "job", names)
    start, end = jobs["submit_us"] / 1e6, jobs["end_us"] / 1e6
    end = np.where(np.isnan(end), max(np.nanmax(end, initial=0.0), start.max(initial=0.0)), end)
    inside = start < end
    return TimedRequests(
        name=tuple(name for name, keep in zip(names, inside.tolist(), strict=True) if keep),
        resources=RESOURCES,
        capacity=np.rint(np.array(capacity) * SCALE),
        start=start[inside],
        end=end[inside],
        demand=_drawn_demands(folder, jobs["sclass"].astype(np.int64)[inside], seed),
        value=np.ones(int(inside.sum())),
    )


def _drawn_demands(folder: Path | str, class_of: IntArray, seed: int) -> IntArray:
    """(job, resource) cpu and memory of a task of the same scheduling class."""
    tasks = read_columns(folder, "tasks_part0.parquet", ["sclass", "cpu", "mem"])
    amounts_ok(folder, largest=LARGEST / SCALE, cpu=tasks["cpu"], mem=tasks["mem"])
    amount = ints(np.rint(np.stack([tasks["cpu"], tasks["mem"]], axis=1) * SCALE))
    by_class = tasks["sclass"].astype(np.int64)
    classes = np.unique(class_of)
    positions(folder, "scheduling class", list(map(str, np.unique(by_class).tolist())), list(map(str, classes.tolist())))
    rng, demand = np.random.default_rng(seed), np.zeros((len(class_of), amount.shape[1]), dtype=np.int64)
    for number in classes.tolist():
        jobs = np.flatnonzero(class_of == number)
        demand[jobs] = amount[rng.choice(np.flatnonzero(by_class == number), size=len(jobs))]
    return demand
