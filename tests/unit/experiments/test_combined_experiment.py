"""All goals at once beside one at a time: clusters are cut, answers shortened within the rules, verdicts follow from the rows."""

import json
import sys

import numpy as np
import pytest
from experiments.combined import claims, methods, run, settings, tables
from experiments.combined.cells import MEASURES, judged
from experiments.combined.clusters import known, part_of
from experiments.combined.kept_moves import best_moves
from experiments.combined.methods import expect_some_to_move
from experiments.combined.pages import blocks
from experiments.combined.rebalancer_answer import PYTHON, Found, problem_of, rebalancer
from experiments.combined.settings import ALL, CAPS, KEY, M3, RASA, REBALANCER, SWEEP, Cell, Scope
from experiments.migrate.targets import scattered
from experiments.results import rows

import bayplan as bp
from bayplan.check import check
from bayplan.errors import UsageError
from bayplan.generate import GENERATORS
from bayplan.model import Interference, Placement, Term, ints
from bayplan.score.goal.state_figures import state_figures

SOME = {**dict.fromkeys(MEASURES, "0"), "containers": "100", "fault": "", "migrated": "yes", "batches": "3", "cpu": "30"}
SOME |= {"commit": "abc", "machine": "a machine", "seconds": "30"}


def fake(method, *, cap="10%", seed=0, **other):
    return {**SOME, "cluster": M3, "method": method, "cap": cap, "seed": str(seed), **other}


def shop(workloads=4, machines=4):
    builder = bp.ClusterBuilder("four").machines("m-{}", machines, cpu=4, memory="8Gi")
    for w in range(workloads):
        builder = builder.workload(f"w-{w}", replicas=2, cpu=1, memory="1Gi", on=[f"m-{w % machines}", f"m-{(w + 1) % machines}"])
    return builder.traffic("w-0", "w-1", 3.0).traffic("w-2", "w-3", 1.0)


# ---- clusters ------------------------------------------------------------------------------------------------------------------


def test_a_part_of_a_cluster_has_what_runs_on_its_machines_and_the_rules_about_it():
    whole = shop().rule(bp.Interference(a=0, b=1, limit=1)).rule(bp.Interference(a=0, b=3, limit=1)).build()
    part = part_of(whole, ints([1, 2]))
    assert part.cluster.machines.name == ("m-1", "m-2")
    assert part.cluster.workloads.name == ("w-0", "w-1", "w-2")
    assert sorted(part.placement.machine_of.tolist()) == [0, 0, 1, 1]
    assert [(rule.a, rule.b) for rule in part.cluster.rules if isinstance(rule, Interference)] == [(0, 1)]
    assert state_figures(part.cluster, part.placement).machines == 2


def test_a_cluster_without_its_data_is_left_out_with_a_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BAYPLAN_DATA", str(tmp_path))
    assert not known(M3)
    assert "M3 left out" in capsys.readouterr().err
    assert known(settings.M1)


# ---- methods -------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated():
    return GENERATORS["rasa-m3"].make(seed=1)


@pytest.mark.parametrize("limit", [0, 1, 50])
def test_a_shortened_answer_makes_some_of_its_moves_and_violates_nothing(generated, limit):
    before, after = generated.placement, scattered(generated, 0.2, 1)
    objective = generated.objective.with_weights({Term.AFFINITY: 1.0})
    kept = best_moves(generated.cluster, before, after, objective, limit)
    moved = np.flatnonzero(kept.machine_of != before.machine_of)
    assert len(moved) == limit
    assert (kept.machine_of[moved] == after.machine_of[moved]).all()
    assert not check(generated.cluster, kept, before)


@pytest.mark.parametrize(("limit", "reached"), [(1, [0, 1, 2]), (2, [1, 1, 2])])
def test_a_machine_is_cleared_for_a_move_by_moves_of_the_same_answer(limit, reached):
    builder = bp.ClusterBuilder("three").machines("m-{}", 3, cpu=4, memory="8Gi").workload("large", cpu=3, memory="1Gi", on="m-0")
    builder = builder.workload("stays", cpu=1, memory="1Gi", on="m-1").workload("goes", cpu=3, memory="1Gi", on="m-1")
    snapshot = builder.traffic("large", "stays", 1.0).build()
    objective, after = snapshot.objective.with_weights({Term.AFFINITY: 1.0}), Placement(machine_of=ints([1, 1, 2]))
    assert best_moves(snapshot.cluster, snapshot.placement, after, objective, limit).machine_of.tolist() == reached


def test_collocate_is_not_asked_where_it_must_hold_what_has_traffic():
    expect_some_to_move(shop().build())
    held = shop()
    for a, b in ((0, 1), (2, 3)):
        held = held.rule(bp.Interference(a=a, b=b, limit=1))
    with pytest.raises(UsageError, match="of 8 containers with traffic 0 may move"):
        expect_some_to_move(held.build())


def test_rebalancer_is_asked_again_until_it_has_had_its_seconds_or_has_ended(monkeypatch):
    snapshot, asked = shop().build(), []

    def answer(snapshot, *, seconds, **_):
        asked.append(seconds)
        return Found(placement=snapshot.placement, cpu=4.0 if len(asked) == 1 else 12.0)

    monkeypatch.setattr(methods, "contention", lambda: 1.0)
    monkeypatch.setattr(methods, "rebalancer", answer)
    found = methods.answered(Cell(cluster="four", method=REBALANCER, cap="50%", seconds=10.0), snapshot)
    assert asked == pytest.approx([10.0, 32.5])
    assert found.cpu == 12.0


def test_rebalancer_is_given_the_weights_of_the_goal():
    snapshot = shop().rule(bp.AntiAffinity(workloads=(0, 1), limit=3)).build()
    problem = problem_of(snapshot)
    assert [weight for *_, weight in problem["traffic"]] == pytest.approx([0.75, 0.25])
    assert problem["apart"] == [[[0, 1], 3]]
    assert problem["price"] == pytest.approx(0.5 / 8)
    with pytest.raises(UsageError, match="interference"):
        problem_of(shop().rule(bp.Interference(a=0, b=1, limit=1)).build())


def test_the_answer_of_rebalancer_is_read_and_its_last_word_is_passed_on(monkeypatch, tmp_path):
    driver = tmp_path / "driver.py"
    driver.write_text(
        f"import json, sys; open(sys.argv[2], 'w').write({json.dumps(json.dumps({'assignment': {'c0': 'm3'}, 'cpu': 2}))})"
    )
    monkeypatch.setenv(PYTHON, sys.executable)
    monkeypatch.setattr("experiments.combined.rebalancer_answer.DRIVER", driver)
    found = rebalancer(shop().build(), max_moves=1, seconds=1.0, seed=0)
    assert (found.placement.machine_of[0], found.cpu) == (3, 2.0)
    driver.write_text("raise SystemExit('no such thing')")
    with pytest.raises(UsageError, match="no such thing"):
        rebalancer(shop().build(), max_moves=1, seconds=1.0, seed=0)


def test_a_state_is_judged_on_all_scores():
    snapshot = shop().build()
    row = judged(snapshot, snapshot.placement)
    assert (row["moved"], row["violated"], row["machines"]) == ("0", "0", "4")
    assert float(row["third"]) == pytest.approx(float(row["total_steady"]))


# ---- cells and tables ----------------------------------------------------------------------------------------------------------


def test_every_cell_is_asked_once_and_the_most_telling_first():
    keys = [cell.key for cell in Scope().cells()]
    assert len(set(keys)) == len(keys)
    assert keys[0] == (M3, "start", ALL, "0", "10")
    assert {key[2] for key in keys if key[1] == RASA} == {ALL, *CAPS}


def test_without_its_python_rebalancer_is_left_out_with_a_line(monkeypatch, capsys):
    monkeypatch.delenv(PYTHON, raising=False)
    cells = run.cells_of(settings.QUICK, (settings.TINY,))
    assert cells and all(cell.method != REBALANCER for cell in cells)
    assert PYTHON in capsys.readouterr().err


def test_the_claims_say_what_holds_and_what_does_not():
    measured = [
        fake("start", cap=ALL, local="0.1", paper="0.9"),
        fake("plan", seed=1, local="0.1", third="9", total_steady="9"),  # no other has this seed
        fake("plan", local="0.5", paper="0.5", third="-0.5", total_steady="-0.5"),
        fake("collocate-best", local="0.52", third="-0.4", total_steady="-0.4"),
        fake(RASA, local="0.6", third="-0.3", total_steady="-0.3"),
        fake(SWEEP, paper="0.4", third="0.1", total_steady="0.1"),
    ]
    line = " ".join(line for line in claims.claim_lines(measured) if line.startswith("| M3"))
    assert "yes (1 of 1 seeds): -0.5000 | `collocate`, best: -0.4000" in line
    assert "yes: 0.500, 0.520" in line
    assert "**no**: 0.500, 0.600 (80%)" in line
    assert "**no**: 0.500, 0.400" in line


def test_a_violated_rule_counts_more_than_any_total():
    better, worse = fake("plan", total_steady="0"), fake(SWEEP, violated="1", total_steady="-9")
    assert claims.rank(better) < claims.rank(worse)


def test_a_table_has_medians_over_seeds_and_says_what_was_not_answered():
    measured = [fake("plan", seed=seed, moved=str(10 + seed), local=f"0.{seed + 1}") for seed in range(3)]
    measured += [fake(RASA, fault="it does not know these rules")]
    lines = tables.cluster_lines(measured, M3)
    assert any("| 3 | 11.0% |" in line and "0.200" in line for line in lines)
    assert lines[-1] == "- `collocate`, rasa: it does not know these rules."
    assert list(blocks(measured)) == ["combined-claims", "combined-M3"]


def test_a_quick_run_measures_the_demo_shop_once(tmp_path, monkeypatch):
    monkeypatch.delenv(PYTHON, raising=False)
    monkeypatch.setattr(run, "measured", lambda cell: {**SOME, "method": cell.method})
    run.main(["--quick", "--out", str(tmp_path)])
    first = rows(tmp_path / run.CELLS)
    run.main(["--quick", "--out", str(tmp_path)])
    assert rows(tmp_path / run.CELLS) == first
    assert tuple(first[0])[: len(KEY)] == KEY
    assert Cell(cluster=settings.TINY, method="plan", cap="10%", seconds=1.0).key in {
        tuple(row[name] for name in KEY) for row in first
    }
    assert "combined-claims" in (tmp_path / "plan-combined.md").read_text()
