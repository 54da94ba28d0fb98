"""When a machine counts as skewed because of what was brought to it."""

from dataclasses import replace

import pytest

import bayplan as bp
from bayplan.model.record import PlannedMove, PlanStatus, RecordedPlan
from bayplan.operate.context import LoopContext
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.operate.stages.tracking import TrackedContainer
from bayplan.operate.stages.verify import verify
from bayplan.operate.store import Store


@pytest.fixture
def operated():
    """A machine of 4 cores with a container of 1 core that was brought there, and what verification needs to know of it."""
    builder = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi").workload("web", cpu=1, memory="1Gi", on="m-1")
    orchestrator = SimulatedOrchestrator(builder.build())
    context = LoopContext(orchestrator=orchestrator, store=Store.open(":memory:"), settings=LoopSettings())
    return context, orchestrator.observe()


def skewed_at(operated, cores):
    """Machines that are skewed if the machine's measured usage is that many cores."""
    context, seen = operated
    state = seen.containers[0]
    move = PlannedMove(container=state.name, uid="old", workload="web", source="m-0", target="m-1")
    plan = RecordedPlan(
        id="1-a", turn=1, created=0.0, changed=0.0, status=PlanStatus.SETTLING, fingerprint="a", moves=(move,), batches=()
    )
    following = {state.name: TrackedContainer(move=move, instances={"m-1": state.uid}, last=state.uid)}
    used = (1000.0 * cores, *seen.machines[1].usage[1:])
    machines = (seen.machines[0], replace(seen.machines[1], usage=used))
    return dict(verify(context, plan, following, replace(seen, machines=machines)).skewed)


def test_a_machine_above_its_safety_capacity_is_skewed_but_not_within_the_error_of_a_measurement(operated):
    assert skewed_at(operated, 4.0 * 1.049) == {}
    assert skewed_at(operated, 4.0 * 1.051) == {"m-1": "cpu at 105 %, above its safety capacity"}


def test_a_machine_that_would_be_above_without_what_was_brought_is_not_skewed_because_of_it(operated):
    assert skewed_at(operated, 6.0) == {}
