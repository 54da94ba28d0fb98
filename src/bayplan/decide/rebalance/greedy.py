"""The greedy baseline: hottest server to sparest server."""

import numpy as np

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.table import table
from bayplan.kernels.search.greedy import cool_down
from bayplan.kernels.search.sweep import measure
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


def greedy(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement seen while the hottest server is relieved, until none can be. One iteration is one move.

    U(h) is the largest utilisation over resources. The biggest container of the hottest server that can move goes to the
    least utilised server that can take it, if both are then cooler than the hottest was: so the sorted list of
    utilisations falls and the loop ends. A server that nothing can leave is passed over. There is no chance: `seed` is not read.
    """
    with table(problem, options, "greedy", budget=budget, seed=seed, progress=progress) as some:
        board, n_m = some.game.board, len(problem.cluster.machines.name)
        if len(some.movable):
            heat, stuck = np.zeros(n_m), np.zeros(n_m + 1, dtype=np.int64)
            held = np.zeros(len(some.game.machine_of), dtype=np.int64)
            measure(board, heat)
            some.rounds.run(lambda moves: int(cool_down(board, moves, heat, stuck, some.book, held)))
        return some.result()
