"""A workload that the loop has moved is left alone for a time; or only the replicas that were moved, if the settings say so."""

from dataclasses import replace

import bayplan as bp
from bayplan.operate.context import LoopContext
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.operate.stages.eligible import COOLING, skipped
from bayplan.operate.store import Store

SETTINGS = LoopSettings(cooldown=7200.0, cooldown_of="container")


def cooling(context, seen, age):
    """What stays because it was moved, if a step of ours created the first container this long ago."""
    moved = replace(seen.containers[0], token="1-abcd/0", created=seen.at - age)
    changed = replace(seen, containers=(moved, *seen.containers[1:]))
    return [name for name, why in skipped(context, changed).why.items() if why == COOLING]


def test_a_container_that_was_moved_cools_down_and_other_replicas_do_not():
    builder = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi")
    orchestrator = SimulatedOrchestrator(builder.workload("web", replicas=3, cpu=1, memory="1Gi", on="m-0").build())
    orchestrator.wait(3600)
    settings = LoopSettings(cooldown=7200.0, cooldown_of="container")
    context = LoopContext(orchestrator=orchestrator, store=Store.open(":memory:"), settings=settings)
    seen = orchestrator.observe()
    assert not skipped(context, seen).why
    assert cooling(context, seen, 7199) == [seen.containers[0].name]
    assert cooling(context, seen, 7200) == []
