"""Who waits goes home, or where it fits, or makes room."""

from dataclasses import replace

import numpy as np
from tests.builders.three_services import problem_of

from bayplan.decide.collocate.place_leftovers import place_leftovers
from bayplan.kernels.collocate import eject
from bayplan.model import UNPLACED, Budget, Capacity, Placement, ints

CPU = (Capacity(resources=(0,)),)


def refitted(problem, machine_of, may_go=None):
    everyone = np.ones(len(machine_of), dtype=np.bool_)
    placement = Placement(machine_of=ints(machine_of))
    after = place_leftovers(problem, placement, may_go=everyone if may_go is None else may_go, clock=Budget().clock(), seed=1)
    return after.machine_of.tolist()


def test_who_waits_goes_home_if_there_is_room():
    assert refitted(problem_of(rules=CPU), [0, 0, 1, 1, 0, 1, 1, UNPLACED, UNPLACED])[7:] == [1, 2]


def test_what_cannot_go_home_goes_to_the_fullest_machine_that_takes_it():
    problem = problem_of(rules=CPU, capacity=7)
    assert refitted(problem, [1, 1, 1, 1, 1, 0, 2, UNPLACED, 2])[7] == 0  # six, two and five of seven are taken


def test_others_leave_for_a_container_that_fits_nowhere():
    eject.warm_up()
    compiled = len(eject.place_unplaced.signatures)
    problem = problem_of(rules=CPU, capacity=5, replicas=(4, 3, 1))
    after = refitted(problem, [0, 0, 0, 1, 1, 2, 2, UNPLACED])  # two, two and one of five are free; three are wanted
    assert UNPLACED not in after
    load = np.bincount(after, weights=[1, 1, 1, 1, 2, 2, 2, 3])
    assert (load <= 5).all()
    assert len(eject.place_unplaced.signatures) == compiled  # warming up compiles what is needed


def test_what_may_not_go_stays_and_the_old_place_is_given_back():
    problem = problem_of(rules=CPU, capacity=5, replicas=(4, 3, 1))
    start = Placement(machine_of=ints([0, 0, 0, 0, 2, 2, 1, 1]))  # four, five and four of five are taken
    problem = replace(problem, before=start, start=start)
    none_may_go = np.zeros(8, dtype=np.bool_)
    after = refitted(problem, [0, 0, 0, 1, 1, 2, 2, UNPLACED], may_go=none_may_go)
    assert after[7] == 1
    assert (np.bincount(after, weights=[1, 1, 1, 1, 2, 2, 2, 3]) <= 5).all()


def test_new_containers_may_stay_out():
    problem = problem_of(rules=CPU, capacity=5, replicas=(4, 3, 2))
    start = Placement(machine_of=ints([0, 0, 0, 0, 1, 1, 2, 2, UNPLACED]))  # six more units than there is room
    problem = replace(problem, before=start, start=start)
    assert refitted(problem, start.machine_of.tolist()).count(UNPLACED) == 1
