"""What is wrong with a snapshot, in words: every kind of finding, the worst first."""

import bayplan as bp
from bayplan.serve.views.findings import SHOWN, findings_of


def texts(snapshot, severity):
    return [each["text"] for each in findings_of(snapshot)["findings"] if each["severity"] == severity]


def two_machines():
    return bp.ClusterBuilder("two").machines("m-{}", 2, cpu=8, safety=0.5)


def test_the_worst_comes_first_and_names_what_it_is_about():
    found = findings_of(bp.generate("boutique"))
    severities = [each["severity"] for each in found["findings"]]
    assert severities == sorted(severities, key=["bad", "warn", "good", "note"].index)
    assert found["findings"][0] == {
        "severity": "bad",
        "text": "2 containers have no machine: frontend-9, ranker-2",
        "machines": [],
        "workloads": ["frontend", "ranker"],
    }
    assert found["headline"] == bp.score(bp.generate("boutique")).headline


def test_a_machine_above_its_safety_capacity_is_a_warning():
    snapshot = two_machines().workload("web", cpu=6, on="m-1").build()
    warned = [each for each in findings_of(snapshot)["findings"] if each["severity"] == "warn"]
    assert [(each["text"], each["machines"]) for each in warned] == [
        ("m-1: 75\u00a0% of its cpu is requested, above its safety capacity", ["m-1"])
    ]


def test_a_violated_rule_is_bad_and_points_at_its_machine():
    snapshot = two_machines().workload("web", replicas=2, cpu=1, on=["m-0", "m-0"]).anti_affinity("web").build()
    found = findings_of(snapshot)
    assert not found["valid"]
    bad = [each for each in found["findings"] if each["severity"] == "bad"]
    assert len(bad) == 1 and "web" in bad[0]["text"] and bad[0]["workloads"] == ["web"]


def test_a_workload_on_one_machine_alone_is_named():
    snapshot = two_machines().workload("web", replicas=2, cpu=1, on=["m-1", "m-1"]).workload("db", cpu=1, on="m-0").build()
    (told,) = texts(snapshot, "warn")
    assert told == "1 workload with several containers runs on one machine alone, and would stop with it: web"


def test_a_sound_cluster_is_said_to_be_one():
    snapshot = two_machines().workload("web", replicas=2, cpu=1, on=["m-0", "m-1"]).build()
    assert texts(snapshot, "good") == ["Every rule is kept, and no machine is above its safety capacity."]


def test_a_machine_without_what_its_containers_request_is_bad():
    builder = bp.ClusterBuilder("bare").machine("m", cpu=8, memory=0).workload("web", cpu=1, memory="1Gi", on="m")
    assert "m has no memory, but runs what requests it" in texts(builder.build(), "bad")


def test_of_very_many_findings_the_rest_is_counted():
    builder = bp.ClusterBuilder("many").machines("m-{}", SHOWN + 5, cpu=8, safety=0.5)
    snapshot = builder.workload("web", replicas=SHOWN + 5, cpu=6, on=[f"m-{k}" for k in range(SHOWN + 5)]).build()
    warned = texts(snapshot, "warn")
    assert len(warned) == SHOWN + 1
    assert warned[-1] == "and 5 further machines above the safety capacity"
