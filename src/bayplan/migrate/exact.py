"""All orders of a few direct moves: is there one, and if not, how far can one come?"""

from bayplan.migrate.course import Course, Op
from bayplan.migrate.ledger import NOWHERE
from bayplan.model import Action

FEW = 8  # units whose orders are all tried


class Orders:
    """A search over all states of a few units: where they were, down, on both machines, where they shall be."""

    def __init__(self, course: Course, some: list[int]) -> None:
        self.course, self.some = course, some
        self.home = {u: course.at[u] for u in some}
        self.seen: set[tuple[tuple[int, int], ...]] = set()
        self.best: list[Op] = []
        self.arrived = -1

    def search(self) -> bool:
        """Is there an order in which all arrive? `best` holds the steps of the one in which most do."""
        self._keep()
        return self._from_here()

    def _from_here(self) -> bool:
        key = tuple((self.course.at[u], self.course.also.get(u, NOWHERE)) for u in self.some)
        if key in self.seen:
            return False
        self.seen.add(key)
        self._keep()
        if not any(u in self.course.pending for u in self.some):
            return True
        for u in self.some:
            for action in Action:
                mark = len(self.course.ops)
                if self._step(u, action):
                    if self._from_here():
                        return True
                    self.course.back_to(mark)
        return False

    def _step(self, u: int, action: Action) -> bool:
        course, target = self.course, self.course.units.target[u]
        here, also = course.at[u], course.also.get(u, NOWHERE)
        if u not in course.pending:
            return False
        if action is Action.CREATE:
            may = here == NOWHERE or course.units.may_surge[u]
            return may and also == NOWHERE and target not in (NOWHERE, here) and course.put(u, target)
        if here == NOWHERE:
            return False
        if also != NOWHERE:
            return course.take(u, here if here != target else also)
        return (target == NOWHERE or course.units.may_replace[u]) and course.take(u, here)

    def _keep(self) -> None:
        """Keep the steps so far if nobody is on the way and more have arrived than ever."""
        course = self.course
        if any(course.at[u] == NOWHERE != self.home[u] and course.units.target[u] != NOWHERE for u in self.some):
            return
        if any(u in course.also for u in self.some):
            return
        arrived = sum(u not in course.pending for u in self.some)
        if arrived > self.arrived:
            self.arrived, self.best = arrived, list(course.ops)
