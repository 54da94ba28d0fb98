"""`migrate` and `simulate` as a user meets them."""

import inspect
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from bayplan.check import check_migration
from bayplan.cli import migrate as command
from bayplan.cli.main import main
from bayplan.formats import read, read_placement, read_plan, write_placement
from bayplan.formats.targets import read_plan_of
from bayplan.migrate import MIGRATORS
from bayplan.migrate.waves import waves
from bayplan.model import Migration, MigrationPolicy, Placement, Plan, Running

KEYS = {"verb", "method", "status", "score", "bound", "gap", "seconds", "seed", "placed", "moved", "moves", "left_out", "details"}
SCORES = {"batches", "steps", "moves", "stopovers", "surges", "alive", "peak"}
ROOMY = """
bayplan: 1
name: roomy
resources: {cpu: {scale: 1000}}
levels: [zone]
machines:
  - {name: m-0, capacity: {cpu: 8}, at: {zone: east}}
  - {name: m-1, capacity: {cpu: 8}, at: {zone: east}}
  - {name: m-2, capacity: {cpu: 8}, at: {zone: west}}
workloads:
  - {name: web, request: {cpu: 1}, containers: 4, on: [m-0, m-0, m-1, m-1]}
  - {name: db, request: {cpu: 2}, containers: 1, on: [m-1]}
  - {name: job, request: {cpu: 1}, containers: 2, on: [m-2, null]}
rules:
  - {rule: anti-affinity, workloads: [web], limit: 2}
"""
THERE = {"web-0": "m-2", "web-1": "m-2", "web-2": "m-1", "web-3": "m-0", "db-0": "m-0", "job-0": "m-2", "job-1": "m-1"}

MOVED = ("web-0", "web-1", "web-3", "db-0")


@pytest.fixture
def roomy(tmp_path: Path) -> Path:
    file = tmp_path / "roomy.yaml"
    file.write_text(ROOMY, encoding="utf-8")
    return file


def target(tmp_path: Path, placement: dict[str, str], name: str = "target.json") -> Path:
    file = tmp_path / name
    file.write_text(json.dumps({"placement": placement}), encoding="utf-8")
    return file


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def ends(file: Path, plan: Path) -> dict[str, str]:
    """Name -> machine of what runs after a plan, with the plan's new containers."""
    whole, steps = read_plan_of(plan, read(file))
    running = Running.of(whole.placement).after(steps)
    assert len(running.doubled) == 0
    names, machines = whole.cluster.containers.name, whole.cluster.machines.name
    return {names[c]: machines[m] for c, m in enumerate(running.machine_of.tolist()) if m >= 0}


def test_the_help_says_what_every_method_does():
    lines = inspect.getdoc(command.migrate).splitlines()
    assert {line[2:].split(":")[0] for line in lines if line.startswith("- ")} == set(MIGRATORS)


@pytest.mark.parametrize("method", MIGRATORS)
def test_a_plan_leads_to_the_target_and_its_inverse_back(method, roomy, tmp_path, capsys):
    plan, back, to = tmp_path / "plan.json", tmp_path / "back.json", target(tmp_path, THERE)
    options = ["--method", method, "--out", plan, "--rollback-out", back]
    answer = answer_of(capsys, "migrate", roomy, "--to", to, *options)
    assert answer.keys() >= KEYS and answer["score"].keys() >= SCORES
    assert (answer["details"]["complete"], answer["moved"], answer["placed"], answer["left_out"]) == (True, 4, 1, [])
    assert {move["container"]: move["to"] for move in answer["moves"]} == {name: THERE[name] for name in MOVED}
    assert answer["score"]["moves"] == 4 + answer["score"]["stopovers"]
    assert len(answer["details"]["by_batch"]) == answer["score"]["batches"] and answer["details"]["duration"] > 0
    assert ends(roomy, plan) == THERE
    cluster, start = read(roomy).cluster, Running.of(read(roomy).placement)
    again = start.after(read_plan(plan, cluster)).after(read_plan(back, cluster))
    assert again.machine_of.tolist() == start.machine_of.tolist()


FIGURE_2 = """
bayplan: 1
resources: {{cpu: {{}}}}
machines: [{{name: s1, capacity: {{cpu: 100}}}}, {{name: s2, capacity: {{cpu: 100}}}}, {{name: s3, capacity: {{cpu: 100}}}}]
workloads:
  - {{name: A1, request: {{cpu: 20}}, containers: [CA1], on: [s1]}}
  - {{name: B1, request: {{cpu: 20}}, containers: [CB1], on: [s1]}}
  - {{name: C1, request: {{cpu: 30}}, containers: [CC1], on: [s1]}}
  - {{name: A2, request: {{cpu: 50}}, containers: [CA2], on: [s2]}}
  - {{name: B2, request: {{cpu: 50}}, containers: [CB2], on: [s2]}}
  - {{name: C2, request: {{cpu: 40}}, containers: [CC2], on: [s3]}}
rules: [{{rule: transient, resource: cpu, mode: {mode}}}]
"""
EVEN = {"CA1": "s2", "CB1": "s1", "CC1": "s3", "CA2": "s2", "CB2": "s1", "CC2": "s3"}  # 70 % on every server


def test_figure_2_of_freecontainer_has_an_order_but_no_concurrent_move(tmp_path, capsys):
    file, plan, to = tmp_path / "figure-2.yaml", tmp_path / "plan.json", target(tmp_path, EVEN)
    file.write_text(FIGURE_2.format(mode="sequential"), encoding="utf-8")
    answer = answer_of(capsys, "migrate", file, "--to", to, "--out", plan)
    assert answer["details"]["complete"] and answer["score"]["steps"] == 6 and ends(file, plan) == EVEN
    names = read(file).cluster.containers.name
    created = [names[step.container] for step in read_plan(plan, read(file).cluster).steps() if step.action == "create"]
    assert created == ["CC1", "CB2", "CA1"]
    file.write_text(FIGURE_2.format(mode="joint"), encoding="utf-8")
    refused = answer_of(capsys, "migrate", file, "--to", to, code=3)
    assert "'s1' is charged 120 cpu of 100" in refused["still_violated"][0]


def test_the_plan_of_a_shop_is_safe_and_its_page_shows_it(tmp_path, capsys):
    shop, after = tmp_path / "shop.json", tmp_path / "after.json"
    assert main(["generate", "boutique", "--out", str(shop), "--quiet"]) == 0
    snapshot = read(shop)
    swapped = snapshot.placement.machine_of.copy()
    frontend = [c for c, name in enumerate(snapshot.cluster.containers.name) if name.startswith("frontend-")][:3]
    swapped[frontend] = snapshot.cluster.machines.name.index("c4")
    write_placement(after, snapshot.cluster, Placement(machine_of=swapped))
    plan, page = tmp_path / "plan.json", tmp_path / "plan.html"
    arguments = ["migrate", str(shop), "--to", str(after), "--out", str(plan), "--report", str(page)]
    code = main(arguments)
    said = capsys.readouterr().out
    assert code in (0, 3) and "Batches" in said and "about" in said and str(plan) in "".join(said.split())
    text = page.read_text(encoding="utf-8")
    assert "In which order" in text and "bayplan migrate" in text and "<script" in text
    start, steps = Running.of(snapshot.placement), read_plan(plan, snapshot.cluster)
    question = Migration(cluster=snapshot.cluster, start=start, target=Placement(machine_of=swapped), policy=MigrationPolicy())
    assert check_migration(question, steps).safe


def test_nothing_to_move_is_an_empty_plan(roomy, tmp_path, capsys):
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    answer = answer_of(capsys, "migrate", roomy, "--to", roomy, "--out", plan, "--report", page)
    assert (answer["details"]["complete"], answer["score"]["steps"], answer["details"]["duration"]) == (True, 0, 0)
    assert read_plan(plan, read(roomy).cluster).batches == ()
    assert "nothing has to move" in page.read_text(encoding="utf-8")


def test_a_target_that_violates_a_rule_is_refused_with_the_sentence_and_nothing_is_written(roomy, tmp_path, capsys):
    plan, page = tmp_path / "plan.json", tmp_path / "page.html"
    to = target(tmp_path, {**THERE, "web-2": "m-2"})
    assert main(["migrate", str(roomy), "--to", str(to), "--out", str(plan), "--report", str(page), "--quiet"]) == 3
    assert "3 containers of 'web'" in " ".join(capsys.readouterr().out.split())
    assert not plan.exists() and not page.exists()
    answer = answer_of(capsys, "migrate", roomy, "--to", to, code=3)
    assert answer["status"] == "infeasible" and not answer["details"]["complete"]


def test_stuck_containers_are_named_and_the_others_move(tmp_path, capsys):
    """Two full machines that want to swap, and one container that can move; no other machine is large enough for a stopover."""
    file = tmp_path / "full.yaml"
    file.write_text(
        "bayplan: 1\nresources: {cpu: {}}\n"
        "machines: [{name: a, capacity: {cpu: 4}}, {name: b, capacity: {cpu: 4}}, {name: c, capacity: {cpu: 2}}]\n"
        "workloads:\n - {name: big, request: {cpu: 4}, containers: 1, on: [a]}\n"
        " - {name: large, request: {cpu: 4}, containers: 1, on: [b]}\n"
        " - {name: small, request: {cpu: 1}, containers: 1, on: [null]}\n",
        encoding="utf-8",
    )
    plan = tmp_path / "plan.json"
    to = target(tmp_path, {"big-0": "b", "large-0": "a", "small-0": "c"})
    answer = answer_of(capsys, "migrate", file, "--to", to, "--way", "surge", "--out", plan, code=3)
    assert {left["name"] for left in answer["left_out"]} == {"big-0", "large-0"} and not answer["details"]["complete"]
    assert ends(file, plan) == {"big-0": "a", "large-0": "b", "small-0": "c"}
    main(["migrate", str(file), "--to", str(to), "--way", "surge"])
    assert "Do not arrive: 2" in capsys.readouterr().out


def test_containers_that_only_one_end_has_are_created_or_deleted(roomy, tmp_path, capsys):
    plan, back = tmp_path / "plan.json", tmp_path / "back.json"
    to = target(tmp_path, {"web-0": "m-0", "web-1": "m-0", "web-2": "m-1", "db-0": "m-1", "web-new": "m-2", "job-0": "m-2"})
    options = ["--delete-missing", "--out", str(plan), "--rollback-out", str(back)]
    assert main(["migrate", str(roomy), "--to", str(to), *options]) == 0
    said = capsys.readouterr().err
    assert "1 running container without a machine in the target: to be deleted" in said
    assert "taken by name as new replicas of web: web-new" in said
    assert set(ends(roomy, plan)) == {"web-0", "web-1", "web-2", "db-0", "web-new", "job-0"}
    assert json.loads(plan.read_text())["new"] == {"web-new": "web"}
    assert main(["simulate", str(roomy), "--plan", str(plan), "--to", str(to), "--delete-missing", "--quiet"]) == 0
    answer = answer_of(capsys, "migrate", roomy, "--rollback", plan)
    assert answer["details"]["complete"] and answer["placed"] == 1  # web-3 is back


def test_containers_that_the_target_does_not_name_stay_where_they_are(roomy, tmp_path, capsys):
    plan, to = tmp_path / "plan.json", target(tmp_path, {"web-0": "m-2"})
    assert main(["migrate", str(roomy), "--to", str(to), "--out", str(plan)]) == 0
    assert "5 running containers not in the target: left where they are" in capsys.readouterr().err
    before = {"web-0": "m-0", "web-1": "m-0", "web-2": "m-1", "web-3": "m-1", "db-0": "m-1", "job-0": "m-2"}
    assert ends(roomy, plan) == {**before, "web-0": "m-2"}
    assert main(["migrate", str(roomy), "--to", str(to), "--delete-missing", "--alive", "0", "--out", str(plan), "--quiet"]) == 0
    assert ends(roomy, plan) == {"web-0": "m-2"}


def test_replicas_may_be_renamed_so_that_fewer_move(roomy, tmp_path, capsys):
    to = target(tmp_path, {"web-0": "m-1", "web-1": "m-1", "web-2": "m-0", "web-3": "m-0", "db-0": "m-1", "job-0": "m-2"})
    assert main(["migrate", str(roomy), "--to", str(to)]) == 0
    assert "4 fewer containers would move if replicas were interchangeable: --relabel" in capsys.readouterr().err
    plan = tmp_path / "plan.json"
    assert answer_of(capsys, "migrate", roomy, "--to", to, "--relabel", "--out", plan)["score"]["steps"] == 0
    assert answer_of(capsys, "simulate", roomy, "--to", to, "--relabel", "--plan", plan)["details"]["arrived"]
    assert not answer_of(capsys, "simulate", roomy, "--to", to, "--plan", plan)["details"]["arrived"]


def test_options_are_kept(roomy, tmp_path, capsys):
    plan, to = tmp_path / "plan.json", target(tmp_path, THERE)
    options = ["--surge", "web", "--max-steps", 1, "--never", "db", "--max-per", "zone=1", "--late", "web-0=9"]
    answer = answer_of(capsys, "migrate", roomy, "--to", to, *options, "--out", plan)
    steps = read_plan(plan, read(roomy).cluster)
    assert all(len(batch) == 1 for batch in steps.batches)
    assert answer["score"]["alive"] == 1 and answer["score"]["surges"] == 3
    assert [left["name"] for left in answer["left_out"]] == ["db-0"] and answer["details"]["complete"]


def test_a_plan_that_was_left_half_way_is_planned_on_from_there(roomy, tmp_path, capsys):
    plan, rest, to = tmp_path / "plan.json", tmp_path / "rest.json", target(tmp_path, THERE)
    assert main(["migrate", str(roomy), "--to", str(to), "--max-steps", "1", "--out", str(plan), "--quiet"]) == 0
    cluster, start = read(roomy).cluster, Running.of(read(roomy).placement)
    batches = read_plan(plan, cluster).batches
    k = next(k for k, (step,) in enumerate(batches) if step.action == "create")
    failed = batches[k][0]
    name = cluster.containers.name[failed.container]
    options = ["--resume", plan, "--done", k + 1, "--failed", f"create {name}", "--out", rest]
    answer = answer_of(capsys, "migrate", roomy, "--to", to, *options)
    reached = start.after(Plan(batches=batches[:k])).after(read_plan(rest, cluster))
    machines = cluster.machines.name
    names = cluster.containers.name
    assert {names[c]: machines[m] for c, m in enumerate(reached.machine_of.tolist())} == THERE
    assert answer["details"]["complete"]


def test_a_dead_machine_takes_its_containers_along_and_nothing_goes_there(roomy, tmp_path, capsys):
    plan, rest, to = tmp_path / "plan.json", tmp_path / "rest.json", target(tmp_path, {**THERE, "web-1": "m-0"})
    assert main(["migrate", str(roomy), "--to", str(to), "--out", str(plan), "--quiet"]) == 0
    options = ["--resume", plan, "--done", 0, "--dead", "m-2", "--out", rest]
    answer = answer_of(capsys, "migrate", roomy, "--to", to, *options, code=3)
    left = {item["name"]: item["reason"] for item in answer["left_out"]}
    assert all("'m-2' is dead" in left[name] for name in ("web-0", "job-0"))
    assert left["web-3"].startswith("stays for what is left of the target: anti-affinity") and len(left) == 3
    assert all(step.machine != 2 for step in read_plan(rest, read(roomy).cluster).steps())


def test_the_way_back_from_the_middle_of_a_plan_leads_to_the_start(roomy, tmp_path, capsys):
    plan, back, to = tmp_path / "plan.json", tmp_path / "back.json", target(tmp_path, THERE)
    assert main(["migrate", str(roomy), "--to", str(to), "--max-steps", "2", "--out", str(plan), "--quiet"]) == 0
    cluster, start = read(roomy).cluster, Running.of(read(roomy).placement)
    forth = read_plan(plan, cluster)
    for done in range(len(forth.batches) + 1):
        answer = answer_of(capsys, "migrate", roomy, "--rollback", plan, "--done", done, "--out", back)
        assert answer["method"] == "rollback" and answer["score"]["batches"] == done
        there = start.after(Plan(batches=forth.batches[:done]))
        assert there.after(read_plan(back, cluster)).machine_of.tolist() == start.machine_of.tolist()


def test_simulate_carries_out_a_plan_and_says_where_it_stopped(roomy, tmp_path, capsys):
    plan, to = tmp_path / "plan.json", target(tmp_path, THERE)
    assert main(["migrate", str(roomy), "--to", str(to), "--out", str(plan), "--quiet"]) == 0
    well = answer_of(capsys, "simulate", roomy, "--plan", plan, "--to", to)
    details = well["details"]
    assert (details["safe"], details["stopped"], details["arrived"], details["down"]) == (True, None, True, [])
    assert details["done"] == details["steps"] and well["moved"] == 4
    for option, value in (("--fail-create", "web-3"), ("--hang", "db-0"), ("--fail-delete", "web-0"), ("--kill", "m-2@1")):
        ill = answer_of(capsys, "simulate", roomy, "--plan", plan, option, value, code=3)["details"]
        assert ill["stopped"] is not None and ill["events"] and not ill["arrived"]
    assert main(["simulate", str(roomy), "--plan", str(plan), "--kill", "m-2@1"]) == 3
    assert "machine 'm-2' died" in capsys.readouterr().out


def test_simulate_calls_an_unsafe_plan_unsafe(roomy, tmp_path, capsys):
    file = tmp_path / "unsafe.json"
    steps = [{"action": "delete", "container": f"web-{k}", "machine": "m-0"} for k in range(2)]
    file.write_text(json.dumps({"batches": [steps, [{**step, "action": "create"} for step in steps]]}), encoding="utf-8")
    answer = answer_of(capsys, "simulate", roomy, "--plan", file, code=3)
    assert not answer["details"]["safe"] and any(v["rule"] == "alive" for v in answer["details"]["violations"])
    assert answer["still_violated"] == [v["sentence"] for v in answer["details"]["violations"]]
    assert answer_of(capsys, "simulate", roomy, "--plan", file, "--alive", 0.5)["details"]["safe"]


def test_a_migrator_that_is_wrong_is_found_out_and_nothing_is_written(roomy, tmp_path, monkeypatch):
    """The referee has the last word, whatever method made the plan."""
    from bayplan.api.migrate import UnsafePlanError

    def reckless(migration, options, **run):
        result = waves(migration, options, **run)
        all_steps = tuple(result.solution.steps())
        return replace(result, solution=Plan(batches=(all_steps,)))

    monkeypatch.setitem(MIGRATORS, "waves", reckless)
    out = tmp_path / "plan.json"
    with pytest.raises(UnsafePlanError):
        main(["migrate", str(roomy), "--to", str(target(tmp_path, THERE)), "--out", str(out)])
    assert not out.exists()


def test_an_interrupt_keeps_the_best_so_far_and_says_so(roomy, tmp_path, capsys, monkeypatch):
    def interrupted(migration, options, **run):
        os.kill(os.getpid(), signal.SIGINT)
        return waves(migration, options, **run)

    monkeypatch.setitem(MIGRATORS, "waves", interrupted)
    assert main(["migrate", str(roomy), "--to", str(target(tmp_path, THERE))]) == 0
    assert "interrupted: this is the best so far" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected either --to PLACEMENT"),
        (["--to", "TARGET", "--rollback", "TARGET"], "expected either --to PLACEMENT"),
        (["--to", "TARGET", "--done", "1"], "--done is about batches of a plan"),
        (["--to", "TARGET", "--dead", "m-0"], "expected --resume PLAN too"),
        (["--rollback", "TARGET", "--resume", "TARGET"], "expected one of them"),
        (["--to", "TARGET", "--method", "magic"], "no method 'magic'; expected one of waves"),
        (["--to", "TARGET", "--alive", "2"], "an alive share of 2.0"),
        (["--to", "TARGET", "--out", "TARGET"], "would overwrite the input"),
        (["--to", "TARGET", "--report", "-"], "stdout is for the answer"),
        (["--to", "TARGET", "--resume", "PLAN", "--done", "9"], "the plan has 1 batches; expected 0 to 1"),
        (["--to", "TARGET", "--resume", "PLAN", "--failed", "create db-0"], "no such step has run"),
        (["--to", "TARGET", "--resume", "PLAN", "--dead", "m-9"], "no machine 'm-9'"),
        (["--rollback", "ODD"], "does not start from here"),
        (["--to", "TARGET", "--resume", "ODD"], "cannot be made from here"),
    ],
)
def test_a_wrong_question_is_a_usage_fault_that_names_it(arguments, said, roomy, tmp_path, capsys):
    files = {"TARGET": target(tmp_path, THERE), "PLAN": tmp_path / "one.json", "ODD": tmp_path / "odd.json"}
    step = {"action": "create", "container": "job-1", "machine": "m-1"}
    files["PLAN"].write_text(json.dumps({"batches": [[step]]}), encoding="utf-8")
    files["ODD"].write_text(json.dumps({"batches": [[{**step, "action": "delete"}]]}), encoding="utf-8")
    assert main(["migrate", str(roomy), *(str(files.get(word, word)) for word in arguments)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kill", "said"),
    [
        ("m-2", "--kill 'm-2': expected MACHINE@BATCH"),
        ("m-2@0", "machine 'm-2' dies in batch 0: expected a batch from 1 to 1"),
        ("m-2@9", "machine 'm-2' dies in batch 9: expected a batch from 1 to 1"),
        ("m-5@1", "no machine 'm-5' in cluster 'roomy'; did you mean 'm-"),
    ],
)
def test_a_death_that_cannot_be_is_a_usage_fault(kill, said, roomy, tmp_path, capsys):
    plan = tmp_path / "plan.json"
    plan.write_text('{"batches": [[{"action": "create", "container": "job-1", "machine": "m-1"}]]}', encoding="utf-8")
    assert main(["simulate", str(roomy), "--plan", str(plan), "--kill", kill]) == 2
    assert said in capsys.readouterr().err


def test_a_start_from_another_file_and_a_rasa_cluster_can_be_migrated(tmp_path, capsys):
    rasa = Path(__file__).parents[2] / "examples" / "rasa.json"
    snapshot = read(rasa)
    running = snapshot.placement.placed.tolist()
    start = tmp_path / "start.json"
    elsewhere = snapshot.placement.machine_of.copy()
    elsewhere[running[-1]] = -1
    write_placement(start, snapshot.cluster, Placement(machine_of=elsewhere))
    assert len(read_placement(rasa, snapshot.cluster).placed) == len(running)
    answer = answer_of(capsys, "migrate", rasa, "--start", start, "--to", rasa)
    assert (answer["details"]["complete"], answer["score"]["steps"], answer["placed"]) == (True, 1, 1)
