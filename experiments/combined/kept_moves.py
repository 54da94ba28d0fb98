"""What is left of an answer if only some of its moves are made: for methods that know no limit of moves."""

from bayplan.api.planning.part import MovesUnderWay, make_moves
from bayplan.model import Cluster, Objective, Placement
from bayplan.score.goal.move_gains import move_gains


def best_moves(cluster: Cluster, before: Placement, after: Placement, objective: Objective, limit: int) -> Placement:
    """At most `limit` moves of an answer, those first without which it would lose most; no rule is violated for it.

    Where a machine is too full for a container, others that leave it in the answer go before, if there is room where they go.
    Knows capacity and anti-affinity on machines; every machine of the answer is taken to be allowed.
    """
    gains = {move.members[0]: move.net(objective) for move in move_gains(cluster, before, after, objective)}
    under_way = MovesUnderWay(cluster, before, after)
    make_moves(under_way, [(c,) for c in sorted(gains, key=lambda c: (-gains[c], c))], limit)
    return under_way.placement
