"""What a skew rule does to a move: the excess of every group if the move went to one of them."""

from dataclasses import dataclass

import numpy as np

from bayplan.check.placement.skew import ComparedGroups, compared_groups
from bayplan.check.violation import containers, named, skew_allowed, where
from bayplan.model import UNPLACED, BoolArray, IntArray, Skew
from bayplan.score.explain.move import CandidateMove


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveSkew:
    """Counts of a skew rule without the containers that move, and how many of them count."""

    rule: Skew
    move: CandidateMove
    compared: ComparedGroups
    count: IntArray  # (group,) what is counted
    own: IntArray  # (group,) of the workload that is judged
    moving: int  # containers that count
    moving_own: int  # containers that are judged

    @classmethod
    def of(cls, move: CandidateMove, rule: Skew) -> "MoveSkew":
        """The rule as the move sees it."""
        counted, own = (move.containers_of(workloads) for workloads in (rule.counts, (rule.workload,)))
        compared = compared_groups(move.cluster, rule)
        return cls(
            rule=rule,
            move=move,
            compared=compared,
            count=_in_groups(move, rule.level, move.others.machine_of[counted], compared),
            own=_in_groups(move, rule.level, move.others.machine_of[own], compared),
            moving=int(np.isin(counted, move.members).sum()),
            moving_own=int(np.isin(own, move.members).sum()),
        )

    def blocks(self) -> BoolArray:
        """(machine,) where the move would stand beyond the limit, or leave others further beyond it than they are now."""
        rule, move = self.rule, self.move
        group_of, counts = move.cluster.levels[rule.level].group_of, self.compared.counts
        without, now = self._excess(UNPLACED), self._excess_now()
        lowest, low = self.compared.floor(self.count, rule) if len(self.compared.group) else (UNPLACED, 0)
        there = np.where(self.own + self.moving_own > 0, np.maximum(0, self.count + self.moving - low - rule.limit), 0)
        total = without.sum() - without + there
        if lowest != UNPLACED:  # the emptiest group is another one if the move goes to it
            excess = self._excess(lowest)
            there[lowest], total[lowest] = excess[lowest], excess.sum()
        blocks = np.where(counts, (there > 0)[group_of] | (total > now)[group_of], without.sum() > now)
        if move.home != UNPLACED:
            blocks[move.home] = counts[move.home] and there[group_of[move.home]] > 0
        return np.asarray(blocks, dtype=np.bool_)

    def say(self, m: int) -> str:
        """Why a machine is blocked."""
        level = self.move.cluster.levels[self.rule.level]
        group = int(level.group_of[m]) if self.compared.counts[m] else UNPLACED
        excess, count = self._excess(group), self._after(group)
        worst = group if group != UNPLACED and excess[group] else int(np.argmax(excess))
        lowest, low = self.compared.floor(count, self.rule)
        names = named([self.move.cluster.workloads.name[w] for w in self.rule.counts])
        allowed = skew_allowed(level, lowest, low, self.rule)
        return f"skew: {containers(int(count[worst]))} of {names} {where(level, worst)}, {allowed}"

    def _after(self, group: int) -> IntArray:
        """(group,) what is counted if the move goes to a group; UNPLACED: to a machine that does not count."""
        count = self.count.copy()
        if group != UNPLACED:
            count[group] += self.moving
        return count

    def _excess(self, group: int) -> IntArray:
        own = self.own.copy()
        if group != UNPLACED:
            own[group] += self.moving_own
        return self._beyond(self._after(group), own)

    def _excess_now(self) -> int:
        move, rule = self.move, self.rule
        count, own = (
            _in_groups(move, rule.level, move.now.machine_of[move.containers_of(workloads)], self.compared)
            for workloads in (rule.counts, (rule.workload,))
        )
        return int(self._beyond(count, own).sum())

    def _beyond(self, count: IntArray, own: IntArray) -> IntArray:
        """(group,) how far each is beyond the limit."""
        if not len(self.compared.group):
            return np.zeros(len(count), dtype=np.int64)
        low = self.compared.floor(count, self.rule)[1]
        return np.asarray(np.where(own > 0, np.maximum(0, count - low - self.rule.limit), 0), dtype=np.int64)


def _in_groups(move: CandidateMove, level: int, machine: IntArray, compared: ComparedGroups) -> IntArray:
    """(group,) containers on machines that count."""
    of = move.cluster.levels[level]
    placed = machine[machine != UNPLACED]
    return np.bincount(of.group_of[placed[compared.counts[placed]]], minlength=len(of.group))
