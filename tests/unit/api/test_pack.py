"""`bp.pack` and `bp.machines_needed` as a library."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.packings import uncertain

import bayplan as bp
from bayplan.model import MoveCosts, ints
from bayplan.score.confidence import deviate

QUICK = bp.Budget(iterations=30)


def test_a_pattern_of_names_states_a_higher_confidence():
    names = {"work-[12]": 0.99, "svc-3": 0.999}
    answer = bp.pack(uncertain(), confidence=0.9, confidence_of=names, method="bi-level", budget=QUICK)
    expected = [deviate(alpha) for alpha in (0.9, 0.99, 0.99, 0.999, 0.9)]
    assert answer.instance.problem.main.deviate == pytest.approx(expected)


def test_an_answer_says_what_it_takes_before_and_after():
    snapshot = uncertain()
    answer = bp.pack(snapshot, confidence=0.99, budget=QUICK)
    assert answer.placed + answer.unplaced == len(snapshot.placement.unplaced) and answer.moved == 0
    assert answer.score.keys() == answer.before.keys()
    assert answer.score["ucac"] > answer.before["ucac"] > 0
    assert answer.to_dict()["details"]["capacity"]["confidence"] == 0.99
    assert "at 99 %" in answer.headline and "What over-commitment buys" in answer.summary()


def test_an_answer_writes_its_files(tmp_path):
    snapshot = uncertain()
    answer = bp.pack(snapshot, confidence=0.99, budget=QUICK)
    answer.save(tmp_path / "packed.json")
    answer.report(tmp_path / "packed.html", command="bayplan pack")
    answer.save_patterns(tmp_path / "patterns.json")
    assert all((tmp_path / name).stat().st_size for name in ("packed.json", "packed.html", "patterns.json"))
    again = bp.pack(snapshot, confidence=0.99, budget=QUICK, patterns=answer.patterns)
    assert again.score["ucac"] <= answer.score["ucac"] * (1 + 1e-9)


def test_usage_may_be_measured():
    snapshot = uncertain()
    names = snapshot.cluster.workloads.name
    samples = {name: np.full(20, 100.0) for name in names}
    answer = bp.pack(snapshot, confidence=0.99, samples=samples, method="bi-level", budget=QUICK)
    assert answer.figures.mean == pytest.approx(100.0 * answer.figures.containers)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({}, "no confidence is stated"),
        ({"confidence": 99.9}, "such as 0.999"),
        ({"confidence": 0.9, "samples": {"wrok-1": [1.0]}}, "no workload has that name; did you mean 'work-1'"),
        ({"confidence": 0.9, "uncertainty": "gausian"}, "did you mean 'gaussian'"),
        ({"confidence": 0.9, "resource": "cpus"}, "did you mean 'cpu'"),
        ({"confidence": 0.9, "method": "csp"}, "no method 'csp'"),
        ({"confidence": 0.9, "n_sigma": -1.0}, "n_sigma is -1.0; expected a number of 0 or more"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(stated, message):
    with pytest.raises(bp.UsageError, match=message):
        bp.pack(uncertain(), budget=QUICK, **stated)


def test_machines_needed_counts_from_empty_by_type():
    answer = bp.machines_needed(uncertain(), confidence=0.99, budget=QUICK)
    assert answer.machines == sum(entry.needed for entry in answer.by_type) >= (answer.bound or 0)
    assert answer.to_dict()["details"]["machines"] == answer.machines
    assert f"{answer.machines} machine" in answer.headline and "By type" in answer.summary()
    with pytest.raises(bp.UsageError, match="packs nothing"):
        answer.save("x.json")


def test_machines_needed_counts_every_resource():
    """Of cpu a hundred fit on a machine, of memory one."""
    full = bp.ClusterBuilder("full").machines("m-{}", 1, cpu=100, memory=8).workload("w", replicas=5, cpu=1, memory=8).build()
    answer = bp.machines_needed(full, confidence=0.9, resource="cpu", budget=QUICK)
    assert (answer.machines, answer.left_out, answer.bound) == (5, (), 5)


def test_machines_needed_by_what_uses_nothing_is_one():
    idle = bp.ClusterBuilder("idle").machines("m-{}", 1, cpu="1e12").workload("w", replicas=3, cpu=0).build()
    assert bp.machines_needed(idle, confidence=0.9, budget=QUICK).machines == 1


def test_levels_of_confidence_know_no_cost_of_moves_to_machines_that_are_added():
    """What is reserved takes more machines than there are, so that some are added for the comparison."""
    small = (
        bp.ClusterBuilder("small").machines("m-{}", 2, cpu=4).workload("w", replicas=9, cpu=3, usage={"cpu": (1.0, 0.1)}).build()
    )
    costs = MoveCosts(container=ints([1]), machine=ints([[0, 2], [2, 0]]), container_weight=1, service_weight=1, machine_weight=1)
    answer = bp.pack(replace(small, objective=replace(small.objective, move_costs=costs)), confidence=0.9, budget=QUICK)
    assert answer.levels[0].left_out == 0
