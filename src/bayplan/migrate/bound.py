"""How few batches any complete plan can have."""

from collections import Counter

from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE


def least_batches(course: Course) -> int:
    """A proven bound, at the start of a course.

    A container that is replaced is down in the batch that deletes it and in the one that creates it: of n containers that must
    be replaced, with k that may be down at a time, that makes 2 n / k batches. Limits of steps per batch count, too.
    """
    units, ledger = course.units, course.ledger
    pending = [u for u in range(len(units)) if course.pending(u)]
    moves = [u for u in pending if course.at[u] != NOWHERE and units.target[u] != NOWHERE and course.at[u] != units.target[u]]
    least = 2 if any(u not in course.also for u in moves) else min(1, len(pending))
    changing = {ledger.workload[c] for u in pending if u not in moves for c in units.members[u]}
    replaced = Counter(ledger.workload[c] for u in moves if not units.may_surge[u] for c in units.members[u])
    for w, count in replaced.items():
        may_be_down = ledger.alive[w] - ledger.least[w]
        if w not in changing and may_be_down > 0:
            least = max(least, -(-2 * count // may_be_down))
    limit = ledger.migration.terms.limits.batch
    steps = sum(len(units.members[u]) for u in pending) + sum(len(units.members[u]) for u in moves)
    return least if limit is None else max(least, -(-steps // limit))
