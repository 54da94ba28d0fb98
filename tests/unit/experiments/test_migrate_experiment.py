"""Migrations: the instances are what they say, each plan is judged and measured once, the tables say what was reached."""

from itertools import product

import numpy as np
import pytest
from experiments.migrate import run, tables
from experiments.migrate.backwards import FULLNESS, backwards
from experiments.migrate.drawn import load_of
from experiments.migrate.targets import KINDS, Seats, figure_2, from_to, m3, m3_target, scattered
from experiments.results import rows

from bayplan.check import check
from bayplan.generate import GENERATORS

PLAN = {
    "moved": "100",
    "stuck": "0",
    "batches": "10",
    "bound": "8",
    "steps": "200",
    "hops": "100",
    "stopovers": "0",
    "surges": "3",
}
PLAN |= {
    "alive": "0.75",
    "peak": "1.0",
    "seconds": "4.0",
    "safe": "yes",
    "memory": "0.5",
    "commit": "abc",
    "machine": "a machine",
}


def fake(instance, method, seed=0, **other):
    return {**PLAN, "instance": instance, "method": method, "seed": str(seed), **other}


def claim(measured, start):
    return next(line for line in tables.plan_lines(measured) if line.startswith(f"- {start}"))


# ---- instances -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("style", "full"), [*product(("mixed", "large"), FULLNESS), ("surging", 0.98)])
def test_a_cluster_that_is_built_backwards_is_as_full_as_asked_and_valid_at_both_ends(style, full):
    migration = backwards(11, machines=8, moves=30, full=full, style=style)
    cluster, start = migration.cluster, migration.start.placement
    assert load_of(cluster, start.machine_of)[:, 0].sum() / cluster.machines.capacity[:, 0].sum() == pytest.approx(full, abs=0.01)
    assert migration.moving.sum() >= 20
    assert not check(cluster, start)
    assert not check(cluster, migration.target, start)


def test_a_scattered_fifth_keeps_the_rules_and_stands_elsewhere():
    snapshot = GENERATORS["rasa-m3"].make(seed=1)
    migration = from_to(snapshot, scattered(snapshot, 0.2, 1))
    assert migration.moving.mean() == pytest.approx(0.2, abs=0.001)
    assert not check(snapshot.cluster, migration.target, snapshot.placement)


def test_seats_are_taken_until_a_rule_says_no():
    migration = figure_2()
    seats = Seats(migration.cluster, migration.start.machine_of)
    assert seats.fits(3).tolist() == [False, False, True]
    assert seats.put(3, 2)
    assert seats.fits(3).tolist() == [False, False, False]
    assert not seats.put(3, None)


@pytest.mark.data
@pytest.mark.parametrize("kind", KINDS)
def test_most_containers_of_m3_move(data_folder, kind):
    migration = m3_target(kind, 0)
    cluster = migration.cluster
    used = load_of(cluster, migration.target.machine_of)[:, 0] / cluster.machines.capacity[:, 0]
    assert migration.moving.mean() > 0.94
    assert not check(cluster, migration.target, m3().placement)
    assert np.median(used) > (0.99 if kind == "anneal" else 0.9)
    assert m3_target(kind, 0, relabel=True).moving.sum() < migration.moving.sum()


# ---- tables --------------------------------------------------------------------------------------------------------------------


def test_the_worst_seed_decides_whether_half_the_batches_are_enough():
    pairs = [fake("m3-anneal", "waves", seed, batches=b) for seed, b in enumerate(("10", "12"))]
    theirs = [fake("m3-anneal", "rasa", seed, batches="22") for seed in range(2)]
    assert "**no**: 0.50 of them in the median, 0.55 at most, over 2 pairs" in claim([*pairs, *theirs], "M3, at most half")
    assert "yes: 0.45" in claim([pairs[0], theirs[0]], "M3, at most half")


def test_a_plan_that_is_late_or_has_stuck_containers_is_said():
    assert "? yes: 1 of 1" in claim([fake("m3-anneal", "waves")], "M3, a complete plan")
    assert "? **no**: 0 of 1" in claim([fake("m3-anneal", "waves", stuck="2")], "M3, a complete plan")
    assert "the slowest took 10.5 s" in claim([fake("m3-anneal", "waves", seconds="10.5")], "M3, a complete plan")
    assert "? **no**: at most 1.250" in claim([fake("m3-anneal", "waves", hops="125")], "M3, at most 1.2")


def test_an_unsafe_plan_is_said():
    assert "**no**: 1 of 2" in claim([fake("figure-2", "waves"), fake("figure-2", "rasa", safe="no")], "Is every plan safe")


def test_time_and_memory_of_the_largest_are_judged():
    assert "? yes: at most 4.0 s and 0.50 GiB" in claim([fake("m2-fifth", "waves")], "`rasa-m2`")
    assert "? **no**" in claim([fake("m2-fifth", "waves", memory="3.2")], "`rasa-m2`")


def test_the_share_that_is_solved_is_counted_by_fullness():
    shape = {"style": "mixed", "machines": "9", "containers": "99", "rules": "no"}
    some = [fake("", "waves", s, stuck=str(s % 2), full="0.95", **shape) for s in range(4)]
    lines = tables.backwards_lines([*some, fake("", "rasa", 9, full="1.00", **shape)])
    assert "| mixed | 95% | 4 | 50.0% | 10.0 |" in "\n".join(lines)
    assert any("**no**: 50.0% of 4" in line for line in lines)


# ---- runs ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_quick_run_is_judged_and_not_repeated(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    plans, random = rows(tmp_path / run.PLANS), rows(tmp_path / run.BACKWARDS)
    assert {row["safe"] for row in [*plans, *random]} == {"yes"}
    ours = [row for row in plans if row["method"] == "waves"]
    assert {row["stuck"] for row in ours} == {"0"}
    assert "| [FreeContainer] Figure 2 | `waves` | 1 | 3 | 1 of 1 | 0 |" in (tmp_path / "migrate.md").read_text(encoding="utf-8")
    monkeypatch.setattr(run, "in_a_process", lambda *_: pytest.fail("measured again"))
    monkeypatch.setattr(run, "planned", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_the_tables_in_the_docs_are_those_of_the_csv_files():
    text = tables.DOCS.read_text(encoding="utf-8")
    assert tables.written(text, rows(run.HERE / run.PLANS), rows(run.HERE / run.BACKWARDS)) == text
