"""Google clusterdata-2011-2: the tasks of the first 94 minutes, and those that ran before.

Amounts are normalised there: the largest machine has 1.0 of each. Only part 0 of 500 of the task events can be had,
so this is 94 minutes, not 29 days. A task that outlives part 0 has the end of its *job*, an upper bound; ends are
therefore clipped to the window.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from bayplan.formats.traces.table import LARGEST, amounts_ok, names_ok, read_columns
from bayplan.model import Resource, TimedRequests

SCALE = 10**8  # the trace has at most eight decimals: exact
WINDOW = 94 * 60.0  # seconds


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
        resources=(Resource(name="cpu", scale=SCALE), Resource(name="memory", scale=SCALE)),
        capacity=np.rint(np.array(capacity) * SCALE),
        start=start[inside],
        end=end[inside],
        demand=demand[inside],
        value=worth[inside],
        priority=tuple(map(str, columns["prio"].astype(np.int64)[inside].tolist())),
    )
