"""What a job says while it runs: now and then how far it is, and each better incumbent, written down before it is told."""

import json
import threading

import pytest

import bayplan as bp
from bayplan.model.budget import Tick
from bayplan.serve.jobs.incumbents import INCUMBENT, IncumbentWriter, ProgressReport

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


def test_a_score_that_is_no_number_is_not_told():
    told = []
    with ProgressReport(lambda kind, data: told.append(data), _Slow()) as progress:
        progress(Tick(stage="searching", done=0.1, score=float("inf")))
    assert told[0]["score"] is None and told[0]["stage"] == "searching"


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / INCUMBENT


def test_only_a_better_incumbent_is_written_and_it_is_on_the_disk_before_it_is_told(written):
    shop, told = bp.generate("boutique"), []
    better = bp.rebalance(shop, budget=bp.Budget(iterations=20_000))

    def tell(kind, data):
        told.append((kind, data, json.loads(written.read_text())))

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


def test_a_verb_that_passes_no_placements_writes_nothing(written):
    shop, told = bp.generate("boutique"), []
    IncumbentWriter("pack", shop, {}, lambda kind, data: told.append(kind)).look(shop.placement)
    assert told == [] and not written.exists()
