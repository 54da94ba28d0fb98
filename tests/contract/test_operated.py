"""A slice of the stress tests of the running system: faults, churn, people and kills at once, and whether its judges notice.

The whole of it: `python -m tests.stress.operate --count 1000` and `python -m tests.stress.kills --count 200`.
"""

import pytest
from tests.builders.operated import Truth, cluster_faults, operation, record_faults
from tests.stress.kills import kills
from tests.stress.operate import main, row_of

from bayplan.check.operation import Instant
from bayplan.model.record import StepStatus
from bayplan.operate.stages.execute import execute

ONCE_WRONG = (7, 9, 15, 42, 45, 89, 103, 117, 179, 237, 817)  # each of these has shown a fault
OTHERS = range(2_000, 2_024)
LONG = {117, 817, *OTHERS[4:]}
SLICE = [pytest.param(seed, marks=pytest.mark.long) if seed in LONG else seed for seed in (*ONCE_WRONG, *OTHERS)]


@pytest.mark.parametrize("seed", SLICE)
def test_everything_that_goes_wrong_at_once_breaks_nothing(seed):
    assert row_of(seed).fault == ""


@pytest.mark.long
def test_a_run_that_is_started_again_goes_on_where_its_table_ends(tmp_path, capsys):
    table = tmp_path / "table.csv"
    assert main(["--count", "1", "--seed", "2000", "--out", str(table)]) == 0
    assert main(["--count", "2", "--seed", "2000", "--out", str(table)]) == 0
    assert [line.split(",")[0] for line in table.read_text().splitlines()] == ["seed", "2000", "2001"]
    assert "1 cases" in capsys.readouterr().out


@pytest.mark.long
def test_processes_that_are_killed_leave_a_record_that_is_true(tmp_path):
    rows = list(kills(10, 5, lambda number: str(tmp_path / f"{number}.db"), tmp_path))
    assert len(rows) == 10
    assert [row[-1] for row in rows if row[-1]] == []
    assert any(row[3] != "ended" for row in rows)


@pytest.mark.postgres
def test_processes_that_are_killed_leave_a_record_in_postgresql_that_is_true(tmp_path, postgres_server):
    rows = list(kills(4, 6, lambda number: postgres_server.address(), tmp_path))
    assert [row[-1] for row in rows if row[-1]] == []


# ---- the judges ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def made():
    """A plan that was carried out, and a true record of it."""
    o = operation(alive=1.0)
    execute(o.context, o.plan(web_0="m_1"))
    assert not list(record_faults(o.store, o.truth))
    return o


def test_the_judge_notices_a_step_that_was_never_made(made):
    assert [fault.split(" is ")[0] for fault in record_faults(made.store, Truth())] == ["create plan/0", "delete plan/1"]


def test_the_judge_notices_a_step_that_was_never_recorded(made):
    made.truth.see(Instant(at=0.0, cause="bayplan", kind="bound", uid="web-9", token="plan/9"))
    assert list(record_faults(made.store, made.truth)) == ["step plan/9 was made and never recorded"]


def test_the_judge_notices_a_step_that_was_made_twice(made):
    made.truth.see(Instant(at=0.0, cause="bayplan", kind="bound", uid="web-9", token="plan/0"))
    assert list(record_faults(made.store, made.truth)) == ["step plan/0 was made more than once"]


@pytest.mark.parametrize(("status", "words"), [(StepStatus.FAILED, "recorded as failed"), (StepStatus.BEGUN, "is not known")])
def test_the_judge_notices_a_step_that_is_recorded_wrongly(made, status, words):
    from dataclasses import replace

    made.store.end_steps([replace(step, status=status) for step in made.store.steps("plan")[:1]], made.context.fence)
    (fault,) = record_faults(made.store, made.truth)
    assert words in fault


def test_the_judge_notices_what_is_left_behind(made):
    live = made.cluster.live
    slot = next(live.every_slot())
    slot.first.gated = True
    live.add_second(slot).token = "plan/0"
    assert len(list(cluster_faults(live, ["plan"]))) == 3
