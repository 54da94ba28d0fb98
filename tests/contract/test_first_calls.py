"""The first call on a machine gives the answer that every other gives: nothing is compiled while its clock runs."""

import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from tests.builders.first_calls import calls, kernels_used, one_shot_calls, snapshots
from tests.builders.kernels_needed import kernels_needed

import bayplan as bp
from bayplan.api import control, warm_up
from bayplan.api.registry import REGISTRIES
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.parameters import LIVE
from bayplan.errors import UsageError
from bayplan.kernels import ahead
from bayplan.model.goal import GOALS

every_method = pytest.mark.parametrize(("verb", "method"), [(verb, method) for verb in REGISTRIES for method in bp.methods(verb)])

FIRST_AND_SECOND = """
import json
from numba.core import event
import bayplan as bp
from bayplan.api.control import Control

class Compiled(event.Listener):
    names, running = [], False
    def on_start(self, e): pass
    def on_end(self, e):
        if self.running: self.names.append(e.data["dispatcher"].py_func.__name__)

event.register("numba:compile", compiled := Compiled())
budget_of = Control.method_budget

def starts_the_clock(control, finish):
    compiled.running = True
    return budget_of(control, finish)

Control.method_budget = starts_the_clock
steps = {"budget": bp.Budget(iterations=2_000)}
shop = bp.generate("boutique")
fleet = bp.generate("ucac", services=5, scale=0.02, machines=40)
asks = {
    "plan": lambda: bp.plan(shop, **steps),
    "place": lambda: bp.place(shop, **steps),
    "rebalance": lambda: bp.rebalance(shop, **steps),
    "collocate": lambda: bp.collocate(shop, engine="here", **steps),
    "pack": lambda: bp.pack(fleet, confidence=0.99, budget=bp.Budget(iterations=50)),
    "admit": lambda: bp.admit(bp.generate("container-clusters", zones=3, count=30, slots=6, members_most=4), seconds=60),
    "schedule": lambda: bp.schedule(bp.generate("requests", n=200, machines=4), machines=4, **steps),
    "migrate": lambda: bp.migrate(shop, bp.rebalance(shop, method="greedy", **steps).placement),
}
said = {}
for verb, ask in asks.items():
    answers = []
    for _ in range(2):
        compiled.running = False
        found = ask().to_dict()
        answers.append({name: found[name] for name in ("score", "status")})
    said[verb] = {"answers": answers, "compiled": compiled.names[:]}
    compiled.names.clear()
print(json.dumps(said))
"""


def test_the_table_of_needed_kernels_is_what_the_source_says():
    written = json.loads(warm_up.NEEDED.read_text(encoding="utf-8"))
    assert written == kernels_needed(), "run `python -m tests.builders.kernels_needed`"


def test_every_needed_kernel_has_an_example():
    needed = {name for by_method in kernels_needed().values() for names in by_method.values() for name in names}
    command = "from bayplan.kernels.ahead import all_kernels; print(*all_kernels())"
    listed = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout.split()
    assert needed <= set(listed), "the folder's warm_up() calls every kernel that Python calls"


@pytest.fixture
def warmed(monkeypatch):
    """The kernels that calls had compiled before their clocks started."""
    names = set()

    def note(methods, progress):
        names.update(name for verb, method in methods for name in warm_up.kernels_of(verb, method))
        return 0

    monkeypatch.setattr(warm_up, "warm_up_methods", note)
    return names


@pytest.mark.long
@every_method
def test_whatever_the_input_a_method_needs_no_other_kernel(verb, method, warmed):
    for call in calls(verb, method):
        warmed.clear()
        assert kernels_used(call) <= warmed


@pytest.mark.long
@pytest.mark.parametrize("goal", GOALS)
def test_whatever_the_input_a_plan_needs_no_other_kernel(goal, warmed):
    for snapshot in snapshots():
        for scenario in (bp.WhatIf(), bp.WhatIf(drain=("*1",))):
            warmed.clear()
            with suppress(UsageError):  # no machine of that name
                used = kernels_used(
                    lambda snapshot=snapshot, scenario=scenario: bp.plan(
                        snapshot, goal=goal, what_if=scenario, budget=bp.Budget(iterations=30)
                    )
                )
                assert used <= warmed, used - warmed


@pytest.mark.long
@pytest.mark.parametrize("one_shot", ONE_SHOTS)
def test_whatever_the_request_a_one_shot_method_needs_no_other_kernel(one_shot, warmed):
    for call in one_shot_calls(one_shot):
        warmed.clear()
        assert kernels_used(call) <= warmed


@pytest.mark.parametrize("method", LIVE)
def test_a_live_admission_has_compiled_all_that_its_offers_need(method, warmed):
    stream = bp.generate("container-clusters", zones=3, count=30, slots=6, members_most=4)
    warmed.clear()
    admission = bp.Admission(stream.zones, method=method)
    assert warmed
    assert kernels_used(lambda: [admission.offer(request) for request in stream.requests]) <= warmed


def test_a_live_admission_tells_how_far_its_kernels_are(monkeypatch):
    monkeypatch.setattr(ahead, "compile_ahead", lambda names, on_progress: on_progress(1, 4))
    ticks = []
    bp.Admission(bp.generate("container-clusters", count=1).zones, progress=ticks.append)
    assert [(tick.stage, tick.done) for tick in ticks] == [("compiling kernels, once: 1 of 4", 0.25)]


@pytest.mark.long
def test_the_first_call_of_every_verb_answers_as_the_second_does(tmp_path):
    """In a process that finds nothing compiled."""
    environment = {**os.environ, "BAYPLAN_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FIRST_AND_SECOND]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert set(said) == {"plan", *REGISTRIES}
    assert list(tmp_path.iterdir()), "nothing was compiled at all"
    for verb, found in said.items():
        assert found["compiled"] == [], f"{verb} compiled while its clock ran"
        assert found["answers"][0] == found["answers"][1], verb


def test_a_call_that_compiled_has_its_seconds_left(monkeypatch):
    ticking = iter(range(100, 200, 50))
    monkeypatch.setattr(warm_up, "warm_up_methods", lambda methods, progress: 3)
    monkeypatch.setattr("time.perf_counter", lambda: next(ticking, 200))
    started = control.Control.of(10.0, 0, {})
    assert started.after_compiling(("place", "best")).clock.started > started.clock.started
