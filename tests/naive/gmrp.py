"""The cost of a GMRP assignment straight from the stream of integers: no model, no arrays, just the definition."""

from pathlib import Path


def gmrp_cost(model: Path, initial: Path, solution: Path | None = None) -> int:
    """Load, balance and move costs of `solution` (the initial assignment itself if None)."""
    stream = iter([int(token) for token in model.read_text().split()])
    before = [int(token) for token in initial.read_text().split()]
    after = [int(token) for token in (solution or initial).read_text().split()]

    def take(count):
        return [next(stream) for _ in range(count)]

    n_r = next(stream)
    load_weight = [take(2)[1] for _ in range(n_r)]
    n_m = next(stream)
    machines = [(take(2), take(n_r), take(n_r), take(n_m)) for _ in range(n_m)]
    n_s = next(stream)
    for _ in range(n_s):
        next(stream)
        take(next(stream))
    processes = [(next(stream), take(n_r), next(stream)) for _ in range(next(stream))]
    balances = [take(4) for _ in range(next(stream))]
    w_process, w_service, w_machine = take(3)
    assert not list(stream)

    usage = [[0] * n_r for _ in range(n_m)]
    for (_, request, _), m in zip(processes, after, strict=True):
        for r in range(n_r):
            usage[m][r] += request[r]
    cost = 0
    for m, (_, capacity, safety, _) in enumerate(machines):
        for r in range(n_r):
            cost += load_weight[r] * max(0, usage[m][r] - safety[r])
        for r1, r2, target, weight in balances:
            cost += weight * max(0, target * (capacity[r1] - usage[m][r1]) - (capacity[r2] - usage[m][r2]))
    moved = [0] * n_s
    for (service, _, price), old, new in zip(processes, before, after, strict=True):
        cost += w_machine * machines[old][3][new]
        if old != new:
            cost += w_process * price
            moved[service] += 1
    return cost + w_service * max(moved)
