"""What a loop tells while it works: all of it was written down before, and in this order."""

from tests.builders.operated import operation, talkers

from bayplan.operate.listener import LoopListener
from bayplan.operate.simulated import Faults
from bayplan.operate.simulated.faults import StepFault


class Heard(LoopListener):
    """Everything that was told, with what the record said at that moment."""

    def __init__(self, store):
        self.store, self.lines = store, []

    def turn_begun(self, turn):
        self.lines.append(("turn", str(self.store.turns(last=1)[0].verdict)))

    def turn_ended(self, turn):
        self.lines.append(("turn", str(self.store.turns(last=1)[0].verdict)))

    def plan_saved(self, plan):
        assert self.store.plan(plan.id).status is plan.status
        self.lines.append(("plan", str(plan.status)))

    def steps_begun(self, steps):
        known = {step.token for step in self.store.steps(steps[0].plan)}
        assert {step.token for step in steps} <= known
        self.lines += [(str(step.action), step.container, "begun") for step in steps]

    def steps_ended(self, steps):
        self.lines += [(str(step.action), step.container, str(step.status)) for step in steps]

    def given_up(self, plan, move, why):
        self.lines.append(("given up", move.container))

    def held(self, holds):
        self.lines += [("held", hold.workload) for hold in holds if hold.workload in self.store.holds(0.0)]


def test_a_turn_that_moves_tells_its_turn_its_plan_and_every_step():
    o = operation(talkers())
    o.context.listener = heard = Heard(o.store)
    assert o.loop.turn().moved == 2
    assert heard.lines[:2] == [("turn", "running"), ("plan", "executing")]
    assert heard.lines[-1] == ("turn", "executed")
    assert ("plan", "settling") in heard.lines and ("plan", "done") in heard.lines
    steps = [line for line in heard.lines if len(line) == 3]
    begun = [line[:2] for line in steps if line[2] == "begun"]
    assert sorted(begun) == sorted(line[:2] for line in steps if line[2] == "done")
    assert len(begun) >= 4


def test_a_step_that_fails_tells_that_its_container_is_given_up():
    o = operation(talkers())
    o.context.listener = heard = Heard(o.store)
    o.cluster.inject(Faults(steps={StepFault.REFUSED: 1.0}))
    o.loop.turn()
    failed = {line[1] for line in heard.lines if line[-1] == "failed"}
    assert failed and {("given up", name) for name in failed} <= set(heard.lines)
