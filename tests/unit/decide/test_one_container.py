"""The preference for machines is CA-WFD's: its best machine is the one that the method takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders.tiny_clusters import on, tiny

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.place.one_container import candidate_number, free_amounts, machine_preference
from bayplan.errors import UsageError
from bayplan.model import Budget, Objective, silent
from bayplan.model.problem import Problem

amounts = st.integers(0, 40)


@st.composite
def questions(draw):
    """Machines with two resources, some containers of two services on them, and one new container that asks for nothing."""
    machines = draw(st.integers(1, 6))
    capacity = draw(st.lists(st.tuples(amounts, amounts), min_size=machines, max_size=machines))
    request = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=2))
    running = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, machines - 1)), max_size=8))
    return capacity, request, sorted(running), draw(st.integers(0, 1)), draw(st.integers(1, 4))


@given(questions())
def test_the_most_preferred_machine_is_the_one_that_ca_wfd_takes(question):
    capacity, request, running, service, candidates = question
    replicas = [sum(w == workload for w, _ in running) for workload in (0, 1)]
    cluster = tiny([list(row) for row in capacity], [*map(list, request), [0, 0]], [*replicas, 1], service=[0, 1, service])
    start = on(*(m for _, m in running), -1)
    problem = Problem(cluster=cluster, objective=Objective.default(cluster), before=start, start=start)
    method, options = PLACERS["ca-wfd"], PlaceOptions(candidates=candidates)
    taken = method(problem, options, budget=Budget(iterations=1), seed=0, progress=silent).solution.machine_of[-1]

    load, together = np.zeros((len(capacity), 2)), np.zeros(len(capacity))
    for w, m in running:
        load[m] += request[w]
        together[m] += w == service
    free = free_amounts(np.array(capacity, dtype=float).reshape(-1, 2), load)
    assert int(np.argmax(machine_preference(free, together, candidates))) == taken


def test_candidates_come_before_all_others_and_the_others_by_what_is_free():
    free, together = np.array([5.0, 9.0, 8.0, 1.0, 7.0]), np.array([9.0, 0.0, 2.0, 9.0, 0.0])
    preference = machine_preference(free, together, 3)
    assert np.argsort(-preference).tolist() == [2, 1, 4, 0, 3]
    assert (preference[[2, 1, 4]] > 0.5).all() and (preference[[0, 3]] < 0.5).all()
    assert preference.max() == 1.0 and (preference == 1.0).sum() == 1 and preference.min() >= 0.0


def test_no_machines_get_no_preference():
    assert machine_preference(np.zeros(0), np.zeros(0), 2).tolist() == []


@pytest.mark.parametrize(
    ("text", "machines", "number"), [("3", 100, 3), (7, 2, 7), ("10%", 100, 10), ("10%", 5, 2), ("0.5%", 1000, 5)]
)
def test_candidates_are_a_number_or_a_share_of_at_least_two(text, machines, number):
    assert candidate_number(text, machines) == number


@pytest.mark.parametrize("text", ["0", "-1", "0%", "101%", "many", "", "%", "1.5"])
def test_candidates_that_are_no_number_are_refused_with_what_was_expected(text):
    with pytest.raises(UsageError, match=r"candidate machines: expected a whole number of 1 or more, or a share"):
        candidate_number(text, 10)
