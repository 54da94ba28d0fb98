"""GMRP models, assignments and solutions."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.builders.published import GMRP_INITIAL
from tests.naive.gmrp import gmrp_cost

from bayplan.errors import InputError, UsageError
from bayplan.formats import read
from bayplan.formats.gmrp import gmrp_solution_text, read_gmrp, read_gmrp_solution
from bayplan.model import AntiAffinity, Capacity, Dependency, Placement, Spread, Term, Transient

EXAMPLES = Path(__file__).parents[3] / "examples" / "gmrp"
TINY = EXAMPLES / "model_tiny.txt"

SIZES = {"a1_1": (100, 4, 79, 2), "a2_3": (1000, 100, 129, 12), "b_1": (5000, 100, 2512, 12), "b_5": (40000, 100, 35082, 6)}


def tokens(change=None):
    """The tiny model with some of its numbers changed, by position."""
    numbers = TINY.read_text().split()
    for at, value in (change or {}).items():
        numbers[at] = value
    return " ".join(numbers)


def broken(tmp_path, model, assignment="0 1 0"):
    (tmp_path / "model_x.txt").write_text(model)
    (tmp_path / "assignment_x.txt").write_text(assignment)
    with pytest.raises(InputError) as caught:
        read_gmrp(tmp_path / "model_x.txt")
    return str(caught.value)


def test_every_field_finds_its_place():
    snapshot = read_gmrp(TINY)
    cluster, objective = snapshot.cluster, snapshot.objective
    assert cluster.machines.capacity.tolist() == [[30, 400], [30, 400], [20, 100]]
    assert cluster.machines.safety.tolist() == [[16, 80], [16, 80], [14, 60]]
    assert cluster.workloads.request.tolist() == [[12, 10], [10, 20], [6, 200]]
    assert cluster.workloads.service.tolist() == [0, 0, 1]
    assert cluster.containers.name == ("p0", "p1", "p2")
    assert [level.name for level in cluster.levels] == ["machine", "location", "neighbourhood"]
    assert cluster.level("location").group_of.tolist() == [0, 1, 1]
    assert cluster.level("neighbourhood").group_of.tolist() == [0, 0, 1]
    assert cluster.rules == (
        Capacity(resources=(0, 1)),
        Transient(resource=0),
        AntiAffinity(workloads=(0, 1), limit=1),
        Spread(service=0, minimum=2, level=1),
        Dependency(service=1, on=0, level=2),
    )
    assert objective.weight == {Term.OVERLOAD: 1.0, Term.TARGETS: 1.0, Term.MOVE_COST: 1.0}
    assert objective.overload_weight.tolist() == [100, 10]
    assert [(t.r1, t.r2, t.target, t.weight) for t in objective.targets] == [(0, 1, 20, 10)]
    costs = objective.move_costs
    assert costs.container.tolist() == [1000, 100, 1]
    assert costs.machine.tolist() == [[0, 1, 4], [1, 0, 4], [4, 4, 0]]
    assert (costs.container_weight, costs.service_weight, costs.machine_weight) == (1, 10, 100)
    assert snapshot.placement.machine_of.tolist() == [0, 1, 0]


def test_the_naive_cost_is_the_one_worked_out_by_hand():
    # m0: r0 18-16, r1 210-80; m1: nothing over. balance m0: 20*12-190=50, m1: 20*20-380=20, m2: 20*20-100=300
    before = 100 * 2 + 10 * 130 + 10 * (50 + 20 + 300)
    assert gmrp_cost(TINY, EXAMPLES / "assignment_tiny.txt") == before
    # p1 to m2: m1: 20*30-400=200, m2: 20*10-80=120; move 1*100, service 10*1, machine 100*4
    after = 100 * 2 + 10 * 130 + 10 * (50 + 200 + 120) + 100 + 10 + 400
    assert gmrp_cost(TINY, EXAMPLES / "assignment_tiny.txt", EXAMPLES / "solution_tiny.txt") == after


def test_gzipped_files_and_a_named_assignment_are_read(tmp_path):
    (tmp_path / "model_x.txt.gz").write_bytes(gzip.compress(TINY.read_bytes()))
    snapshot = read_gmrp(tmp_path / "model_x.txt.gz", EXAMPLES / "solution_tiny.txt")
    assert snapshot.cluster.name == "model_x"
    assert snapshot.placement.machine_of.tolist() == [0, 2, 0]


def test_a_missing_assignment_is_named(tmp_path):
    (tmp_path / "model_x.txt").write_text(tokens())
    with pytest.raises(InputError, match=r"E1706 assignment 'assignment_x\.txt'"):
        read_gmrp(tmp_path / "model_x.txt")


def test_a_solution_comes_back_as_it_was_written():
    cluster = read_gmrp(TINY).cluster
    assert gmrp_solution_text(read_gmrp_solution("2 1\n0", cluster, "s")) == "2 1 0\n"
    assert gmrp_solution_text(read_gmrp_solution("2\u00a01\t0", cluster, "s")) == "2 1 0\n"


def test_a_solution_with_an_unplaced_process_is_refused():
    with pytest.raises(UsageError, match="1 have none"):
        gmrp_solution_text(Placement(machine_of=np.array([0, -1, 2])))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 1", ["E1707", "2 integers", "expected 3"]),
        ("0 1 3", ["E1705 process 'p2'", "(3)", "0..2"]),
        ("0 -1 0", ["E1705 process 'p1'", "(-1)"]),
        ("0 1 0 7", ["E1707", "4 integers", "E1705 process 'p3'"]),
        ("0 1.5\nx 1_0", ["E1701 token 'line 1 column 3'", "(1.5)", "'line 2 column 1'", "(x)", "(1_0)"]),
        ("0 1 99999999999999999999", ["E1701", "(99999999999999999999)"]),
    ],
)
def test_broken_solutions_are_named(text, says):
    with pytest.raises(InputError) as caught:
        read_gmrp_solution(text, read_gmrp(TINY).cluster, "s.txt")
    assert all(words in str(caught.value) for words in says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({1: "2"}, ["E1704 resource 'r0'", "(2)", "0 or 1"]),
        ({2: "-100"}, ["E1704 resource 'r0'", "load weight is negative (-100)"]),
        ({8: "-30"}, ["E1704 machine 'm0'", "capacity r0 is negative (-30)"]),
        ({0: "0"}, ["E1704 field 'number of resources'", "(0)", "1 or more"]),
        ({0: "-1"}, ["E1704 field 'number of resources'", "(-1)"]),
        ({5: "400"}, ["E1702 field 'machines", "expected 162400 more after the first 6"]),
        ({38: "9"}, ["E1705 service 's1'", "depends on a service", "(9)", "0..1"]),
        ({35: "-1"}, ["E1704 field 'number of dependencies of service 0'", "(-1)", "0 or more"]),
        ({37: "99"}, ["E1702 field 'dependencies of service 1'", "22 integers left", "expected 99 more after the first 38"]),
        ({33: "9" * 18}, ["E1702 field 'number of dependencies of service 6'", "after the first 60"]),
        ({40: "7"}, ["E1705 process 'p0'", "its service does not exist (7)"]),
        ({54: "5"}, ["E1705 balance 'b0'", "its r2 is a resource that does not exist (5)"]),
        ({41: "-1", 45: "-2"}, ["E1704 process 'p0'", "(-1)", "E1704 process 'p1'", "(-2)"]),
        ({41: "9" * 18, 45: "9" * 18}, []),
        ({8: "x"}, ["E1701 token 'line 1 column"]),
        ({8: "0", 9: "0", 10: "0", 11: "0"}, ["E1709 machine 'm0'", "has no capacity of any resource (0)"]),
        ({10: "31"}, ["E1710 machine 'm0'", "safety capacity r0 is above the capacity (31)", "at most 30"]),
        ({34: "3"}, ["E1711 service 's0'", "more than there are processes of its own (3)", "at most 2"]),
        ({16: "0", 25: "0"}, ["E1711 service 's0'", "more than there are locations (2)", "at most 1"]),
        ({40: "1", 44: "1", 34: "0"}, ["E1712 service 's1'", "depends on a service without processes (s0)"]),
        ({10: "31", 34: "5", 40: "1", 44: "1"}, ["E1710", "E1711 service 's0'", "at most 1", "E1712"]),
    ],
)
def test_broken_models_are_named(tmp_path, change, says):
    if not says:  # large, but it fits
        (tmp_path / "model_x.txt").write_text(tokens(change))
        assert read_gmrp(tmp_path / "model_x.txt", EXAMPLES / "assignment_tiny.txt").cluster.workloads.request.max() == 10**18 - 1
        return
    text = broken(tmp_path, tokens(change))
    assert all(words in text for words in says), text


def test_sums_beyond_int64_are_refused(tmp_path):
    numbers = ["1", "0", "1", "1", "0", "0", "5", "5", "0", "1", "0", "0", "10"]
    numbers += ["0", "9" * 18, "1"] * 10 + ["0", "1", "1", "1"]
    assert "E1708 resource 'r0'" in broken(tmp_path, " ".join(numbers))  # ten times 10^18 - 1 is more than 2^63


def test_a_file_cut_off_says_what_it_was_reading(tmp_path):
    assert "E1702 field 'weights of process, service and machine moves'" in broken(tmp_path, tokens().rsplit(" ", 1)[0])


def test_a_file_cut_off_inside_of_the_services_says_which_one(tmp_path):
    names = ["number of services", "spread minimum of service 0", "number of dependencies of service 0"]
    names += ["spread minimum of service 1", "number of dependencies of service 1", "dependencies of service 1"]
    for at, name in enumerate(names, start=33):
        assert f"E1702 field '{name}'" in broken(tmp_path, " ".join(tokens().split()[:at]))


def test_dependencies_are_read_once_each_in_their_order(tmp_path):
    numbers = tokens().split()
    numbers[37:39] = ["3", "0", "1", "0"]  # service 1 on 0, on itself and on 0 again
    (tmp_path / "model_x.txt").write_text(" ".join(numbers))
    snapshot = read_gmrp(tmp_path / "model_x.txt", EXAMPLES / "assignment_tiny.txt")
    assert snapshot.cluster.rules[-1] == Dependency(service=1, on=0, level=2)
    assert [rule for rule in snapshot.cluster.rules if isinstance(rule, Dependency)] == [snapshot.cluster.rules[-1]]
    assert snapshot.notes[0].startswith("1 dependencies of a service on itself")


def test_left_over_numbers_are_refused(tmp_path):
    assert "E1703" in broken(tmp_path, tokens() + " 1 2")


@pytest.mark.data
@pytest.mark.parametrize("name", GMRP_INITIAL)
def test_instances_are_read_and_cost_what_is_published(data_folder, name):
    model = data_folder / "gmrp" / f"model_{name}.txt"
    snapshot = read_gmrp(model)
    cluster = snapshot.cluster
    sizes = tuple(map(len, (cluster.containers.name, cluster.machines.name, cluster.services.name, cluster.resources)))
    assert sizes == SIZES.get(name, sizes)
    load = np.zeros_like(cluster.machines.capacity)
    np.add.at(load, snapshot.placement.machine_of, cluster.workloads.request)
    assert (load <= cluster.machines.capacity).all()
    assert gmrp_cost(model, data_folder / "gmrp" / f"assignment_{name}.txt") == GMRP_INITIAL[name]


def test_a_bad_token_of_a_file_that_starts_with_a_number_is_named(tmp_path):
    (tmp_path / "model_q.txt").write_text("2\nabc\n")
    with pytest.raises(InputError, match=r"E1701 token 'line 2 column 1'.*abc"):
        read(tmp_path / "model_q.txt")


def test_a_dependency_on_oneself_is_left_out_and_noted(tmp_path):
    numbers = TINY.read_text().replace("1 1 0\n3", "1 1 1\n3")
    (tmp_path / "model_x.txt").write_text(numbers)
    snapshot = read_gmrp(tmp_path / "model_x.txt", EXAMPLES / "assignment_tiny.txt")
    assert not [rule for rule in snapshot.cluster.rules if isinstance(rule, Dependency)]
    assert any("on itself" in note for note in snapshot.notes)
