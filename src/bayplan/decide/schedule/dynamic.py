"""The best schedule of wide requests by dynamic programming ([Cradle] Theorem IV.7 omits how: docs/verbs/schedule-theory.md).

Requests come in the order of their start. A state says what runs on each machine; machines of a kind are interchangeable, so it
is a sorted row of sets. On one machine at most one request per resource takes more than half of it, so a set has at most as many
members as there are resources, and for a constant number of machines there are polynomially many states. Of equal states the most
valuable stays; of all, those that can still beat the best known schedule, by what is left at the prices of the linear program.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.contents import Contents, WideTask, wide_task
from bayplan.decide.schedule.prices import common_unit
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import UNPLACED, Clock, FloatArray, IntArray
from bayplan.model.interrupt import StopFlag, stoppable

WIDTHS = (100, 3_000, 60_000, 1_000_000)  # states kept at a time, pass by pass
MOST_STATES = 15_000_000  # of one pass: about 16 bytes and 2 microseconds each
SLACK = 1e-9  # relative: a schedule that is better by less is not looked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WideAnswer:
    """A schedule of wide requests alone."""

    machine_of: IntArray  # (request,)
    value: float
    proven: bool  # is there no better one, by more than `SLACK`?


@dataclass(slots=True, eq=False)
class States:
    """Rows of sets, one per machine that can be busy, and the value that has been served."""

    row: IntArray  # (state, place) numbers of `Contents`
    value: FloatArray  # (state,)
    parent: IntArray  # (state,) in the step before
    joined: IntArray  # (state,) the set that the last request joined; -1 if it was left out

    def chosen(self, which: IntArray) -> "States":
        """Some of them."""
        return States(self.row[which], self.value[which], self.parent[which], self.joined[which])


def best_of_wide(problem: ScheduleProblem, *, clock: Clock, begin: IntArray) -> WideAnswer:
    """The best schedule in which every request takes more than half of its machine, or the best found within the budget.

    `begin` (request,) is such a schedule. An iteration of the budget is a pass over all requests; each keeps more states.
    """
    task = wide_task(problem, clock=clock)
    value = float(problem.requests.value[begin != UNPLACED].sum())
    best = WideAnswer(machine_of=begin, value=value, proven=not len(task.market.value))
    with stoppable() as stop:
        for done, width in enumerate(WIDTHS):
            if best.proven or stop.requested or (done and clock.expired(done)):
                break
            best = _Pass(task, width, best, clock, stop).run(problem)
    return best


class _Pass:
    """One sweep over all requests with at most so many states at a time."""

    def __init__(self, task: WideTask, width: int, best: WideAnswer, clock: Clock, stop: StopFlag) -> None:
        self.task, self.width, self.best, self.clock, self.stop = task, width, best, clock, stop
        self.contents = Contents(task)
        unit = common_unit(task.market.value)
        slack = SLACK * max(1.0, best.value)
        self.wanted = best.value + (unit - slack if unit else slack)
        self.history: list[tuple[IntArray, IntArray]] = []  # of each step: parent, joined
        self.kept, self.complete = 0, True

    def run(self, problem: ScheduleProblem) -> WideAnswer:
        """The best known schedule after the sweep; proven if no state was dropped that could have won."""
        places = np.repeat(np.arange(len(self.task.places)), self.task.places)
        states = States(places[None, :].copy(), np.zeros(1), np.zeros(1, dtype=np.int64), np.full(1, -1))
        for j in range(len(self.task.market.value)):
            states = self._promising(self._at(states, j), j)
            if not len(states.value):
                break
            states = self._narrowed(self._merged(self._branched(states, j)), j)
            self.history.append((states.parent.astype(np.int32), states.joined.astype(np.int32)))
            self.kept += len(states.value)
            if len(states.value) == 0 or self._tired():
                self.complete &= len(states.value) == 0
                break
        return self._answer(problem, states)

    def _tired(self) -> bool:
        late = self.clock.budget.seconds is not None and self.clock.seconds >= self.clock.budget.seconds
        return late or self.stop.requested or self.kept > MOST_STATES

    def _answer(self, problem: ScheduleProblem, states: States) -> WideAnswer:
        machine_of, value = self.best.machine_of, self.best.value
        if len(states.value) and states.value.max() > value:
            machine_of = self._schedule(problem, int(states.value.argmax()))
            value = float(problem.requests.value[machine_of != UNPLACED].sum())
        return WideAnswer(machine_of=machine_of, value=value, proven=self.complete)

    def _at(self, states: States, j: int) -> States:
        """The states at the start of bidder j: who has ended is gone."""
        used, where = np.unique(states.row, return_inverse=True)
        after = self.contents.after(used, int(self.task.market.instants.first[j]))
        row = after[where].reshape(states.row.shape)
        return States(row, states.value, np.arange(len(states.value)), states.joined)

    def _hope(self, states: States, j: int, left: float) -> FloatArray:
        """(state,) no schedule that goes on from here is worth more: value, price of the room that is left, surplus to come."""
        t = int(self.task.market.instants.first[j])
        used, where = np.unique(states.row, return_inverse=True)
        rest = self.contents.rest(used, t)[where].reshape(states.row.shape).sum(axis=1)
        hope: FloatArray = states.value + (self.task.room[t] + left) - rest
        return hope

    def _promising(self, states: States, j: int) -> States:
        return states.chosen(np.flatnonzero(self._hope(states, j, float(self.task.hope[j])) >= self.wanted))

    def _branched(self, states: States, j: int) -> States:
        """Leave bidder j out, or let it join one of the machines; of equal machines the first."""
        used, where = np.unique(states.row, return_inverse=True)
        joined = self.contents.joined(used, j)[where].reshape(states.row.shape)
        rows, values = [states.row], [states.value]
        parents, joins = [states.parent], [np.full(len(states.value), -1)]
        for place in range(states.row.shape[1]):
            may = joined[:, place] >= 0
            for other in range(place):
                may &= states.row[:, other] != states.row[:, place]
            which = np.flatnonzero(may)
            row = states.row[which]
            joins.append(row[:, place].copy())
            row[:, place] = joined[which, place]
            rows.append(row)
            values.append(states.value[which] + self.task.market.value[j])
            parents.append(states.parent[which])
        return States(np.concatenate(rows), np.concatenate(values), np.concatenate(parents), np.concatenate(joins))

    def _merged(self, states: States) -> States:
        """Machines of a kind in order, and of equal states the most valuable; of those the first."""
        low = 0
        for places in self.task.places.tolist():
            states.row[:, low : low + places].sort(axis=1)
            low += places
        keys = _packed(states.row, len(self.contents.known))
        order = np.lexsort((-states.value, *keys.T))
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        return states.chosen(order[new])

    def _narrowed(self, states: States, j: int) -> States:
        """Those that may still win, and of these at most `width`, by what they may be worth."""
        hope = self._hope(states, j, float(self.task.hope[j + 1]))
        kept = np.flatnonzero(hope >= self.wanted)
        if len(kept) > self.width:
            self.complete = False
            kept = np.sort(kept[np.argsort(-hope[kept], kind="stable")[: self.width]])
        return states.chosen(kept)

    def _schedule(self, problem: ScheduleProblem, state: int) -> IntArray:
        """(request,) the machines of the schedule that leads to a state of the last step."""
        chosen = []
        for j in range(len(self.history) - 1, -1, -1):
            parent, joined = self.history[j]
            if joined[state] >= 0:
                chosen.append((j, int(joined[state])))
            state = int(parent[state])
        return _placed(problem, self.task, self.contents, chosen[::-1])


def _packed(row: IntArray, numbers: int) -> IntArray:
    """(state, word) the row, in as few words as it takes."""
    each = 62 // max(1, int(numbers).bit_length())
    words = []
    for low in range(0, row.shape[1], each):
        word = np.zeros(len(row), dtype=np.int64)
        for place in range(low, min(low + each, row.shape[1])):
            word = word * numbers + row[:, place]
        words.append(word)
    return np.stack(words, axis=1) if words else np.zeros((len(row), 1), dtype=np.int64)


def _placed(problem: ScheduleProblem, task: WideTask, contents: Contents, chosen: list[tuple[int, int]]) -> IntArray:
    """Machines for bidders that each joined a set: one of that kind on which just that set runs."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(problem.fleet.machines)])
    instants = task.market.instants
    on: dict[int, list[int]] = {}  # machine: bidders
    for j, number in chosen:
        kind, members = contents.known[number]
        for m in range(int(before[kind]), int(before[kind + 1])):
            running = [i for i in on.get(m, []) if instants.past[i] > instants.first[j]]
            if tuple(sorted(int(task.alike[i]) for i in running)) == members:
                on[m] = [*running, j]
                machine_of[task.market.request[j]] = m
                break
    return machine_of
