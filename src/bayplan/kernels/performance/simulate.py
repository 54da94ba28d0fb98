"""A discrete-event simulation of requests that walk a call graph.

Requests and other visits arrive at random (Poisson). A visit takes its place on a machine that shares its processor, or a random
time around the machine's own mean. Then its request ends, or calls: after the time of the call the next visit begins.
Events at the same time: ends of calls first, then ends of visits by machine, then arrivals. The same state of the random numbers
gives the same latencies.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import allocating_kernel, kernel
from bayplan.kernels.performance.arrays import DONE, TOO_MANY
from bayplan.kernels.performance.draws import (
    any_machine,
    called_machine,
    chosen,
    containers_of,
    exponential,
    peer_machine,
    visit_size,
)
from bayplan.kernels.performance.sharing import Sharing, end_visit, start_visit
from bayplan.kernels.random import uniform


class OpenRequests(NamedTuple):
    """Requests on their way, in places; and the timers of those that no shared machine serves."""

    number: npt.NDArray[np.int64]  # (place,) in order of arrival
    start: npt.NDArray[np.float64]  # (place,)
    node: npt.NDArray[np.int64]  # (place,) where it is, or where its call leads
    machine: npt.NDArray[np.int64]  # (place,)
    visiting: npt.NDArray[np.int64]  # (place,) 1 in a visit, 0 in a call
    failed: npt.NDArray[np.int64]  # (place,)
    free: npt.NDArray[np.int64]  # places without a request, the first `sizes[0]` of it
    due: npt.NDArray[np.float64]  # (timer,) a heap: the earliest first
    timed: npt.NDArray[np.int64]  # (timer,) place
    sizes: npt.NDArray[np.int64]  # (4,) free places, timers, requests that came, counted requests that ended


@kernel
def push_timer(requests, due, place):
    """Start a timer for a request."""
    i = requests.sizes[1]
    requests.sizes[1] += 1
    while i > 0 and requests.due[(i - 1) // 2] > due:
        requests.due[i], requests.timed[i] = requests.due[(i - 1) // 2], requests.timed[(i - 1) // 2]
        i = (i - 1) // 2
    requests.due[i], requests.timed[i] = due, place


@kernel
def pop_timer(requests):
    """The request whose timer ends first."""
    place, n = requests.timed[0], requests.sizes[1] - 1
    due, last = requests.due[n], requests.timed[n]
    requests.sizes[1] = n
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and requests.due[child + 1] < requests.due[child]:
            child += 1
        if requests.due[child] >= due:
            break
        requests.due[i], requests.timed[i] = requests.due[child], requests.timed[child]
        i = child
    requests.due[i], requests.timed[i] = due, last
    return place


@kernel
def begin_visit(place, now, machines, settings, rng, sharing, requests):
    """A request visits the machine that it was sent to; false if that has no place."""
    m = requests.machine[place]
    requests.visiting[place] = 1
    if uniform(rng) <= machines.fails[m]:
        requests.failed[place] = 1
    if settings.sharing == 1:
        return start_visit(sharing, m, now, visit_size(rng, settings.service_ms, settings.size_kind), place)
    push_timer(requests, now + exponential(rng, machines.visit_ms[m]), place)
    return True


@kernel
def leave(place, now, settings, requests, tally_out):
    """A request ends."""
    counted = requests.number[place] - settings.skipped
    if 0 <= counted < tally_out.latency.shape[0]:
        tally_out.latency[counted] = now - requests.start[place]
        tally_out.failed[counted] = requests.failed[place]
        requests.sizes[3] += 1
    requests.free[requests.sizes[0]] = place
    requests.sizes[0] += 1


@kernel
def go_on(place, now, walk, cells, settings, rng, requests, tally_out):
    """After a visit a request calls or ends."""
    node, m = requests.node[place], requests.machine[place]
    last = walk.first[node + 1]
    call = chosen(walk.go_on, walk.first[node], last, uniform(rng))
    if call == last:
        leave(place, now, settings, requests, tally_out)
        return
    callee, row = walk.callee[call], walk.row[walk.callee[call]]
    if containers_of(cells, row) == 0:
        requests.failed[place] = 1
        tally_out.calls[0] += 1
        requests.node[place], requests.visiting[place] = callee, -1
        push_timer(requests, now + settings.network_ms, place)
        return
    if walk.peers[call] == 1:
        target = peer_machine(cells, row, m, rng)
    else:
        target = called_machine(settings.router, cells, walk.row[node], row, m, rng)
    stays = 1 if target == m else 0
    tally_out.calls[stays] += 1
    if uniform(rng) <= (settings.ipc_error if stays == 1 else settings.network_error):
        requests.failed[place] = 1
    requests.node[place], requests.machine[place], requests.visiting[place] = callee, target, 0
    push_timer(requests, now + (settings.ipc_ms if stays == 1 else settings.network_ms), place)


@kernel
def arrive(now, walk, cells, machines, settings, rng, sharing, requests, tally_out):
    """A request, or a visit that is not part of one, comes; false if there is no place for it."""
    total = settings.request_rate + settings.other_rate
    if uniform(rng) * total > settings.request_rate:
        m = min(chosen(machines.others, 0, len(machines.others), uniform(rng)), len(machines.others) - 1)
        return start_visit(sharing, m, now, visit_size(rng, settings.service_ms, settings.size_kind), -1)
    if requests.sizes[0] == 0:
        return False
    requests.sizes[0] -= 1
    place = requests.free[requests.sizes[0]]
    node = min(chosen(walk.entry, 0, len(walk.entry), uniform(rng)), len(walk.entry) - 1)
    requests.number[place], requests.start[place], requests.failed[place] = requests.sizes[2], now, 0
    requests.sizes[2] += 1
    requests.node[place] = node
    if containers_of(cells, walk.row[node]) == 0:
        requests.failed[place] = 1
        leave(place, now, settings, requests, tally_out)
        return True
    requests.machine[place] = any_machine(cells, walk.row[node], rng)
    return begin_visit(place, now, machines, settings, rng, sharing, requests)


@allocating_kernel
def simulate(walk, cells, machines, settings, places, rng, tally_out):
    """Simulate until all counted requests have ended; DONE, or TOO_MANY if more are under way than there are places."""
    n_m = len(machines.fails)
    sharing = Sharing(
        np.zeros(n_m),
        np.zeros(n_m),
        np.zeros(n_m, dtype=np.int64),
        np.zeros((n_m, settings.width)),
        np.zeros((n_m, settings.width), dtype=np.int64),
        np.full(n_m, np.inf),
        tally_out.busy,
    )
    requests = OpenRequests(
        np.zeros(places, dtype=np.int64),
        np.zeros(places),
        np.zeros(places, dtype=np.int64),
        np.zeros(places, dtype=np.int64),
        np.zeros(places, dtype=np.int64),
        np.zeros(places, dtype=np.int64),
        np.arange(places),
        np.zeros(places + 1),
        np.zeros(places + 1, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    requests.sizes[0] = places
    gap = 1.0 / (settings.request_rate + settings.other_rate)
    coming = exponential(rng, gap)
    while requests.sizes[3] < tally_out.latency.shape[0]:
        m = np.argmin(sharing.finish)
        due = requests.due[0] if requests.sizes[1] > 0 else np.inf
        if due <= coming and due <= sharing.finish[m]:
            place = pop_timer(requests)
            if requests.visiting[place] == 0:
                if not begin_visit(place, due, machines, settings, rng, sharing, requests):
                    return TOO_MANY
            elif requests.visiting[place] == 1:
                go_on(place, due, walk, cells, settings, rng, requests, tally_out)
            else:
                leave(place, due, settings, requests, tally_out)
        elif sharing.finish[m] <= coming:
            now = sharing.finish[m]
            place = end_visit(sharing, m)
            if place >= 0:
                go_on(place, now, walk, cells, settings, rng, requests, tally_out)
        else:
            if not arrive(coming, walk, cells, machines, settings, rng, sharing, requests, tally_out):
                return TOO_MANY
            coming += exponential(rng, gap)
    return DONE
