"""A slice of the stress test: every verb and method on adversarial inputs, and whether its referees notice what is wrong.

The whole of it: `python -m tests.stress.everything --count 10000`.
"""

from dataclasses import replace

import pytest
from tests.builders.tiny_clusters import on, tiny
from tests.naive.best_placement import better_than, excess_of, left_out_though_it_fits, worse
from tests.naive.plan_watch import faults_on_the_way
from tests.naive.scores import gained_affinity
from tests.stress.cases import Case, case_of, pairs
from tests.stress.everything import main, read_table
from tests.stress.judged import judged
from tests.stress.minimise import minimised
from tests.stress.outcomes import Outcome
from tests.stress.placement_faults import placement_faults
from tests.stress.request_faults import value_faults

from bayplan.decide.rebalance import REBALANCERS
from bayplan.model import (
    Action,
    AntiAffinity,
    Capacity,
    CoLocate,
    Migration,
    MigrationPolicy,
    Objective,
    Plan,
    Running,
    Snapshot,
    Step,
    Way,
)

FIRST = 500  # seed of the slice
SLICE = [(FIRST + number, pair) for number, pair in enumerate(pairs())] + [(FIRST + 100 + number, None) for number in range(20)]


@pytest.mark.parametrize(("seed", "pair"), SLICE, ids=[f"{seed} {':'.join(pair or ('any',))}" for seed, pair in SLICE])
def test_no_referee_finds_a_fault(seed, pair):
    assert judged(case_of(seed, pair)).faults == ()


def test_the_table_is_continued_where_it_ends(tmp_path, capsys):
    table = tmp_path / "all.csv"
    assert main(["--count", "2", "--only", "schedule:spread", "--out", str(table)]) == 0
    first = read_table(table)
    assert main(["--count", "3", "--only", "schedule:spread", "--out", str(table)]) == 0
    assert [row.seed for row in read_table(table)] == [0, 1, 2] and read_table(table)[:2] == first
    assert "| schedule | spread | 3 |" in capsys.readouterr().out


# ---- the referees notice -------------------------------------------------------------------------------------------------------

TWO = tiny([[4], [4]], [[2], [2]], [1, 1], edges=[(0, 1, 1.0)], rules=(Capacity(resources=(0,)),))
APART = Snapshot(cluster=TWO, placement=on(0, 1), objective=Objective.default(TWO))


def collocated(machine_of, snapshot=APART, **parts):
    """The faults of an answer of `collocate`."""
    solution = on(*machine_of)
    value = gained_affinity(snapshot.cluster, solution)
    answer = {"status": "feasible", "goal": "affinity", "score": {"affinity": value}, "bound": None, "left_out": ()}
    moved = int((solution.machine_of != snapshot.placement.machine_of).sum())
    outcome = Outcome(**{**answer, "solution": solution, "moved": moved, **parts})
    return list(placement_faults(Case(seed=0, verb="collocate", method="best", value=snapshot, options={}), outcome))


def test_a_false_bound_and_a_false_optimum():
    assert collocated([0, 1], bound=1.0) == []
    assert "but 1.0 is possible" in collocated([0, 1], bound=0.5)[0]
    assert "called optimal" in collocated([0, 1], bound=0.0, status="optimal")[0]


def test_a_wrong_score_and_a_wrong_number_of_moves():
    assert collocated([0, 0]) == []
    assert "score affinity is 0.5" in collocated([0, 0], score={"affinity": 0.5})[0]
    assert "the answer says 2" in collocated([0, 0], moved=2)[0]


def test_a_rule_that_is_violated_further_and_a_container_that_is_lost():
    full = replace(APART, cluster=replace(TWO, rules=(AntiAffinity(workloads=(0, 1), limit=1),)))
    assert collocated([0, 0], full)[0].startswith("rule anti-affinity violated further")
    assert any("lost its machine" in fault for fault in collocated([0, -1]))


def test_what_is_left_out_though_it_fits():
    waiting = APART.placed_as([0, -1])
    assert any(fault.startswith("left out though it fits: w1-0") for fault in collocated([0, -1], waiting))
    together = replace(TWO, rules=(CoLocate(containers=(0, 1)), Capacity(resources=(0,))))
    assert list(left_out_though_it_fits(together, on(0, -1), on(0, -1))) == [((1,), 0)]


def test_a_placement_that_is_better_is_found_only_if_it_keeps_the_rules():
    cost = {"stays": set(), "limit": -0.5, "cost": lambda placement: -gained_affinity(TWO, placement)}
    assert better_than(TWO, on(0, 1), **cost).machine_of.tolist() == [0, 0]
    small = replace(TWO, machines=replace(TWO.machines, capacity=[[3], [3]], safety=[[3], [3]]))
    assert better_than(small, on(0, 1), **cost) is None
    assert worse(excess_of(small, on(0, 0), on(0, 1)), {}) == [(0, "m0", "r0")]


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"bound": 3e-10, "status": "feasible"}, "below the optimum"),
        ({"bound": 9e-10, "status": "optimal"}, "is called optimal"),
        ({"bound": 9e-10, "status": "feasible"}, None),
    ],
)
def test_values_however_small(parts, fault):
    outcome = Outcome(goal="value", score={}, left_out=(), solution=None, moved=0, **parts)
    found = list(value_faults(outcome, 1e-10, 9e-10))
    assert (fault in found[0]) if fault else not found


def test_an_instant_at_which_too_few_run():
    cluster = tiny([[4], [4]], [[1]], [2], rules=(Capacity(resources=(0,)),))
    steps = [(Step(Action.DELETE, c, 0), Step(Action.CREATE, c, 1)) for c in (0, 1)]
    policy = MigrationPolicy(alive=0.5, way=(Way.REPLACE,))
    migration = Migration(cluster=cluster, start=Running.of(on(0, 0)), target=on(1, 1), policy=policy)
    one_by_one = Plan(batches=tuple((step,) for pair in steps for step in pair))
    assert list(faults_on_the_way(migration, one_by_one)) == []
    both_at_once = Plan(batches=(tuple(pair[0] for pair in steps), tuple(pair[1] for pair in steps)))
    assert any("too few" in fault for fault in faults_on_the_way(migration, both_at_once))


def test_the_smallest_input_keeps_the_fault(monkeypatch):
    """A method that raises where there is traffic: all that is left is what it takes for that."""

    def raises(problem, options, *, budget, seed, progress):
        raise ValueError("traffic" if len(problem.cluster.traffic.a) else "none")

    monkeypatch.setitem(REBALANCERS, "greedy", raises)
    cluster = tiny([[4]] * 3, [[1], [1], [1]], [2, 2, 1], edges=[(0, 1, 1.0)], rules=(Capacity(resources=(0,)),))
    snapshot = Snapshot(cluster=cluster, placement=on(0, 0, 1, 1, 2), objective=Objective.default(cluster))
    _, document = minimised(Case(seed=1, verb="rebalance", method="greedy", value=snapshot, options={"max_moves": 2}))
    assert [workload["name"] for workload in document["workloads"]] == ["w0", "w1"]
    assert not document.get("rules") and len(document["traffic"]) == 1
