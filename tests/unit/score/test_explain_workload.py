"""A workload is explained machine by machine; replicas that stand alike are explained once."""

import bayplan as bp
from bayplan.model import UNPLACED
from bayplan.score.explain import Explanation, WorkloadExplanation, explain, explain_workload
from bayplan.score.explain.workload import MOST


def shop(replicas=5, machines=3):
    b = bp.ClusterBuilder("shop").machines("m-{}", machines, cpu=8, memory="8Gi")
    on = ["m-0", "m-0", "m-1", "m-0", None][:replicas] + [f"m-{i % machines}" for i in range(5, replicas)]
    b.workload("web", cpu=1, on=on).workload("db", cpu=1, on="m-0")
    return b


def test_replicas_on_one_machine_are_explained_once_and_unplaced_ones_last():
    snapshot = shop().build()
    explanation = explain_workload(snapshot.cluster, snapshot.placement, 0, snapshot.objective)
    assert [group.containers for group in explanation.groups] == [("web-0", "web-1", "web-3"), ("web-2",), ("web-4",)]
    assert [group.explanation.machine for group in explanation.groups] == ["m-0", "m-1", None]
    for group in explanation.groups:
        c = snapshot.cluster.containers.name.index(group.containers[0])
        assert group.explanation == explain(snapshot.cluster, snapshot.placement, c, objective=snapshot.objective)


def test_a_container_that_a_rule_names_has_an_explanation_of_its_own():
    snapshot = shop().pin("web-1").build()
    groups = explain_workload(snapshot.cluster, snapshot.placement, 0).groups
    assert [group.containers for group in groups] == [("web-0", "web-3"), ("web-1",), ("web-2",), ("web-4",)]


def test_of_many_machines_the_first_are_explained_and_the_others_counted():
    snapshot = shop(replicas=40, machines=35).build()
    explanation = explain_workload(snapshot.cluster, snapshot.placement, 0)
    assert len(explanation.groups) == MOST
    assert sum(len(group.containers) for group in explanation.groups) + explanation.not_shown == 40
    assert "on other machines" in str(explanation)


def test_its_words_name_every_group():
    snapshot = shop().build()
    text = str(explain_workload(snapshot.cluster, snapshot.placement, 0))
    assert text.splitlines() == [
        "web (service 'web') has 5 containers",
        "web-0 and 2 more on 'm-0': 3/3 machines fit",
        "web-2 on 'm-1': 3/3 machines fit",
        "web-4 without a machine: 3/3 machines fit",
    ]


def test_the_library_takes_a_container_or_a_workload():
    snapshot = shop().build()
    assert isinstance(bp.explain(snapshot, "web"), WorkloadExplanation)
    assert isinstance(bp.explain(snapshot, "web-0"), Explanation)
    alone = bp.explain(snapshot, "db")
    assert isinstance(alone, Explanation) and alone.container == "db-0"


def test_a_workload_without_containers_is_said_to_have_none():
    snapshot = shop().workload("job", replicas=0, cpu=1).build()
    assert str(bp.explain(snapshot, "job")) == "job (service 'job') has 0 containers"
    assert (snapshot.placement.machine_of == UNPLACED).sum() == 1
