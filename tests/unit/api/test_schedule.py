"""What a schedule comes to in numbers, and what the bounds of a sweep prove together."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayplan as bp
from bayplan.api.files import read_requests
from bayplan.api.requests.schedule import solve
from bayplan.api.requests.sweep import sweep_machines
from bayplan.api.requests.timed_problem import comparable_forecast, timed_problem
from bayplan.cli.options.schedule_input import read_input, sweep_range
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.decide.schedule.machine_sweep import MachineSweep, fewest, proven_fewest
from bayplan.errors import UsageError
from bayplan.formats import read_served
from bayplan.model import Budget, Fleet, Resource, Schedule, Status, TimedRequests, silent
from bayplan.report.answers.schedule_page import SchedulePageData, schedule_page
from bayplan.report.answers.sweep_page import SweepPageData, sweep_page
from bayplan.report.answers.sweep_tables import fewest_words
from bayplan.report.pictures.sweep import share_curve, value_curve, worth_curve
from bayplan.score.machine_sweep import FewestMachines, SweepPoint, slopes, tightened
from bayplan.score.schedule_figures import schedule_figures
from bayplan.score.timed_load import areas, load_curve, load_factor, loads, thinned

EXAMPLES = Path(__file__).parents[3] / "examples"


def requests(n=6, **more):
    """Requests of one resource that all overlap, one after the other by a second."""
    start = np.arange(n, dtype=float)
    fields = {
        "name": tuple(f"r{i}" for i in range(n)),
        "resources": (Resource(name="cpu"),),
        "capacity": np.array([10]),
        "start": start,
        "end": start + 4,
        "demand": np.full((n, 1), 6),
        "value": np.ones(n),
    }
    return TimedRequests(**{**fields, **more})


# ---- numbers -------------------------------------------------------------------------------------------------------------------


def test_the_load_factor_is_formula_5():
    timed = requests(2, start=np.array([0.0, 5.0]), end=np.array([10.0, 20.0]), demand=np.array([[1], [3]]))
    assert load_factor(timed, Fleet.alike(2, timed.capacity)) == pytest.approx((0.1 * 10 + 0.3 * 15) / (2 * 20))
    assert np.isnan(load_factor(timed, Fleet.alike(0, timed.capacity)))
    assert areas(timed).tolist() == pytest.approx([1.0, 4.5])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_the_load_over_time_is_what_is_alive(rows):
    start = np.array([row[0] for row in rows], dtype=float)
    end = start + [row[1] for row in rows]
    timed = requests(len(rows), start=start, end=end, demand=np.array([[row[2]] for row in rows]))
    curve = load_curve(timed)
    for step, (low, high) in enumerate(zip(curve.time[:-1], curve.time[1:], strict=True)):
        middle = (low + high) / 2
        assert curve.load[step, 0] == sum(d for (s, length, d) in rows if s < middle <= s + length)
    thin = thinned(curve, 3)
    assert len(thin.load) <= max(3, min(3, len(curve.load)))
    assert thin.load.max() == curve.load.max()
    area = (np.diff(curve.time) * curve.load[:, 0]).sum()
    one = Fleet.alike(1, timed.capacity)
    assert loads(timed, one)[0] == pytest.approx(area / (10 * (end.max() - start.min())))


def test_figures_count_classes_and_kinds():
    timed = requests(4, priority=("10", "9", "gold", "9"), value=np.array([1.0, 2.0, 3.0, 4.0]))
    fleet = Fleet(kind=("a", "b"), machines=np.array([1, 2]), capacity=np.array([[10], [10]]))
    figures = schedule_figures(timed, fleet, Schedule(machine_of=np.array([0, 1, 2, -1])))
    assert [(row.name, row.requests, row.served, row.value) for row in figures.classes] == [
        ("9", 2, 1, 2.0),
        ("10", 1, 1, 1.0),
        ("gold", 1, 1, 3.0),
    ]
    assert [(row.name, row.machines, row.served, row.value) for row in figures.kinds] == [("a", 1, 1, 1.0), ("b", 2, 2, 5.0)]
    assert (figures.served, figures.value, figures.requested, figures.wide) == (3, 6.0, 10.0, 4)
    assert figures.resources[0].peak == pytest.approx(24 / 30) and figures.resources[0].peak_used == pytest.approx(18 / 30)


def test_every_fleet_and_every_value_is_the_users():
    read = read_input(EXAMPLES / "requests.csv", machines=None, fleet=EXAMPLES / "fleet.json", horizon=None)
    problem = timed_problem(read, profit={"prod": 10.0})
    assert problem.fleet.size == 3
    assert problem.requests.value.tolist() == [1, 5, 20]
    with pytest.raises(UsageError, match="no class 'x'; expected one of batch, prod"):
        timed_problem(read_requests(EXAMPLES / "requests.csv"), 1, profit={"x": 1.0})


def test_a_forecast_in_other_units_is_brought_to_the_same():
    timed = read_requests(EXAMPLES / "requests.json").requests
    other = read_requests(EXAMPLES / "requests.csv").requests
    forecast = comparable_forecast(other, timed.resources, weights="given", profit={})
    assert forecast.demand.tolist() == timed.demand.tolist()
    assert forecast.resources == timed.resources


# ---- sweeps --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "machines"), [("3:3", [3]), ("1:5:2", [1, 5, 3]), ("1:6:3", [1, 6, 4]), ("0:4", [0, 4, 2, 1, 3])]
)
def test_a_range_begins_with_its_ends(text, machines):
    assert sweep_range(text) == machines


def test_a_range_without_a_step_has_twenty_points_at_most():
    machines = sweep_range("50:1000")
    assert len(machines) == len(set(machines)) == 20
    assert machines[:2] == [50, 1000]


def point(machines, value, bound, price, served=0):
    return SweepPoint(machines=machines, served=served, value=value, bound=bound, price=price, seconds=0.0)


def test_bounds_of_other_numbers_of_machines_tighten():
    points = [point(1, 2.0, 9.0, 9.0), point(2, 3.0, 5.5, 1.0), point(4, 5.0, 7.0, 0.5)]
    assert [p.bound for p in tightened(points, 0.0)] == pytest.approx([4.5, 5.5, 7.0])  # 5.5 - 1, own, 5.5 + 2 is above
    assert [p.bound for p in tightened(points, 1.0)] == pytest.approx([5.0, 5.5, 7.0])  # a bound may have been rounded down


def test_a_bound_that_another_number_of_machines_has_proven_rises_by_the_price_there():
    points = [point(1, 2.0, 9.0, 0.1), point(2, 3.0, 5.5, 1.0), point(4, 5.0, 7.0, 0.5)]
    assert [p.price for p in tightened(points, 0.0)] == [1.0, 1.0, 0.5]


@pytest.mark.parametrize(("bound", "share"), [(False, 1.0), (True, 0.7)])
def test_a_method_in_a_sweep_gets_its_part_of_the_time(bound, share):
    seconds = []

    def watched(problem, options, *, budget, seed, progress):
        seconds.append(budget.seconds)
        return SCHEDULERS["cradle+"](problem, options, budget=budget, seed=seed, progress=progress)

    sweep = replace(sweep_of(requests(), "cradle+", bound=bound), scheduler=watched, clock=Budget(seconds=1000.0).clock())
    sweep.at(1, 0.5)
    assert 0.9 * 500 * share < seconds[0] <= 500 * share


@given(st.integers(1, 8), st.integers(0, 3))
def test_no_tightened_bound_is_below_what_is_possible(n, seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 6, n).astype(float)
    timed = requests(n, start=start, end=start + rng.integers(1, 5, n), demand=rng.integers(0, 11, (n, 1)))
    sweep = sweep_of(timed, "cradle+", bound=True)
    for machines in (1, 2, n):
        sweep.at(machines, 1.0)
    for found in tightened(sweep.points, sweep.unit):
        problem = ScheduleProblem.alike(timed, found.machines)
        best = SCHEDULERS["ilp"](problem, ScheduleOptions(), budget=Budget(seconds=5.0), seed=0, progress=silent)
        assert best.score["value"] <= found.bound * (1 + 1e-9)


def sweep_of(timed, method, *, bound=False):
    return MachineSweep(
        requests=timed,
        options=ScheduleOptions(bound=bound),
        method=method,
        scheduler=SCHEDULERS[method],
        seed=0,
        known={},
        clock=Budget(seconds=None).clock(),
    )


def test_the_fewest_machines_are_found_by_doubling_and_halving():
    whole = requests(20, demand=np.full((20, 1), 10))  # four overlap at any time, each takes a whole machine
    sweep = sweep_of(whole, "cradle+", bound=True)
    found = fewest(sweep, 1.0, lambda: False)
    assert (found.machines, found.served, found.at_least) == (4, 1.0, 4)
    assert found.one_less < 1.0
    assert proven_fewest(sweep, 0.05) is None  # one machine serves that much


def test_requests_of_different_values_prove_no_number_of_machines():
    sweep = sweep_of(requests(5, value=np.arange(5.0)), "cradle+", bound=True)
    sweep.at(1, 1.0)
    assert proven_fewest(sweep, 1.0) is None


def test_a_method_gets_its_bound_only_if_it_is_wanted():
    timed = requests(3)
    problem, spread = ScheduleProblem.alike(timed, 1), SCHEDULERS["spread"]
    answers = [
        solve(problem, ScheduleOptions(bound=bound), spread, budget=Budget(seconds=5.0), seed=0, progress=silent)
        for bound in (False, True)
    ]
    assert answers[0].bound is None
    assert answers[1].bound == answers[1].score["value"] == 1 and answers[1].status is Status.OPTIMAL


def test_what_one_more_adds_is_the_difference_per_machine():
    assert slopes([point(1, 2.0, None, None), point(5, 10.0, None, None)]) == [2.0, None]
    assert slopes([]) == []
    assert point(1, 2.0, 3.0, None).gap == 0.5
    assert point(1, 0.0, 3.0, None).gap is None


def test_the_fewest_machines_are_said_in_words():
    said = fewest_words(FewestMachines(share=0.95, machines=412, served=0.9502, one_less=0.949, at_least=380))
    assert said == "412 machines for 95 %: they serve 95.02 %, one less serves 94.9 %; proven: fewer than 380 never do"
    assert "not reached" in fewest_words(FewestMachines(share=0.95, machines=None, served=0.5, one_less=None, at_least=None))


# ---- pages ---------------------------------------------------------------------------------------------------------------------


def page_data(timed, machines):
    problem = ScheduleProblem.alike(timed, machines)
    result = SCHEDULERS["cradle+"](problem, ScheduleOptions(), budget=Budget(seconds=5.0), seed=0, progress=silent)
    return SchedulePageData(
        name="a <day>",
        requests=timed,
        fleet=problem.fleet,
        served=result.solution.machine_of >= 0,
        result=result,
        figures=schedule_figures(timed, problem.fleet, result.solution),
        notes=("a <note>",),
    )


def test_a_page_shows_loads_classes_and_reasons_and_escapes_names():
    timed = requests(6, priority=("<b>gold", "tin", "tin", "tin", "tin", "tin"))
    page = schedule_page(page_data(timed, 1), made={"command": "bayplan schedule x"})
    assert "&lt;b&gt;gold" in page and "<b>gold" not in page
    assert "a &lt;note&gt;" in page
    for words in ("load over time", "Which classes are served?", "Not served, and why", "capacity"):
        assert words in page


def test_a_page_about_nothing_says_so():
    page = schedule_page(page_data(requests(0, demand=np.zeros((0, 1))), 2), made={})
    assert "Nothing is requested." in page and "every request is served" in page


def test_a_page_of_a_sweep_has_its_three_curves():
    points = [point(1, 2.0, 3.0, 1.5, 2), point(4, 5.0, 5.0, 0.0, 5)]
    found = FewestMachines(share=0.9, machines=3, served=0.9, one_less=0.8, at_least=2)
    page = sweep_page(
        SweepPageData(name="day", method="cradle+", requests=5, requested=5.0, points=points, fewest=found), made={}
    )
    assert page.count("<svg") == 3
    assert "3 for 90" in page and "proven: fewer than 2 never do" in page


@pytest.mark.parametrize("points", [[], [point(3, 1.0, None, None, 1)]])
def test_curves_of_few_points_are_drawn(points):
    for picture in (value_curve(points, requested=1.0), share_curve(points, 2, None), worth_curve(points)):
        assert picture.startswith("<svg") and "nan" not in picture


# ---- the library ---------------------------------------------------------------------------------------------------------------


def test_an_answer_counts_saves_and_shows_itself(tmp_path):
    timed = requests(6)
    answer = bp.schedule(timed, machines=1)
    assert answer.placed == int(answer.served.sum()) == answer.figures.served
    assert answer.score["value"] <= answer.bound and "serves" in answer.summary() and "serves" in answer._repr_html_()
    answer.save(tmp_path / "served.json")
    answer.report(tmp_path / "page.html", command="bp.schedule(...)")
    assert len(read_served(tmp_path / "served.json", timed).served) == answer.placed
    assert "bp.schedule(...)" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, "expected machines or fleet"),
        ({"machines": 1, "fleet": Fleet.alike(1, [10])}, "exclude each other"),
        ({"machines": 1, "profit": {"gold": 2.0}}, "the requests have no classes"),
        ({"machines": 1, "capacity": {"cpus": 4}}, "did you mean 'cpu'"),
        ({"machines": 1, "weights": "areas"}, "did you mean 'area'"),
        ({"machines": 1, "forecast": requests(2)}, "forecast is for the method online"),
        ({"machines": 1, "forcast": None, "forecasts": 3}, "did you mean 'forecast'"),
    ],
)
def test_arguments_that_cannot_be_are_refused(keywords, words):
    with pytest.raises(UsageError, match=words):
        bp.schedule(requests(3), **keywords)


def test_a_sweep_is_saved_and_resumed(tmp_path):
    file = tmp_path / "sweep.json"
    first = sweep_machines(requests(6), [1, 2], checkpoint=file)
    assert [point.machines for point in first.points] == [1, 2] and first.complete and file.is_file()
    again = sweep_machines(requests(6), [1, 2, 3], resume=file)
    assert [point.machines for point in again.points] == [1, 2, 3]
    assert again.computed[:2] == first.computed
    with pytest.raises(UsageError, match="is a sweep of something else"):
        sweep_machines(requests(7), [1], resume=file)
    assert again.to_dict()["details"]["sweep"][0]["machines"] == 1


@pytest.mark.parametrize("number", [-1, 2**53])
def test_a_number_of_machines_that_cannot_be_is_refused(number):
    with pytest.raises(bp.UsageError, match=rf"machines {number}: expected 0 to"):
        sweep_machines(bp.generate("requests", n=200, machines=4, load=2.0), [2, number])
