"""Every kind of rule is known to all its readers: referee, files, explanation, search, placing, migration, bound, pages.

A new rule needs an example here; `docs/extending/rule.md` lists the places that must know it.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import jsonschema
import pytest
import yaml

from bayplan import formats
from bayplan.check import check, check_migration
from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.formats.native import SNAPSHOT, native_document
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import RULES, UNPLACED, Budget, Migration, MigrationPolicy, Placement, Running, Snapshot, ints, silent
from bayplan.model.problem import Problem
from bayplan.score.bound import lower_bound
from bayplan.score.explain import explain
from bayplan.score.terms import weighted

ROOT = Path(__file__).parents[2]
BUDGET = Budget(iterations=200)
CLUSTER = """
bayplan: 1
resources: {cpu: {}}
levels: [zone]
machines:
- {name: m-0, capacity: {cpu: 4}, at: {zone: east}}
- {name: m-1, capacity: {cpu: 4}, at: {zone: east}}
- {name: m-2, capacity: {cpu: 4}, at: {zone: west}}
machine_sets: {fast: [m-0, m-1]}
workloads:
- {name: a, request: {cpu: 1}, usage: {cpu: {mean: 1, std: 0.5}}, containers: 2}
- {name: b, request: {cpu: 2}, usage: {cpu: {mean: 1, std: 0.5}}, containers: 2}
traffic: [[a, b, 1]]
"""


@dataclass(frozen=True)
class Example:
    """A rule on the cluster above, a placement of a-0, a-1, b-0, b-1 that keeps it and one that does not."""

    rule: str
    kept: tuple[int, ...]
    violated: tuple[int, ...]
    blocked: tuple[int, int] | None  # from `kept`, a container and a machine that the rule closes to it
    other: tuple[int, ...]  # another placement that keeps it, for a migration
    moved: tuple[int, ...] | None = None  # where containers run when `blocked` is explained, if not as in `kept`


EXAMPLES = {
    "capacity": Example("{rule: capacity, resources: [cpu]}", (0, 1, 0, 1), (0, 0, 0, 0), (2, 1), (0, 2, 0, 2)),
    "anti-affinity": Example("{rule: anti-affinity, workloads: [a], limit: 1}", (0, 1, 0, 1), (0, 0, 1, 1), (0, 1), (1, 2, 1, 2)),
    "spread": Example("{rule: spread, service: a, minimum: 2, level: zone}", (0, 2, 0, 1), (0, 1, 0, 1), (1, 1), (1, 2, 1, 0)),
    "skew": Example("{rule: skew, workload: a, limit: 1, level: zone}", (0, 2, 0, 1), (0, 1, 0, 1), (1, 1), (1, 2, 1, 0)),
    "co-locate": Example("{rule: co-locate, containers: [a-0, b-0]}", (0, 1, 0, 1), (0, 1, 1, 2), None, (2, 1, 2, 1)),
    "allow": Example("{rule: allow, workloads: [a], machines: fast}", (0, 1, 0, 1), (2, 1, 0, 1), (0, 2), (1, 0, 2, 1)),
    "dependency": Example("{rule: dependency, service: a, on: b}", (0, 1, 0, 1), (2, 1, 0, 1), (0, 2), (0, 0, 0, 1)),
    "transient": Example(
        "{rule: transient, resource: cpu, mode: joint}", (0, 0, 1, 1), (1, 0, 2, 1), (0, 1), (2, 0, 1, 1), (0, 0, 2, 1)
    ),
    "interference": Example("{rule: interference, a: a, b: b, limit: 0}", (0, 0, 1, 2), (0, 1, 1, 2), (0, 1), (0, 0, 2, 1)),
    "pinned": Example("{rule: pinned, containers: [a-0]}", (0, 1, 0, 1), (1, 1, 0, 1), (0, 1), (0, 2, 0, 1)),
    "confidence": Example("{rule: confidence, resource: cpu, alpha: 0.99}", (0, 1, 0, 1), (0, 0, 0, 0), (1, 0), (0, 2, 0, 1)),
}
REASON = {"capacity": "short of cpu", "allow": "not in set"}  # how an explanation begins, if not with the kind
ABOUT_MOVES = ("transient", "pinned")  # these compare with where containers ran before

every_rule = pytest.mark.parametrize("kind", RULES)


def snapshot_of(kind: str, tmp_path: Path) -> Snapshot:
    text = CLUSTER
    if kind == "confidence":
        text = text.replace("capacity: {cpu: 4}", "capacity: {cpu: 5}").replace("mean: 1,", "mean: 1.2,")
    rules = "" if kind == "capacity" else "- {rule: capacity}\n"
    path = tmp_path / "cluster.yaml"
    path.write_text(f"{text}rules:\n{rules}- {EXAMPLES[kind].rule}\n", encoding="utf-8")
    return replace(formats.read(path), placement=at(EXAMPLES[kind].kept))


def at(machines: tuple[int, ...]) -> Placement:
    return Placement(machine_of=ints(machines))


def migration_to(snapshot: Snapshot, target: tuple[int, ...], alive: float) -> Migration:
    start, policy = Running.of(snapshot.placement), MigrationPolicy(alive=alive)
    return Migration(cluster=snapshot.cluster, start=start, target=at(target), policy=policy)


def violated_kinds(snapshot: Snapshot, placement: Placement) -> set[str]:
    return {violation.rule for violation in check(snapshot.cluster, placement, snapshot.placement)}


def test_every_rule_has_an_example():
    assert set(EXAMPLES) == set(RULES)


@every_rule
def test_the_referee_tells_kept_from_violated(kind, tmp_path):
    snapshot, example = snapshot_of(kind, tmp_path), EXAMPLES[kind]
    assert violated_kinds(snapshot, at(example.kept)) == set()
    assert kind in violated_kinds(snapshot, at(example.violated))
    if kind not in ABOUT_MOVES:
        assert kind in {violation.rule for violation in check(snapshot.cluster, at(example.violated))}


@every_rule
def test_files_keep_it_and_the_schema_describes_it(kind, tmp_path):
    snapshot = snapshot_of(kind, tmp_path)
    document = json.loads(json.dumps(native_document(snapshot)))
    jsonschema.Draft202012Validator(SNAPSHOT).validate(document)
    formats.write(snapshot, tmp_path / "again.json")
    assert formats.read(tmp_path / "again.json").cluster.rules == snapshot.cluster.rules
    stated = yaml.safe_load(EXAMPLES[kind].rule)
    document["rules"] = [{**stated, "no-such-key": 1}]
    assert not jsonschema.Draft202012Validator(SNAPSHOT).is_valid(document)


@every_rule
def test_an_explanation_names_it_for_the_machine_that_it_closes(kind, tmp_path):
    snapshot, example = snapshot_of(kind, tmp_path), EXAMPLES[kind]
    if example.blocked is None:
        pytest.skip("co-located containers are explained together: the rule closes no machine")
    container, machine = example.blocked
    explanation = explain(snapshot.cluster, at(example.moved or example.kept), container, snapshot.placement)
    why = explanation.why[snapshot.cluster.machines.name[machine]]
    assert why.startswith(REASON.get(kind, kind))


@every_rule
@pytest.mark.parametrize("method", REBALANCERS)
def test_no_rebalancer_violates_it(kind, method, tmp_path):
    snapshot = snapshot_of(kind, tmp_path)
    result = REBALANCERS[method](Problem.of(snapshot), RebalanceOptions(), budget=BUDGET, seed=0, progress=silent)
    assert result.solution is not None and violated_kinds(snapshot, result.solution) == set()


@every_rule
def test_the_search_does_not_make_a_violation_worse(kind, tmp_path):
    snapshot, example = snapshot_of(kind, tmp_path), EXAMPLES[kind]
    start = replace(snapshot, placement=at(example.violated))
    if kind in ABOUT_MOVES:
        pytest.skip("a start cannot violate a rule about moves")
    result = REBALANCERS["search"](Problem.of(start), RebalanceOptions(), budget=BUDGET, seed=0, progress=silent)
    assert result.solution is not None
    assert not {violation.rule for violation in check(snapshot.cluster, result.solution)}, "three machines suffice to repair it"


@every_rule
@pytest.mark.parametrize("method", PLACERS)
def test_no_placer_violates_it(kind, method, tmp_path):
    snapshot = snapshot_of(kind, tmp_path)
    empty = replace(snapshot, placement=at((UNPLACED,) * 4))
    result = PLACERS[method](Problem.of(empty), PlaceOptions(), budget=BUDGET, seed=0, progress=silent)
    assert result.solution is not None and not check(snapshot.cluster, result.solution)


@every_rule
def test_collocation_does_not_violate_it(kind, tmp_path):
    snapshot = snapshot_of(kind, tmp_path)
    options = CollocateOptions(engine="here")
    result = COLLOCATORS["best"](Problem.of(snapshot), options, budget=BUDGET, seed=0, progress=silent)
    assert result.solution is not None and violated_kinds(snapshot, result.solution) == set()


@every_rule
@pytest.mark.parametrize("method", MIGRATORS)
def test_every_state_of_a_migration_keeps_it(kind, method, tmp_path):
    snapshot, example = snapshot_of(kind, tmp_path), EXAMPLES[kind]
    migration = migration_to(snapshot, example.other, alive=0.5)
    result = MIGRATORS[method](migration, MigrateOptions(), budget=BUDGET, seed=0, progress=silent)
    assert result.solution is not None and result.solution.batches
    assert not check_migration(migration, result.solution).violations


@every_rule
def test_a_target_that_violates_it_is_refused(kind, tmp_path):
    snapshot, example = snapshot_of(kind, tmp_path), EXAMPLES[kind]
    migration = migration_to(snapshot, example.violated, alive=0.0)
    result = MIGRATORS["waves"](migration, MigrateOptions(), budget=BUDGET, seed=0, progress=silent)
    assert result.solution is None or not result.solution.batches


@every_rule
def test_the_lower_bound_is_below_a_placement_that_keeps_it(kind, tmp_path):
    snapshot = snapshot_of(kind, tmp_path)
    bound = lower_bound(snapshot.cluster, snapshot.objective, snapshot.placement)
    for machines in (EXAMPLES[kind].kept, EXAMPLES[kind].other):
        cost = weighted(snapshot.cluster, at(machines), snapshot.objective, snapshot.placement)
        assert bound is not None and bound <= cost + 1e-9


@every_rule
def test_pages_explain_it(kind):
    model, referee, files = (
        (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("model.md", "verbs/check.md", "formats.md")
    )
    assert f"`{RULES[kind].__name__}(" in model
    assert f"**{kind}**" in referee
    assert f"{{rule: {kind}," in files
