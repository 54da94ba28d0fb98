"""What holds for every packer, on any packing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.packings import best_by_trying, packing, packings, problem_of
from tests.naive.collocate_new import placeable

from bayplan.check import check
from bayplan.decide.pack import PACKERS, PackOptions, pack_problem
from bayplan.errors import UsageError
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Budget,
    CoLocate,
    Dependency,
    Interference,
    Objective,
    Pinned,
    Spread,
    Transient,
    TransientMode,
    silent,
)
from bayplan.model.problem import Problem

every_packer = pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
few = settings(max_examples=25, deadline=None)
BUDGET = Budget(iterations=50)


def packed(packer, pair, *, seed=0, budget=BUDGET, progress=silent):
    return packer(problem_of(pair), PackOptions(), budget=budget, seed=seed, progress=progress)


@every_packer
@few
@given(pair=packings())
def test_never_violates_a_chance_constraint(packer, pair):
    cluster, before = pair
    result = packed(packer, pair)
    assert result.solution is not None
    assert [violation.sentence for violation in check(cluster, result.solution, before)] == []


@every_packer
@few
@given(pair=packings(memory=True))
def test_never_violates_a_capacity_constraint(packer, pair):
    cluster, before = pair
    assert [violation.sentence for violation in check(cluster, packed(packer, pair).solution, before)] == []


@every_packer
@few
@given(pair=packings())
def test_keeps_what_ran(packer, pair):
    _, before = pair
    after = packed(packer, pair).solution
    ran = before.machine_of != UNPLACED
    assert (after.machine_of[ran] == before.machine_of[ran]).all()


@every_packer
@few
@given(pair=packings())
def test_what_is_left_out_has_its_reason_and_nothing_else_has(packer, pair):
    cluster, _ = pair
    result = packed(packer, pair)
    left = {cluster.workloads.name[w] for w in cluster.containers.workload[result.solution.unplaced]}
    assert {reason.subject for reason in result.left_out} == left
    assert all(reason.text for reason in result.left_out)


@every_packer
@few
@given(pair=packings(), seed=st.integers(0, 3))
def test_the_same_seed_gives_the_same_placement(packer, pair, seed):
    first, second = (packed(packer, pair, seed=seed).solution.machine_of.tolist() for _ in range(2))
    assert first == second


@every_packer
@few
@given(pair=packings())
def test_its_scores_are_those_of_its_placement(packer, pair):
    cluster, _ = pair
    result = packed(packer, pair)
    at, w = result.solution.machine_of, cluster.containers.workload
    main = problem_of(pair).main
    total = 0.0
    for m in set(at[at != UNPLACED].tolist()):
        here = w[at == m]
        total += main.mean[here].sum() + main.deviate[0] * np.sqrt(main.variance[here].sum())
    assert result.score["ucac"] == pytest.approx(total, rel=1e-9, abs=1e-9)
    assert result.score["machines"] == len(set(at[at != UNPLACED].tolist()))


@every_packer
@few
@given(pair=packings())
def test_no_bound_is_above_the_best(packer, pair):
    result = packed(packer, pair)
    best = best_by_trying(problem_of(pair), result.goal)
    if result.bound is not None and best is not None:
        assert result.bound <= best * (1 + 1e-9)


@every_packer
@pytest.mark.parametrize("budget", [Budget(seconds=0.0), Budget(iterations=0)], ids=["no seconds", "no iterations"])
def test_answers_without_any_budget(packer, budget):
    pair = packing([20, 30], [5, 8], [9, 7], capacity=[100] * 8)
    result = packed(packer, pair, budget=budget)
    assert result.solution is not None
    assert len(result.solution.unplaced) == 0
    assert not check(pair[0], result.solution, pair[1])


@every_packer
def test_a_container_that_exceeds_every_machine_is_left_out_with_its_reason(packer):
    pair = packing([50, 200], [5, 5], [2, 1], capacity=[100, 100])
    result = packed(packer, pair)
    assert [reason.subject for reason in result.left_out] == ["s1"]
    assert "0/2 machines fit" in result.left_out[0].text
    assert len(result.solution.unplaced) == 1


@every_packer
@pytest.mark.parametrize(("mean", "std"), [(0, 5), (0, 0), (10, 1_000_000)], ids=["zero mean", "uses nothing", "huge variance"])
def test_odd_usage_is_packed_or_left_out(packer, mean, std):
    pair = packing([mean, 20], [std, 4], [3, 3], capacity=[100, 100])
    result = packed(packer, pair)
    assert not check(pair[0], result.solution, pair[1])
    assert len(result.solution.unplaced) == (3 if std > 1000 else 0)


@every_packer
def test_a_machine_that_is_too_full_still_takes_what_uses_nothing(packer):
    """So one machine is enough, and no bound says more."""
    pair = packing([200, 0], [30, 0], [1, 2], capacity=[100, 10], running=[(0, 0)])
    result = packed(packer, pair)
    assert len(result.solution.unplaced) == 0
    assert result.bound is None or result.goal != "machines" or result.bound <= 1
    full = packing([200, 0, 99], [30, 0, 1], [1, 2, 1], capacity=[100], running=[(0, 0)])
    assert packed(packer, full).solution.machine_of.tolist() == [0, 0, 0, UNPLACED]


@every_packer
def test_no_machines_leaves_all_out(packer):
    pair = packing([10], [2], [3], capacity=[])
    result = packed(packer, pair)
    assert len(result.solution.unplaced) == 3
    assert result.left_out


@every_packer
def test_nothing_to_pack_changes_nothing(packer):
    pair = packing([10], [2], [2], capacity=[100], running=[(0, 0), (0, 0)])
    result = packed(packer, pair)
    assert result.solution.machine_of.tolist() == [0, 0]
    assert result.score["machines"] == 1


@every_packer
def test_works_around_pinned_containers_and_machines_that_are_not_allowed(packer):
    cluster, before = packing([40, 30], [4, 4], [3, 3], capacity=[100] * 4, running=[(0, 0), (1, 1)])
    cluster = replace(
        cluster,
        machine_sets={"left": np.array([0, 1, 2])},
        rules=(*cluster.rules, Allow(workloads=(1,), machines="left"), Pinned(containers=(0, 3))),
    )
    result = packed(packer, (cluster, before))
    assert not check(cluster, result.solution, before)
    assert len(result.solution.unplaced) == 0
    assert set(result.solution.machine_of[3:].tolist()) <= {0, 1, 2}


@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_a_confidence_of_one_half_or_less_is_refused(alpha):
    with pytest.raises(UsageError, match=r"expected above 0\.5"):
        pack_problem(*packing([10], [2], [1], capacity=[100], alpha=alpha))


# ---- rules that packers do not know --------------------------------------------------------------------------------------------


def with_rules(pair, *rules):
    cluster, before = pair
    return replace(cluster, rules=(*cluster.rules, *rules)), before


@every_packer
def test_only_the_containers_that_violate_anti_affinity_are_left_out(packer):
    pair = with_rules(packing([10, 20], [2, 3], [5, 2], capacity=[100] * 3), AntiAffinity(workloads=(0,), limit=1))
    result = packed(packer, pair)
    assert not check(pair[0], result.solution, pair[1])
    assert len(result.solution.unplaced) == 2
    (reason,) = result.left_out
    assert reason.subject == "s0"
    assert reason.text.startswith("2 of 5 left out: 0/3 machines fit (3 anti-affinity")


@every_packer
def test_a_container_goes_to_another_machine_where_a_rule_forbids_the_packers_choice(packer):
    pair = with_rules(packing([10, 10], [1, 1], [1, 1], capacity=[100] * 2), Interference(a=0, b=1, limit=0))
    result = packed(packer, pair)
    assert not check(pair[0], result.solution, pair[1])
    assert not result.left_out
    assert len(set(result.solution.machine_of.tolist())) == 2


@every_packer
def test_a_machine_that_is_too_full_at_the_start_keeps_nothing_from_the_others_beside_a_transient_rule(packer):
    pair = with_rules(
        packing([5, 5], [1, 1], [1, 2], capacity=[100] * 2, running=[(1, 0), (1, 0)], memory=([0, 3], [3, 3])),
        Transient(resource=1),
    )
    assert packed(packer, pair).solution.unplaced.size == 0


@every_packer
def test_a_workload_that_may_run_nowhere_takes_no_other_with_it(packer):
    pair = with_rules(packing([10, 20], [1, 1], [1, 2], capacity=[100]), Interference(a=1, b=1, limit=0))
    result = packed(packer, pair)
    assert [reason.subject for reason in result.left_out] == ["s1"]
    assert result.solution.machine_of[0] == 0


@st.composite
def ruled_packings(draw):
    """A packing with one to three rules that packers do not know; machines may have less memory than what runs there requests."""
    cluster, before = draw(packings(memory=True))
    capacity = cluster.machines.capacity.copy()
    capacity[:, 1] = draw(st.lists(st.integers(2, 8), min_size=len(capacity), max_size=len(capacity)))
    cluster = replace(cluster, machines=replace(cluster.machines, capacity=capacity, safety=capacity))
    n_w = len(cluster.workloads.name)
    workload = st.integers(0, n_w - 1)
    anti = st.builds(
        AntiAffinity, workloads=st.sets(workload, min_size=1).map(lambda named: tuple(sorted(named))), limit=st.integers(1, 2)
    )
    service = st.integers(0, len(cluster.services.name) - 1)
    spread = st.builds(Spread, service=service, minimum=st.integers(1, 3))
    dependency = st.builds(Dependency, service=service, on=service)
    transient = st.builds(Transient, resource=st.just(1), mode=st.sampled_from(TransientMode))
    interference = st.builds(Interference, a=workload, b=workload, limit=st.integers(0, 1))
    any_rule = st.one_of(anti, spread, interference, dependency, transient)
    return with_rules((cluster, before), *draw(st.lists(any_rule, min_size=1, max_size=3)))


@every_packer
@few
@given(pair=ruled_packings())
def test_nothing_is_left_out_that_could_be_added_alone(packer, pair):
    cluster, before = pair
    result = packed(packer, pair)
    worse = {v.place: v.excess for v in check(cluster, before, before)}
    assert all(v.excess <= worse.get(v.place, 0.0) for v in check(cluster, result.solution, before))
    problem = Problem(cluster=cluster, objective=Objective.default(cluster), before=before, start=before)
    assert placeable(problem, result.solution) == []
    left_out = {cluster.workloads.name[w] for w in cluster.containers.workload[result.solution.unplaced].tolist()}
    assert {reason.subject for reason in result.left_out} == left_out


@every_packer
def test_what_is_co_located_is_packed_together(packer):
    cluster, before = packing([30, 20], [3, 2], [2, 2], capacity=[100] * 3)
    pair = with_rules((cluster, before), CoLocate(containers=(0, 2)), CoLocate(containers=(1, 3)))
    at = packed(packer, pair).solution.machine_of
    assert at[0] == at[2] != UNPLACED
    assert at[1] == at[3] != UNPLACED
