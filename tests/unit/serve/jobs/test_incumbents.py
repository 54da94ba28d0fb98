"""What a job says while it runs: now and then how far it is, and each better incumbent, written down before it is told."""

import threading
import time
from dataclasses import replace

import pytest

import bayplan as bp
from bayplan.api.planning.best_so_far import placement_question
from bayplan.model.budget import Tick
from bayplan.serve.jobs.incumbent_file import INCUMBENT, NAMES, read_incumbent
from bayplan.serve.jobs.incumbents import LOOKS, IncumbentWriter, ProgressReport

PATIENCE = 240.0


class _Slow:
    """Looks at placements, each as long as it is told to."""

    def __init__(self):
        self.free_at, self.seen, self.begun, self.go_on = 0.0, [], threading.Event(), threading.Event()

    def look(self, placement):
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        self.seen.append(placement)


def test_the_last_incumbent_of_a_stage_is_looked_at_though_others_were_passed_over():
    slow, told = _Slow(), []
    with ProgressReport(lambda kind, data: told.append(kind), slow) as progress:
        progress(Tick(stage="searching", done=0.1, solution=lambda: "first"))
        assert slow.begun.wait(PATIENCE)
        for done in (0.2, 0.5, 0.9):
            progress(Tick(stage="searching", done=done, solution=lambda: "passed over"))
        progress(Tick(stage="searching", done=1.0, solution=lambda: "last"))
        slow.go_on.set()
        while len(slow.seen) < 2:
            pass
    assert slow.seen == ["first", "last"]
    assert told == ["progress"]  # the others came too soon after it


def test_an_incumbent_that_was_looked_at_is_passed_over_until_its_score_changes():
    slow = _Slow()
    slow.go_on.set()
    scores = {"first": -1.0, "the same": -1.0, "of another walker": -0.5, "of the first again": -1.0, "better": -2.0}
    with ProgressReport(lambda kind, data: None, slow) as progress:
        for name, score in scores.items():
            progress(Tick(stage="searching", done=1.0, score=score, solution=lambda name=name: name))
            while slow.seen[-1:] != [name] and name in ("first", "of another walker", "better"):
                pass
        progress(Tick(stage="annealing", done=1.0, score=-2.0, solution=lambda: "of another stage"))
        while len(slow.seen) < 4:
            pass
    assert slow.seen == ["first", "of another walker", "better", "of another stage"]


def test_a_score_that_is_no_number_is_not_told():
    told = []
    with ProgressReport(lambda kind, data: told.append(data), _Slow()) as progress:
        progress(Tick(stage="searching", done=0.1, score=float("inf")))
    assert told[0]["score"] is None and told[0]["stage"] == "searching"


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_only_a_better_incumbent_is_written_and_it_is_on_the_disk_before_it_is_told(written):
    shop, told = bp.generate("boutique"), []
    better = bp.rebalance(shop, budget=bp.Budget(iterations=20_000))

    def tell(kind, data):
        told.append((kind, data, read_incumbent(written)))

    writer = IncumbentWriter("rebalance", shop, {}, tell)
    for placement in (shop.placement, better.placement, shop.placement, better.placement):
        writer.look(placement)
    assert [kind for kind, _, _ in told] == ["incumbent", "incumbent"]
    _, event, document = told[-1]
    assert event["value"] == pytest.approx(better.score["objective"]) == document["result"]["score"]["objective"]
    assert document["result"]["interrupted"] and document["result"]["moved"] == better.moved
    names, machines = shop.cluster.containers.name, shop.cluster.machines.name
    where = dict(zip(names, better.placement.machine_of.tolist(), strict=True))
    assert all(machines[where[name]] == machine for name, machine in document["placement"].items())
    assert document["result"] | {"seconds": 0, "solve_seconds": 0} == (
        _answered(shop, better.placement).to_dict() | {"seconds": 0, "solve_seconds": 0}
    )


def _answered(snapshot, placement):
    return placement_question("rebalance", snapshot, {}).answer(placement, 0.0)


def test_names_are_written_once_and_an_incumbent_has_only_numbers(written):
    shop = bp.generate("boutique")
    better = bp.rebalance(shop, budget=bp.Budget(iterations=20_000))
    writer = IncumbentWriter("rebalance", shop, {}, lambda kind, data: None)
    writer.look(shop.placement)
    assert all(name in (written / NAMES).read_text() for name in shop.cluster.containers.name)
    (written / NAMES).unlink()
    writer.look(better.placement)
    assert not (written / NAMES).exists()
    assert not any(f'"{name}"' in (written / INCUMBENT).read_text() for name in shop.cluster.containers.name)


def test_a_container_without_a_machine_has_none_in_the_incumbent_that_is_read(written):
    shop = bp.generate("boutique")
    unplaced = shop.placement.machine_of.copy()
    unplaced[3] = -1
    partly = replace(shop, placement=bp.Placement(machine_of=unplaced))
    writer = IncumbentWriter("rebalance", partly, {}, lambda kind, data: None)
    writer.look(partly.placement)
    assert shop.cluster.containers.name[3] not in read_incumbent(written)["placement"]
    assert read_incumbent(written)["result"]["moves"] == []


def test_the_second_look_follows_the_first_at_once_and_the_third_after_a_while(written):
    shop = bp.generate("boutique")
    writer = IncumbentWriter("rebalance", shop, {}, lambda kind, data: None)
    writer.look(shop.placement)
    assert writer.free_at <= time.monotonic()
    began = time.monotonic()
    writer.look(shop.placement)
    assert writer.free_at >= began + LOOKS


def test_a_verb_that_passes_no_placements_writes_nothing(written):
    shop, told = bp.generate("boutique"), []
    IncumbentWriter("pack", shop, {}, lambda kind, data: told.append(kind)).look(shop.placement)
    assert told == [] and read_incumbent(written) is None
