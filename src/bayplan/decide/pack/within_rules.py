"""A packing within rules that packers do not know: all but capacity, confidence and allow.

Each new container goes where the packer has put it if all rules allow that, else to the fullest machine that may take it. Only
what no machine may take is left out.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.pack.problem import PackProblem
from bayplan.kernels.search.evaluate_all import Evaluation, evaluate_all, new_evaluation
from bayplan.kernels.search.feasible import fits
from bayplan.kernels.search.lift_drop import drop
from bayplan.model import UNPLACED, BoolArray, FloatArray, IntArray, Objective, Placement
from bayplan.model.problem import Problem
from bayplan.score.packing import ChanceConstraint
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState, new_search_state

KNOWN = ("capacity", "confidence", "allow")  # rules that packers keep
ROUNDING = 1e-10  # of a capacity


def has_other_rules(problem: PackProblem) -> bool:
    """Is there a rule that packers do not know?"""
    return any(rule.kind not in KNOWN for rule in problem.cluster.rules)


def within_all_rules(problem: PackProblem, packed: Placement, *, may_violate_confidence: bool) -> Placement:
    """The packed placement, with other machines for what violates a rule there; unplaced where no machine may take it.

    `may_violate_confidence`: where the packer has put something, it may. What fits nowhere is tried again after the others, as
    long as that places something: a service may depend on another one that is new, too.
    """
    rules = tuple(rule for rule in problem.cluster.rules if rule.kind != "confidence")  # the strictest deviate counts: see below
    cluster = replace(problem.cluster, rules=rules)
    nothing = Objective.default(cluster).with_weights({})
    placement, left = problem.before, len(problem.before.unplaced) + 1
    while len(placement.unplaced) < left:
        left = len(placement.unplaced)
        question = Problem(cluster=cluster, objective=nothing, before=problem.before, start=placement)
        state = new_search_state(question)
        _place_items(state, _ChanceLoads(problem, placement), packed, may_violate_confidence)
        placement = state.placement()
        if not _lists_are_full(state):
            break  # else a new state has longer lists of the items on a machine
    return placement


def _place_items(state: SearchState, loads: "_ChanceLoads", packed: Placement, may_violate_confidence: bool) -> None:
    evaluation = new_evaluation(len(state.cluster.machines.name), len(state.cluster.resources))
    items = state.items
    unplaced, before, first = np.flatnonzero(state.machine_of == UNPLACED), -1, True
    while len(unplaced) != before:
        before = len(unplaced)
        for anywhere in (False, True) if first else (True,):  # what the packer has chosen comes first
            for i in unplaced[state.machine_of[unplaced] == UNPLACED].tolist():
                members = items.container[items.start[i] : items.start[i + 1]]
                w = state.cluster.containers.workload[members]
                m = _fullest(state, i, w, loads, evaluation) if anywhere else _as_packed(packed, members)
                if m == UNPLACED or not (anywhere or fits(state.arrays, i, m)):
                    continue
                if anywhere or may_violate_confidence or loads.holds(w)[m]:
                    drop(state.arrays, i, m)
                    loads.add(w, m)
        unplaced, first = unplaced[state.machine_of[unplaced] == UNPLACED], False


def _as_packed(packed: Placement, containers: IntArray) -> int:
    """The machine on which the packer has put all of them; UNPLACED if there is none."""
    machine = packed.machine_of[containers]
    return int(machine[0]) if (machine == machine[0]).all() else UNPLACED


def _fullest(state: SearchState, i: int, w: IntArray, loads: "_ChanceLoads", evaluation: Evaluation) -> int:
    """The machine within all rules that is fullest with the item, the first of equals; UNPLACED if there is none."""
    machine = evaluation.machine[: evaluate_all(state.arrays, i, evaluation)]
    machine = machine[loads.holds(w)[machine]]
    return int(machine[np.argmax(loads.share_used(w)[machine])]) if len(machine) else UNPLACED


def _lists_are_full(state: SearchState) -> bool:
    """Is something unplaced while the state's list of the items on some machine was full?"""
    on_size = view(state.arrays, "items_on_size", len(state.cluster.machines.name))
    slots = int(state.arrays.at["slots"][0])
    return bool((state.machine_of == UNPLACED).any() and slots < len(state.machine_of) and (on_size >= slots).any())


class _ChanceLoads:
    """Mean, variance and largest deviate on each machine, for each chance constraint."""

    def __init__(self, problem: PackProblem, placement: Placement) -> None:
        n_m, placed = len(problem.cluster.machines.name), placement.placed
        self.constraints = problem.chance_constraints
        shape = (len(self.constraints), n_m)
        self.mean, self.variance, self.d = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        w, m = problem.cluster.containers.workload[placed], placement.machine_of[placed]
        for q, constraint in enumerate(self.constraints):
            self.mean[q] = np.bincount(m, weights=constraint.mean[w], minlength=n_m)
            self.variance[q] = np.bincount(m, weights=constraint.variance[w], minlength=n_m)
            np.maximum.at(self.d[q], m, constraint.deviate[w])

    def add(self, w: IntArray, m: int) -> None:
        """Containers of these workloads come to machine m."""
        for q, constraint in enumerate(self.constraints):
            self.mean[q, m] += constraint.mean[w].sum()
            self.variance[q, m] += constraint.variance[w].sum()
            self.d[q, m] = max(self.d[q, m], constraint.deviate[w].max())

    def holds(self, w: IntArray) -> BoolArray:
        """(machine,) do all chance constraints hold there with containers of these workloads, or are they violated no further?"""
        ok = np.ones(self.mean.shape[1], dtype=np.bool_)
        for q, constraint in enumerate(self.constraints):
            used = self._used(q, constraint, w)
            before = self.mean[q] + self.d[q] * np.sqrt(self.variance[q])
            ok &= (used <= constraint.capacity * (1.0 + ROUNDING)) | (used <= before)
        return ok

    def share_used(self, w: IntArray) -> FloatArray:
        """(machine,) UCaC of the main resource over capacity, with containers of these workloads."""
        main = self.constraints[0]
        share: FloatArray = self._used(0, main, w) / np.maximum(main.capacity, 1.0)
        return share

    def _used(self, q: int, constraint: ChanceConstraint, w: IntArray) -> FloatArray:
        d = np.maximum(self.d[q], constraint.deviate[w].max())
        used: FloatArray = self.mean[q] + constraint.mean[w].sum() + d * np.sqrt(self.variance[q] + constraint.variance[w].sum())
        return used
