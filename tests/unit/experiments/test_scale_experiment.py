"""Scale: laws are those of the points, predictions those of the jobs, and the page says what the rows say."""

from math import inf

import pytest
from benchmarks import engines as engines_bench
from benchmarks import fleet as fleet_bench
from benchmarks import laws as laws_bench
from benchmarks import parts as parts_bench
from experiments.results import rows
from experiments.scale import pages, tables
from experiments.scale.laws import Law, fitted, newest
from experiments.scale.predict import EngineCosts, FleetFacts, engine_costs, given_up, predictions, validations
from experiments.scale.simulated_cluster import Work

SAME = {"commit": "abc", "machine": "2 cores, any", "run": "r"}
COSTS = EngineCosts(driver_seconds=0.01, round_trip=0.0, driver_bandwidth=1e9)


def filled(columns, **known):
    """A row in which everything that is not stated is 1."""
    return {**dict.fromkeys(columns, "1"), **SAME, **{name: str(value) for name, value in known.items()}}


def engine_row(case, engine, repetition=0, **known):
    return filled(engines_bench.COLUMNS, case=case, engine=engine, repetition=repetition, **{"same": "yes", **known})


def job(case, engine, name, seconds, containers=1000, **known):
    times = {"seconds": seconds, "made_s": 0, "unpacked_s": 0, "merged_s": 0.001, "containers": containers}
    return filled(engines_bench.JOB_COLUMNS, case=case, engine=engine, job=name, repetition=0, **{**times, **known})


def law_row(scale, containers, seconds, **known):
    times = {name: seconds for name in laws_bench.COLUMNS if name.endswith("_s")}
    about = {"series": "default", "scale": scale, "repetition": 0, "containers": containers}
    return filled(laws_bench.COLUMNS, **{**times, **about, **known})


def test_a_law_is_found_with_its_exponent_inside_of_the_interval():
    exact = fitted([(10.0**k, 3 * 10.0 ** (1.5 * k)) for k in range(3, 7)])
    assert exact is not None
    assert (exact.exponent, exact.low, exact.high, exact.factor) == pytest.approx((1.5, 1.5, 1.5, 3.0))
    assert exact.at(1e4) == pytest.approx(3e6)
    noisy = fitted([(1e3, 1.1), (1e4, 9.0), (1e5, 110.0), (1e6, 900.0)])
    assert noisy is not None and noisy.low < 1.0 < noisy.high and noisy.high - noisy.low > 0.05


def test_a_law_goes_on_at_least_linearly_beyond_what_was_measured():
    flat = fitted([(1e3, 300.0), (1e4, 310.0), (1e5, 400.0)])
    assert flat is not None and flat.at(1e6) < 500
    assert flat.beyond(1e6) == pytest.approx(4_000)
    assert flat.beyond(1e4) == flat.at(1e4)
    steep = fitted([(10.0**k, 10.0 ** (2 * k)) for k in range(3, 6)])
    assert steep is not None and steep.beyond(1e6) == pytest.approx(1e12)


def test_two_sizes_make_no_law():
    assert fitted([(1e3, 1.0), (1e3, 2.0), (1e4, 3.0)]) is None
    assert fitted([(1e3, 1.0), (1e4, 0.0), (1e5, 3.0)]) is None


def test_the_newest_row_counts():
    assert newest([{"a": "1", "b": "x"}, {"a": "2", "b": "y"}, {"a": "1", "b": "z"}], "a") == [
        {"a": "1", "b": "z"},
        {"a": "2", "b": "y"},
    ]


def test_costs_of_ray_come_from_jobs_that_do_nothing():
    empty = engine_row("jobs: empty", "ray", jobs=100, workers=3, driver_cpu_s=0.5, parallel_s=1.0)
    filled_in = engine_row("jobs: input", "ray", jobs=100, workers=3, driver_cpu_s=1.5, parallel_s=2.0, bytes_sent=1e8)
    costs = engine_costs([empty, filled_in])
    assert costs is not None
    assert costs.driver_seconds == pytest.approx(0.005)
    assert costs.round_trip == pytest.approx(3 * 1.0 / 100 - 0.005)
    assert costs.driver_bandwidth == pytest.approx(1e8)
    assert engine_costs([empty]) is None


def test_the_model_is_compared_with_runs_on_three_nodes_stage_by_stage():
    run = engine_row("fleet", "ray", workers=3, jobs=6, parallel_s=25, bytes_shared=0, bytes_sent=0, bytes_received=0)
    names = [f"{stage} of cluster {n}" for stage in ("front", "plan") for n in range(3)]
    jobs = [job("fleet", "ray", name, 12.0) for name in names] + [job("fleet", "here", name, 8.0) for name in names]
    (found,) = validations([run], jobs, EngineCosts(driver_seconds=0.0, round_trip=0.0, driver_bandwidth=inf))
    assert (found.measured, found.from_own_jobs, found.from_here) == pytest.approx((25.0, 24.0, 2 * 8.0 * 3 / 2))


def test_more_workers_never_take_longer_and_the_longest_job_is_the_least():
    work = Work(job_seconds=[100.0] * 9 + [300.0], shared_bytes=0, input_bytes=0, output_bytes=0)
    found = predictions([work], COSTS)
    seconds = [each.seconds for each in found]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] == pytest.approx(1200, rel=0.01) and seconds[-1] == pytest.approx(300, rel=0.01)
    assert all(each.disturbed >= each.seconds * 0.999 for each in found)


def test_a_fleet_has_all_its_containers_and_one_job_for_each_cluster():
    law = Law(0.001, 1.0, 1.0, 1.0, 3, 1e3, 1e5)
    facts = FleetFacts(law=law, spread=(1.0,), bytes_in=10.0, bytes_out=2.0, merge_seconds=1e-6)
    work = facts.work(seed=1, clusters=100, containers=10_000_000)
    assert len(work.job_seconds) == 100
    assert sum(work.job_seconds) == pytest.approx(10_000)
    assert work.output_bytes == 200_000


def test_a_job_is_given_up_after_three_losses():
    assert given_up(0.0, 100) == 0.0
    assert 0 < given_up(600.0, 100) < 100 * (600 / 86400) ** 3
    assert given_up(1e9, 1) == 1.0


def toy() -> dict[str, list[dict[str, str]]]:
    """Rows of all files, as benchmarks write them."""
    sizes = {0.01: 1_500, 0.1: 15_000, 1.0: 150_000, 6.0: 900_000}
    grown = [law_row(scale, n, n / 1000, parts=1, jobs=0) for scale, n in sizes.items()]
    grown += [
        law_row(f"{scale}p", n, n / 900, parts=4, jobs=8, streaming_s=n / 1000, series="small") for scale, n in sizes.items()
    ]
    costs = {"jobs: empty": 0.5, "jobs: input": 1.5}
    measured = [engine_row(case, arm, jobs=100, driver_cpu_s=cpu) for case, cpu in costs.items() for arm in ("pool", "ray")]
    measured += [engine_row(case, arm, jobs=6) for case in ("collocate", "fleet") for arm in ("here", "pool", "ray")]
    measured += [engine_row("fleet by seconds", arm, same="") for arm in ("here", "pool")]
    plans = [(f"plan of cluster {n}", n * 1.5, 1_000 * n) for n in range(1, 5)]
    jobs = [job("fleet", arm, name, seconds, size) for arm in ("here", "ray") for name, seconds, size in plans]
    jobs += [job("plan, M2 x 6", "pool", f"part {n} of 4", 30.0, 40_000) for n in range(1, 5)]
    parts = [filled(parts_bench.COLUMNS, cluster="rasa-m2", parts=n, local=0.5 - n / 100) for n in (1, 4)]
    fleets = [filled(fleet_bench.COLUMNS, fleet="any", arm=arm, gain=gain) for arm, gain in (("shared", 0.3), ("even", 0.2))]
    return {"laws": grown, "engines": measured, "jobs": jobs, "parts": parts, "fleet": fleets}


def test_the_page_has_a_section_and_a_picture_for_everything_measured():
    page, drawn = pages.made(toy())
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert len(headings) == 8
    assert set(drawn) == {"scale-time.svg", "scale-memory.svg", "scale-fleet.svg", "scale-parts.svg"}
    assert all(f"pictures/{name}" in page for name in drawn)
    assert "| read the file | 1.00 (1.00 to 1.00) | 4 | 1,500 to 900,000 |" in page
    assert "| rasa-m2 | 1 | 4 | 1 | 1 | 0.4600 | -6.1 % | 1.0 | 1 |" in page
    assert "+50.0 %" in page  # moves shared against evenly
    assert max(map(len, page.splitlines())) <= 160
    assert "nan" not in page and "inf " not in page


def test_an_answer_that_differs_is_shouted():
    same = [engine_row("collocate", arm) for arm in ("here", "pool")]
    assert "**no**" not in "\n".join(tables.engine_lines(same))
    assert "**no**" in "\n".join(tables.engine_lines([same[0], {**same[1], "same": "no"}]))


def test_without_rows_there_is_a_page_without_sections():
    page, drawn = pages.made({name: [] for name in pages.FILES})
    assert page.startswith("# How far it goes") and "## " not in page and drawn == {}


def test_the_page_in_the_docs_is_that_of_the_csv_files():
    if (pages.DOCS / "scale.md").exists():
        made, _ = pages.made({name: rows(home / f"{name}.csv") for name, home in pages.FILES.items()})
        assert (pages.DOCS / "scale.md").read_text(encoding="utf-8") == made
