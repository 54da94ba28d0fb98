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
    pending = [c for u in course.pending for c in units.members[u]]
    after = ledger.migration.after.machine_of
    moves = [c for c in pending if NOWHERE not in (ledger.first[c], int(after[c])) and ledger.first[c] != after[c]]
    moves = [c for c in moves if ledger.second[c] == NOWHERE]
    least = 2 if moves else min(1, len(pending))
    changing = {ledger.workload[c] for c in set(pending) - set(moves)}  # workloads that grow or shrink
    replaced = Counter(ledger.workload[c] for c in moves if not units.may_surge[units.of_container[c]])
    for w, count in replaced.items():
        may_be_down = ledger.alive[w] - ledger.least[w]
        if w not in changing and may_be_down > 0:
            least = max(least, -(-2 * count // may_be_down))
    limit = ledger.migration.terms.limits.batch
    steps = len(moves) + sum(ledger.first[c] != after[c] or ledger.second[c] != NOWHERE for c in pending)
    return least if limit is None else max(least, -(-steps // limit))
