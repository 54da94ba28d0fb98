"""The referee of `schedule`: no machine holds more than its capacity at any time ([Cradle] (1)-(2))."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.peak_load import peak
from bayplan.check.violation import Violation, amount
from bayplan.errors import ModelError
from bayplan.model import Fleet, IntArray, Schedule, TimedRequests


def check_schedule(requests: TimedRequests, schedule: Schedule, fleet: Fleet) -> tuple[Violation, ...]:
    """Violations of `schedule` on the machines of a fleet: machines that do not exist, and overload.

    One violation per machine and resource: its highest load and when that is. O(n log n).
    """
    if schedule.machine_of.shape != (len(requests.name),):
        raise ModelError(f"the schedule is of {len(schedule.machine_of)} requests, not of {len(requests.name)}")
    served = schedule.served
    there = schedule.machine_of[served] < fleet.size
    return (*_strays(requests, schedule, served[~there], fleet.size), *_overloads(requests, schedule, served[there], fleet))


def _strays(requests: TimedRequests, schedule: Schedule, served: IntArray, machines: int) -> Iterator[Violation]:
    for j in served.tolist():
        name, m = requests.name[j], int(schedule.machine_of[j])
        sentence = f"request '{name}' is served on machine {m}; there are {machines}"
        yield Violation(rule="served", subject=(name, str(m)), excess=1, sentence=sentence)


def _overloads(requests: TimedRequests, schedule: Schedule, served: IntArray, fleet: Fleet) -> Iterator[Violation]:
    by_machine = served[np.argsort(schedule.machine_of[served], kind="stable")]
    used, first = np.unique(schedule.machine_of[by_machine], return_index=True)
    parts, kind_of = np.split(by_machine, first[1:]) if len(used) else [], fleet.kind_of
    for m, j in zip(used.tolist(), parts, strict=True):
        for r, resource in enumerate(requests.resources):
            top, has = peak(requests.start[j], requests.end[j], requests.demand[j, r]), int(fleet.capacity[kind_of[m], r])
            if top.load > has:
                over = int(top.load) - has
                yield Violation(
                    rule="capacity",
                    subject=(str(m), resource.name),
                    excess=over,
                    sentence=f"machine {m}: {amount(int(top.load), resource)} {resource.name} requested of "
                    f"{amount(has, resource)} during ({top.start:g}, {top.end:g}] ({amount(over, resource)} too much)",
                )
