"""Questions of a plan that are jobs: the points of a front, and tries to empty machines."""

import os
import signal

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

import bayplan as bp
from bayplan.api.planning import fewer_machines, front
from bayplan.api.planning.fewer_machines import EmptyingStep, steps_ahead
from bayplan.api.planning.front import front_limits, front_targets
from bayplan.api.planning.plan_jobs import PlanJobs
from bayplan.api.planning.question import goal_of, plan_question
from bayplan.api.planning.target import rank
from bayplan.api.what_if import WhatIf
from bayplan.engine import Job, engine_of
from bayplan.model import ints, silent
from bayplan.model.interrupt import stoppable
from bayplan.score.gmrp import moves

STEPS = bp.Budget(iterations=500)


@pytest.fixture(scope="module")
def shop() -> bp.Snapshot:
    return cluster_of(machines=12, services=6, replicas=6)


@pytest.fixture(scope="module")
def question(shop):
    return plan_question(shop, goal_of("steady"), WhatIf())


def targets(question, limits, engine="here", workers=1, progress=silent):
    jobs = PlanJobs(engine=engine_of(engine), workers=workers)
    budget = bp.Budget(iterations=500, threads=workers)
    return front_targets(question, limits, budget=budget, seed=1, progress=progress, jobs=jobs), jobs.notes


def test_no_point_is_worse_than_the_one_before_it_and_all_keep_their_limit(question):
    limits = front_limits(len(question.problem.before.placed), [7])
    found, notes = targets(question, limits)
    assert [target.limit for target in found] == limits
    ranks = [rank(question.problem, target.placement) for target in found]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[-1] < rank(question.problem, question.problem.before)
    before = question.problem.before
    assert all(moves(question.problem.cluster, each.placement, before) <= question.within(each.limit).max_moves for each in found)
    assert notes == ()


@pytest.mark.parametrize("workers", [2, 3])
def test_the_front_is_the_same_in_a_pool_as_here(question, workers):
    here, _ = targets(question, [1, 3, 6, 9])
    there, _ = targets(question, [1, 3, 6, 9], "pool", workers)
    assert [each.placement.machine_of.tolist() for each in here] == [each.placement.machine_of.tolist() for each in there]


def test_progress_of_the_front_rises_to_its_end(question):
    ticks = []
    targets(question, [1, 3, 6], progress=lambda tick: ticks.append((tick.stage, tick.done)))
    assert [done for _, done in ticks] == sorted(done for _, done in ticks)
    assert ticks[-1] == ("front: 6 moves", pytest.approx(1.0))
    assert len(ticks) == 5  # three points by themselves, two from the one before


def test_a_stop_leaves_points_as_good_as_those_before_them(question):
    with stoppable() as stop:

        def halt(tick):
            stop.requested = True

        found, _ = targets(question, [2, 4, 6], progress=halt)
    assert len(found) == 3
    assert found[0].placement is found[1].placement is found[2].placement
    assert rank(question.problem, found[0].placement) < rank(question.problem, question.problem.before)


def test_there_is_a_front_of_nothing(question):
    assert targets(question, [])[0] == []


def lost_point(problem, most, start, limits, seed):
    """A point of the front; where another limit is asked for than the first, its process dies."""
    if most > 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return problem.start.machine_of.astype(np.int32)


def test_a_front_whose_engine_is_lost_has_what_was_there_and_says_so(question, monkeypatch):
    monkeypatch.setattr(front, "front_point", lost_point)
    found, notes = targets(question, [1, 3], "pool", 2)
    assert [target.limit for target in found] == [1, 3]
    assert sum("was lost: its process died" in note for note in notes) >= 3
    assert notes[-1].startswith("not all questions were answered: job 'front: 3 moves' was lost 3 times")


def test_what_a_job_loses_is_in_the_notes_of_the_plan(shop, monkeypatch):
    monkeypatch.setattr(front, "front_point", lost_point)
    answer = bp.plan(shop, front=True, engine="pool", budget=bp.Budget(iterations=200, threads=2))
    assert any("was lost: its process died" in note for note in answer.notes)


def test_a_plan_with_a_front_is_the_same_on_every_engine(shop):
    plans = [bp.plan(shop, front=True, max_moves=6, budget=STEPS, engine=engine) for engine in ("here", "pool")]
    fronts = [[(point.moved, point.gain) for point in plan.front] for plan in plans]
    assert fronts[0] == fronts[1]
    assert np.array_equal(plans[0].placement.machine_of, plans[1].placement.machine_of)


# ---- emptying machines -------------------------------------------------------------------------------------------------------


def step(**other) -> EmptyingStep:
    return EmptyingStep(order=ints(range(10, 20)), **other)


def test_more_machines_are_tried_after_a_success_and_fewer_after_a_failure():
    first = step()
    assert first.wanted.tolist() == [10]
    second = first.after(succeeded=True)
    assert (second.wanted.tolist(), second.size) == ([10, 11, 12], 2)
    third = second.after(succeeded=False)
    assert (third.wanted.tolist(), third.size) == ([10, 11], 1)
    assert third.after(succeeded=False).wanted.tolist() == [10, 12]  # 11 is passed over


def test_steps_ahead_are_those_that_may_follow_the_nearest_first():
    assert len(steps_ahead(step(), 1)) == 1
    ahead = steps_ahead(step(size=2), 3)
    assert [each.wanted.tolist() for each in ahead] == [[10, 11], [10, 11, 12, 13, 14, 15], [10]]
    assert len(steps_ahead(step(size=2), 7)) == 7
    assert len(steps_ahead(step(passed=9), 7)) == 1  # nothing follows


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_tries_side_by_side_empty_the_same_machines_as_one_after_the_other(shop, workers, monkeypatch):
    question = plan_question(shop, goal_of("fewer-machines"), WhatIf(), max_moves="60%")
    here = fewer_machines.empty_machines(question, budget=STEPS, seed=1, progress=silent)
    monkeypatch.setattr(PlanJobs, "slots", workers)
    tried = []

    def noted(self, jobs, *, seconds=None):
        tried.append([job.name for job in jobs])
        return ((n, job()) for n, job in enumerate(jobs))

    monkeypatch.setattr(PlanJobs, "stream", noted)
    ahead = fewer_machines.empty_machines(question, budget=STEPS, seed=1, progress=silent)
    assert len(here.machines)
    assert ahead.machines.tolist() == here.machines.tolist()
    assert np.array_equal(ahead.problem.start.machine_of, here.problem.start.machine_of)
    assert max(map(len, tried)) > 1


def test_fewer_machines_is_the_same_in_a_pool_as_here(shop):
    plans = [
        bp.plan(shop, goal="fewer-machines", budget=bp.Budget(iterations=500, threads=2), engine=e) for e in ("here", "pool")
    ]
    assert plans[0].emptied == plans[1].emptied
    assert np.array_equal(plans[0].placement.machine_of, plans[1].placement.machine_of)


def test_an_engine_that_is_lost_answers_no_further_question():
    jobs = PlanJobs(engine=engine_of("pool"), workers=2)
    dying = [Job(name=f"question {n}", call=os.kill, arguments=(os.getpid(), 0)) for n in range(2)]
    assert len(list(jobs.stream(dying))) == 2
    jobs.lost = True
    assert list(jobs.stream(dying)) == []
