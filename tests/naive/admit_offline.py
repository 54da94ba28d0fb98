"""The best answer to a small stream by trying every one: what `offline` must find."""

from itertools import product

from bayplan.model import ClusterRequests


def every_use(stream: ClusterRequests, i: int) -> list[dict]:
    """What each plan of a request takes, by ("zone", z, r) and ("link", y, z), where it fits alone; each once."""
    zones, request = stream.zones, stream.requests[i]
    found = []
    for plan in product(range(len(zones.name)), repeat=len(request.members)):
        use: dict = {}
        for v, z in enumerate(plan):
            for r, amount in enumerate(request.demand[v].tolist()):
                use[("zone", z, r)] = use.get(("zone", z, r), 0) + amount
            for w, y in enumerate(plan):
                if y != z and request.traffic[v, w] > 0:
                    use[("link", z, y)] = use.get(("link", z, y), 0.0) + float(request.traffic[v, w])
        within_cap = all(amount <= zones.request_cap[at[1], at[2]] for at, amount in use.items() if at[0] == "zone")
        if within_cap and all(amount <= capacity(stream, at) for at, amount in use.items()) and use not in found:
            found.append(use)
    return found


def capacity(stream: ClusterRequests, at: tuple) -> float:
    """What a resource of a zone, or a link, has."""
    return (stream.zones.capacity if at[0] == "zone" else stream.zones.bandwidth)[at[1], at[2]]


def best_value(stream: ClusterRequests) -> float:
    """The most value that fits. Loads change only when a request starts, so they are looked at just after every start."""
    plans = [every_use(stream, i) for i in range(len(stream.requests))]
    order = [i for i, request in enumerate(stream.requests) if request.value > 0 and plans[i]]
    return _best(stream, plans, order, {}, 0.0, 0.0)


def _best(stream, plans, order, load, value, best) -> float:
    if not order:
        return max(best, value)
    if value + sum(stream.requests[i].value for i in order) <= best:
        return best
    i, rest = order[0], order[1:]
    for use in plans[i]:
        after = _with(stream, i, use, load)
        if after is not None:
            best = _best(stream, plans, rest, after, value + stream.requests[i].value, best)
    return _best(stream, plans, rest, load, value, best)


def _with(stream, i, use, load) -> dict | None:
    """The loads with one request more, by time and place; None if one is too high."""
    after = dict(load)
    for time in {other.start for other in stream.requests}:
        if stream.requests[i].start <= time < stream.requests[i].end:
            for at, amount in use.items():
                after[time, at] = after.get((time, at), 0) + amount
                if after[time, at] > capacity(stream, at):
                    return None
    return after
