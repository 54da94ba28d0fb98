"""What must not move in a turn."""

from dataclasses import replace

from tests.builders.operated import operation, talkers

from bayplan.model.record import Hold
from bayplan.operate.orchestrator import Phase
from bayplan.operate.stages.eligible import COOLING, skipped


def test_each_reason_to_stay_is_named():
    o = operation(talkers(), young=600.0)
    assert o.context.acquire()
    o.store.hold([Hold(workload="api", until=o.cluster.now() + 60, why="skewed")], o.context.fence)
    o.cluster.churn.rollouts.live.change(0, "in rollout")
    stay = skipped(o.context, o.cluster.observe())
    assert stay.why == {"web-0": "in rollout", "web-1": "in rollout", "api-0": "held", "api-1": "held"}
    assert stay.sentence == "4 containers stay: 2 in rollout, 2 held"
    o.cluster.wait(61)
    assert set(skipped(o.context, o.cluster.observe()).why) == {"web-0", "web-1"}  # the hold is over


def test_young_containers_closed_machines_and_second_instances_stay():
    o = operation(talkers(), young=600.0)
    seen = o.cluster.observe()
    young = replace(seen.containers[0], created=seen.at - 599)
    starting = replace(seen.containers[1], phase=Phase.STARTING)
    machines = tuple(replace(machine, open=machine.name != "m-1") for machine in seen.machines)
    changed = replace(seen, containers=(young, starting, *seen.containers[2:]), machines=machines)
    assert set(skipped(o.context, changed).why.values()) == {"young", "on a closed machine"}
    doubled = replace(seen, second={"web-0": seen.containers[0]}, stopping=(seen.containers[2],))
    assert skipped(o.context, doubled).why == dict.fromkeys(["web-0", "api-0"], "in the middle of a move")


def test_what_was_moved_lately_stays_unless_the_gain_is_large():
    o = operation(talkers())
    assert o.loop.turn().moved == 2
    stay = skipped(o.context, o.cluster.observe())
    assert set(stay.why.values()) == {COOLING}
    assert stay.in_any_case == ()
    o.cluster.wait(o.context.settings.cooldown + 1)
    assert not skipped(o.context, o.cluster.observe()).why


def test_containers_of_a_workload_that_is_not_shown_completely_stay():
    o = operation(talkers())
    seen = replace(o.cluster.observe(), replicas={"web": 3, "api": 2})
    assert set(skipped(o.context, seen).names) == {"web-0", "web-1"}
