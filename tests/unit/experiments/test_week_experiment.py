"""A simulated week: cells are resumed, verdicts follow from the rows and can fail, and the page comes from the files."""

import pytest
from experiments.production import week, week_figures, week_pages, week_tables
from experiments.production.week_again import ITSELF, PART, Run, stepped
from experiments.production.week_cells import MEASURES, loop_settings, simulated
from experiments.production.week_settings import ALONE, LOCAL, NO_CAP, NO_GATE, STEADY, TINY, VARIANTS, Cell, Scope
from experiments.results import append, put, rows

HOUR = 1 / 24
END = {"executions": "2", "rolled_back": "0", "stopped": "0", "violations": "0", "cpu": "1", "wall": "1"}
END |= {"commit": "abc", "machine": "a machine"}
HERE = week.HERE


def fake_cell(variant, *, days="2", locals_=(0.8,), moved=(0,), fresh=0.82):
    """A cell of two days whose turns repeat these values."""
    head = {"cluster": "M3", "variant": variant, "seed": "0", "days": days}
    turns = []
    for number in range(round(48 * float(days)) + 1):
        row = dict.fromkeys(MEASURES, "") | {"turn": str(number), "containers": "1000", "held": "0", "cpu": "1.0", **head}
        row |= {"local": str(locals_[number % len(locals_)]), "moved": str(moved[number % len(moved)])}
        row |= {"fresh": str(fresh), "fresh_moved": "300"} if number % 48 == 0 and variant != ALONE else {}
        turns.append(row)
    return head | END, turns


def claims(cell, turns, alone):
    figures = week_figures.figures_of([*turns, *alone[1]], [alone[0], cell])
    return week_tables.claim_lines(figures, cell["variant"])[2:]


def test_every_variant_of_a_cell_is_a_setting_of_the_loop():
    for variant in VARIANTS:
        assert loop_settings(Cell(cluster=TINY, variant=variant)).acts
    assert loop_settings(Cell(cluster=TINY, variant=NO_GATE)).min_gain == 0
    assert loop_settings(Cell(cluster=TINY, variant=NO_CAP)).max_moves == "100%"
    assert {cell.variant for cell in Scope().cells()} == {ALONE, *VARIANTS}


def test_a_cell_has_a_row_for_each_turn_and_the_loop_keeps_more_traffic_local_than_the_scheduler_alone():
    ends = {}
    for variant in (ALONE, LOCAL):
        turns = []
        end = simulated(Cell(cluster=TINY, variant=variant, days=HOUR), turns.append)
        assert [row["turn"] for row in turns] == ["0", "1", "2"]
        assert end["violations"] == "0"
        ends[variant] = float(turns[-1]["local"])
    assert ends[LOCAL] > ends[ALONE] + 0.1


def test_what_was_measured_is_not_measured_again_and_turns_of_an_unfinished_cell_are_forgotten(tmp_path, capsys):
    week.main(["--quick", "--out", str(tmp_path)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {"week-turns.csv", "week-cells.csv", "week-steps.csv", "production-week.md", "production-week.svg"} <= set(before)
    some = rows(tmp_path / "week-turns.csv")[0]
    append(tmp_path / "week-turns.csv", tuple(some), [some | {"seed": "7"}])
    capsys.readouterr()
    week.main(["--quick", "--out", str(tmp_path)])
    assert "boutique" not in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_without_its_file_a_generated_cluster_stands_in_for_m3(monkeypatch, tmp_path):
    monkeypatch.setenv("BAYPLAN_DATA", str(tmp_path))
    assert {cell.cluster for cell in week.usable(list(Scope().cells()))} == {"rasa-m3", "rasa-m1"}


def test_plans_in_turn_go_on_from_one_another():
    second = stepped(Run(cluster=TINY, method=STEADY, start=ITSELF, number=2))
    assert stepped(Run(cluster=TINY, method=STEADY, start=ITSELF, number=1))["after"] == second["before"]
    part = stepped(Run(cluster=TINY, method=STEADY, start=PART, number=1))
    assert int(part["moved"]) <= int(part["answered"]) <= 0.05 * int(part["containers"])


@pytest.mark.parametrize(
    ("line", "good", "bad"),
    [
        (0, {"moved": (*[0] * 11, 9)}, {"moved": (0, 9)}),
        (1, {"fresh": 0.829}, {"fresh": 0.831}),
    ],
)
def test_each_claim_can_hold_and_can_fail(line, good, bad):
    alone = fake_cell(ALONE, locals_=(0.2,))
    assert claims(*fake_cell(LOCAL, **good), alone)[line].endswith("| reproduced |")
    assert claims(*fake_cell(LOCAL, **bad), alone)[line].endswith("| not reproduced |")


def test_what_an_execution_moves_is_judged_where_nothing_limits_it():
    for share, word in (((0, 49), "reproduced"), ((0, 50), "not reproduced")):
        cells = [fake_cell(ALONE), fake_cell(LOCAL), fake_cell(NO_CAP, moved=share)]
        figures = week_figures.figures_of([turn for _, turns in cells for turn in turns], [cell for cell, _ in cells])
        (line,) = [line for line in week_tables.claim_lines(figures, LOCAL) if "nothing limits them" in line]
        assert line.endswith(f"| {word} |")


def test_whether_the_loop_stays_near_a_fresh_optimisation_is_a_question_of_our_own():
    alone = fake_cell(ALONE, locals_=(0.2,))
    for fresh, word in ((0.829, "yes"), (0.831, "**no**")):
        lines = claims(*fake_cell(LOCAL, fresh=fresh), alone)
        assert any(line.startswith(f"- Within 3 points of a fresh optimisation of the same instant? {word}:") for line in lines)


def test_the_first_day_is_left_out_of_what_is_said_about_later_days():
    cell, turns = fake_cell(LOCAL, moved=(0,))
    turns[3]["moved"] = "900"
    figures = week_figures.figures_of(turns, [cell])[0]
    assert (figures.executions_first, figures.executions_later, figures.later_shares) == (1, 0.0, [])
    assert figures.shares == [0.9]


def test_the_tables_and_the_picture_in_the_docs_are_those_of_the_csv_files():
    measured = {name: rows(HERE / name) for name in (week_pages.TURNS, week_pages.CELLS, week_pages.AGAIN, week_pages.STEPS)}
    text = week_pages.DOCS.read_text(encoding="utf-8")
    for marker, lines in week_pages.blocks(measured).items():
        assert put(text, marker, lines) == text
    drawn = week_pages.picture(week_figures.figures_of(measured[week_pages.TURNS], measured[week_pages.CELLS]))
    assert (week_pages.PICTURES / week_pages.PICTURE).read_text(encoding="utf-8") == drawn


def test_every_measured_cell_has_all_its_turns_and_no_violation():
    cells, turns = rows(HERE / week_pages.CELLS), rows(HERE / week_pages.TURNS)
    for figures in week_figures.figures_of(turns, cells):
        assert len(figures.turns) == round(48 * float(figures.end["days"])) + 1
        assert figures.end["violations"] == "0"


def test_the_page_counts_the_plans_that_were_taken_back_for_errors_of_measurement():
    carried_out = [row for row in rows(HERE / "week-superseded.csv") if int(row["moved"])]
    taken_back = [row for row in carried_out if row["why"].startswith("rolled back")]
    assert (len(taken_back), len(carried_out)) == (2, 12)
    assert "two of the first twelve plans" in week_pages.DOCS.read_text(encoding="utf-8").replace("\n", " ")


def test_rasa_from_its_own_answer_moves_as_many_containers_as_the_page_says():
    runs = {row["number"]: row for row in rows(HERE / week_pages.AGAIN) if row["method"] == "rasa"}
    moved = {number: int(row["moved"]) / int(row["containers"]) for number, row in runs.items()}
    assert moved["2"] == pytest.approx(1 / 2, abs=0.03)
    assert float(runs["2"]["after"]) - float(runs["2"]["before"]) == pytest.approx(0.01 / 3, abs=0.001)
    assert moved["4"] == pytest.approx(2 / 5, abs=0.03)


def test_what_the_page_says_of_the_unfinished_week_follows_from_its_turns():
    turns = rows(HERE / "week-unfinished.csv")
    later = [row for row in turns if int(row["turn"]) >= 48]
    local = [float(row["local"]) for row in later]
    shares = [100 * int(row["moved"]) / int(row["containers"]) for row in later if int(row["moved"])]
    below = [100 * (float(row["fresh"]) - float(row["local"])) for row in later if row["fresh"]]
    assert len(turns) == 2 * 72
    assert sum(int(row["moved"]) > 0 for row in turns[:48]) == 10
    assert (round(sum(local) / len(local), 3), round(min(local), 3)) == (0.841, 0.817)
    assert ([round(share, 1) for share in shares], [round(points, 1) for points in below]) == ([2.1, 3.7], [1.1, 2.5])
    assert not any("rolled back" in row["why"] for row in turns)
