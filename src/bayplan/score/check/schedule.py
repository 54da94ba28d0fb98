"""The referee of `schedule`: no machine holds more than its capacity at any time (002 (1)-(2))."""

from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.model import TimedRequests
from bayplan.score.check.sweep import peak
from bayplan.score.check.violation import Violation, amount


def check_schedule(requests: TimedRequests, served: Mapping[int, int], machines: int) -> tuple[Violation, ...]:
    """Violations of `served`, request index -> machine index: machines that do not exist, and overload.

    One violation per machine and resource: its highest load and when that is.
    """
    strays = {j: m for j, m in served.items() if not (0 <= j < len(requests.name) and 0 <= m < machines)}
    good = {j: m for j, m in served.items() if j not in strays}
    return (*_strays(requests, strays, machines), *_overloads(requests, good))


def _strays(requests: TimedRequests, strays: Mapping[int, int], machines: int) -> Iterator[Violation]:
    for j, m in sorted(strays.items()):
        known = 0 <= j < len(requests.name)
        name = requests.name[j] if known else str(j)
        sentence = f"request '{name}' is served on machine {m}; there are {machines}" if known else f"there is no request {j}"
        yield Violation(rule="served", subject=(name, str(m)), excess=1, sentence=sentence)


def _overloads(requests: TimedRequests, served: Mapping[int, int]) -> Iterator[Violation]:
    request = np.array(sorted(served), dtype=np.int64)
    machine = np.array([served[j] for j in request.tolist()], dtype=np.int64)
    for m in np.unique(machine):
        j = request[machine == m]
        for r, resource in enumerate(requests.resources):
            top, has = peak(requests.start[j], requests.end[j], requests.demand[j, r]), int(requests.capacity[r])
            if top.load > has:
                over = int(top.load) - has
                yield Violation(
                    rule="capacity",
                    subject=(str(m), resource.name),
                    excess=over,
                    sentence=f"machine {m}: {amount(int(top.load), resource)} {resource.name} requested of "
                    f"{amount(has, resource)} during ({top.start:g}, {top.end:g}] ({amount(over, resource)} too much)",
                )
