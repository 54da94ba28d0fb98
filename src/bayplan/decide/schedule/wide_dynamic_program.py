"""The best schedule of wide requests by dynamic programming ([Cradle] Theorem IV.7; method: docs/verbs/schedule-theory.md).

Requests come in the order of their start. A state says which configuration runs on each machine; machines of a kind are
interchangeable, so it is a sorted row of configurations. On one machine at most one request per resource takes more than half of
it, so a configuration has at most as many members as there are resources, and for a constant number of machines the number of
states is polynomial. Of equal states the most valuable stays; of all, those that can still beat the incumbent, by a bound
from the prices of the linear program.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.configurations import Configurations, WideSubproblem, wide_subproblem
from bayplan.decide.schedule.prices import common_unit
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import UNPLACED, Clock, FloatArray, IntArray
from bayplan.model.interrupt import StopFlag, stoppable

WIDTHS = (100, 3_000, 60_000, 1_000_000)  # states kept at a time, in each pass
MOST_STATES = 15_000_000  # of one pass: about 16 bytes and 2 microseconds each
SLACK = 1e-9  # relative: schedules that are better by less are ignored


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WideSchedule:
    """A schedule of wide requests alone."""

    machine_of: IntArray  # (request,)
    value: float
    proven: bool  # is there no better one, by more than `SLACK`?


@dataclass(slots=True, eq=False)
class WideStates:
    """Rows of configurations, one per machine that can be busy, and the value served so far."""

    row: IntArray  # (state, machine) numbers of `Configurations`
    value: FloatArray  # (state,)
    parent: IntArray  # (state,) in the step before
    joined: IntArray  # (state,) the configuration that the last request joined; -1 if it was left out

    def chosen(self, which: IntArray) -> "WideStates":
        """The states of these indices."""
        return WideStates(self.row[which], self.value[which], self.parent[which], self.joined[which])


def best_wide_schedule(problem: ScheduleProblem, *, clock: Clock, begin: IntArray) -> WideSchedule:
    """The best schedule in which every request takes more than half of its machine, or the best found within the budget.

    `begin` (request,) is a first such schedule. An iteration of the budget is a pass over all requests; each keeps more states.
    """
    subproblem = wide_subproblem(problem, clock=clock)
    value = float(problem.requests.value[begin != UNPLACED].sum())
    best = WideSchedule(machine_of=begin, value=value, proven=not len(subproblem.priced.value))
    with stoppable() as stop:
        for done, width in enumerate(WIDTHS):
            if best.proven or stop.requested or (done and clock.expired(done)):
                break
            best = _Pass(subproblem, width, best, clock, stop).run(problem)
    return best


class _Pass:
    """One pass over all requests with at most `width` states at a time."""

    def __init__(self, subproblem: WideSubproblem, width: int, incumbent: WideSchedule, clock: Clock, stop: StopFlag) -> None:
        self.subproblem, self.width, self.incumbent, self.clock, self.stop = subproblem, width, incumbent, clock, stop
        self.configurations = Configurations(subproblem)
        unit = common_unit(subproblem.priced.value)
        slack = SLACK * max(incumbent.value, float(subproblem.priced.value.max(initial=0.0)))
        self.target = incumbent.value + (unit - slack if unit else slack)  # the least value that is better
        self.history: list[tuple[IntArray, IntArray]] = []  # of each step: parent, joined
        self.kept, self.complete = 0, True

    def run(self, problem: ScheduleProblem) -> WideSchedule:
        """The best schedule known after the pass; proven if no state was dropped that could have been better."""
        busy = self.subproblem.busy_machines
        empty = np.repeat(np.arange(len(busy)), busy)
        states = WideStates(empty[None, :].copy(), np.zeros(1), np.zeros(1, dtype=np.int64), np.full(1, -1))
        for j in range(len(self.subproblem.priced.value)):
            states = self._promising(self._at(states, j), j)
            if not len(states.value):
                break
            states = self._narrowed(self._merged(self._branched(states, j)), j)
            self.history.append((states.parent.astype(np.int32), states.joined.astype(np.int32)))
            self.kept += len(states.value)
            if len(states.value) == 0 or self._out_of_budget():
                self.complete &= len(states.value) == 0
                break
        return self._answer(problem, states)

    def _out_of_budget(self) -> bool:
        late = self.clock.budget.seconds is not None and self.clock.seconds >= self.clock.budget.seconds
        return late or self.stop.requested or self.kept > MOST_STATES

    def _answer(self, problem: ScheduleProblem, states: WideStates) -> WideSchedule:
        machine_of, value = self.incumbent.machine_of, self.incumbent.value
        if len(states.value) and states.value.max() > value:
            machine_of = self._schedule(problem, int(states.value.argmax()))
            value = float(problem.requests.value[machine_of != UNPLACED].sum())
        return WideSchedule(machine_of=machine_of, value=value, proven=self.complete)

    def _at(self, states: WideStates, j: int) -> WideStates:
        """The states at the start of candidate j, without the requests that have ended."""
        used, where = np.unique(states.row, return_inverse=True)
        after = self.configurations.after(used, int(self.subproblem.priced.critical.first[j]))
        row = after[where].reshape(states.row.shape)
        return WideStates(row, states.value, np.arange(len(states.value)), states.joined)

    def _bound(self, states: WideStates, j: int, surplus: float) -> FloatArray:
        """(state,) no continuation is worth more: value so far, price of the free capacity, surplus to come."""
        t = int(self.subproblem.priced.critical.first[j])
        used, where = np.unique(states.row, return_inverse=True)
        to_pay = self.configurations.still_to_pay(used, t)[where].reshape(states.row.shape).sum(axis=1)
        bound: FloatArray = states.value + (self.subproblem.capacity_price[t] + surplus) - to_pay
        return bound

    def _promising(self, states: WideStates, j: int) -> WideStates:
        """The states that can still beat the incumbent."""
        bound = self._bound(states, j, float(self.subproblem.surplus_to_come[j]))
        return states.chosen(np.flatnonzero(bound >= self.target))

    def _branched(self, states: WideStates, j: int) -> WideStates:
        """Leave candidate j out, or add it to one of the machines; of equal machines the first."""
        used, where = np.unique(states.row, return_inverse=True)
        joined = self.configurations.joined(used, j)[where].reshape(states.row.shape)
        rows, values = [states.row], [states.value]
        parents, joins = [states.parent], [np.full(len(states.value), -1)]
        for m in range(states.row.shape[1]):
            fits = joined[:, m] >= 0
            for other in range(m):
                fits &= states.row[:, other] != states.row[:, m]
            which = np.flatnonzero(fits)
            row = states.row[which]
            joins.append(row[:, m].copy())
            row[:, m] = joined[which, m]
            rows.append(row)
            values.append(states.value[which] + self.subproblem.priced.value[j])
            parents.append(states.parent[which])
        return WideStates(np.concatenate(rows), np.concatenate(values), np.concatenate(parents), np.concatenate(joins))

    def _merged(self, states: WideStates) -> WideStates:
        """The states with the machines of each kind sorted; of equal states the most valuable, of those the first."""
        low = 0
        for machines in self.subproblem.busy_machines.tolist():
            states.row[:, low : low + machines].sort(axis=1)
            low += machines
        keys = _packed(states.row, len(self.configurations.known))
        order = np.lexsort((-states.value, *keys.T))
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        return states.chosen(order[new])

    def _narrowed(self, states: WideStates, j: int) -> WideStates:
        """The states that can still beat the incumbent, at most `width` of them, the largest bounds first."""
        bound = self._bound(states, j, float(self.subproblem.surplus_to_come[j + 1]))
        kept = np.flatnonzero(bound >= self.target)
        if len(kept) > self.width:
            self.complete = False
            kept = np.sort(kept[np.argsort(-bound[kept], kind="stable")[: self.width]])
        return states.chosen(kept)

    def _schedule(self, problem: ScheduleProblem, state: int) -> IntArray:
        """(request,) the machines of the schedule that leads to a state of the last step."""
        chosen = []
        for j in range(len(self.history) - 1, -1, -1):
            parent, joined = self.history[j]
            if joined[state] >= 0:
                chosen.append((j, int(joined[state])))
            state = int(parent[state])
        return _placed(problem, self.subproblem, self.configurations, chosen[::-1])


def _packed(row: IntArray, numbers: int) -> IntArray:
    """(state, word) the row, packed into as few words as possible."""
    each = 62 // max(1, int(numbers).bit_length())
    words = []
    for low in range(0, row.shape[1], each):
        word = np.zeros(len(row), dtype=np.int64)
        for m in range(low, min(low + each, row.shape[1])):
            word = word * numbers + row[:, m]
        words.append(word)
    return np.stack(words, axis=1) if words else np.zeros((len(row), 1), dtype=np.int64)


def _placed(
    problem: ScheduleProblem, subproblem: WideSubproblem, configurations: Configurations, chosen: list[tuple[int, int]]
) -> IntArray:
    """(request,) machines for candidates that each joined a configuration: one of that kind that runs exactly that."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(problem.fleet.machines)])
    critical = subproblem.priced.critical
    on: dict[int, list[int]] = {}  # machine: candidates
    for j, number in chosen:
        kind, members = configurations.known[number]
        for m in range(int(before[kind]), int(before[kind + 1])):
            running = [i for i in on.get(m, []) if critical.past[i] > critical.first[j]]
            if tuple(sorted(int(subproblem.representative[i]) for i in running)) == members:
                on[m] = [*running, j]
                machine_of[subproblem.priced.request[j]] = m
                break
    return machine_of
