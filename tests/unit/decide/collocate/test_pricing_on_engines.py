"""Types of machines priced on engines: the answer of this process, and bounds that hold whatever is lost."""

import time
from dataclasses import replace

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem
from tests.builders.odd_engines import OddEngine, losing_every_worker, losing_one_worker
from tests.builders.three_services import problem_of
from tests.naive.collocate import most_gained

from bayplan.decide.collocate import bound as bounds
from bayplan.decide.collocate.bound import affinity_bound
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.columns.solve import run_columns
from bayplan.decide.collocate.subproblem import gained, violations
from bayplan.engine import engine_of, lazy
from bayplan.engine.lazy import LazyEngine
from bayplan.model import AntiAffinity, Capacity, silent
from bayplan.model.interrupt import stoppable

BOTH = Capacity(resources=(0, 1))


@pytest.fixture
def at_once(monkeypatch):
    """Whatever can be sent is sent."""
    monkeypatch.setattr(lazy, "START", 0.0)
    monkeypatch.setattr(lazy, "LEAST", -1.0)


def many_types(seed):
    """A subproblem with thirty types of machines, some of them larger than others in everything."""
    return drawn_subproblem(seed, workloads=14, machines=30, edges=40)


def generated(subproblem, engine=None, *, rounds=25, boxes=60, stop=lambda: False, prove=False):
    """A column generation after some rounds."""
    master = AffinityMaster(subproblem=subproblem, types=machine_types_of(subproblem))
    run = PricingRounds(master=master, seed=1, boxes=boxes, engine=LazyEngine() if engine is None else engine)
    for _ in range(rounds):
        if run.done or stop():
            break
        run.price(stop)
    if prove:
        run.prove(time.perf_counter() + 60.0)
    return run


def state(run):
    """All that the next round depends on."""
    master = run.master
    patterns = [(t, *pattern.tolist()) for t, pattern in zip(master.type, master.pattern, strict=True)]
    pricers = [(t, pricer.split.tolist(), pricer.nu.tolist()) for t, pricer in sorted(master._pricer.items())]
    return patterns, pricers, master.gain, run.bound, run.done, run.chance.tolist()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("slots", [2, 3, 7])
@pytest.mark.parametrize("seed", range(8))
def test_answers_in_any_order_change_nothing(seed, slots):
    odd = OddEngine(slots=slots, seed=seed)
    assert state(generated(many_types(seed), LazyEngine(odd), prove=True)) == state(generated(many_types(seed), prove=True))
    assert any(name.startswith("pricing of ") for name in odd.sent)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("size", [1, 4, 30])
def test_the_size_of_jobs_changes_nothing(size, monkeypatch):
    monkeypatch.setattr(LazyEngine, "pieces_at_once", lambda _self, _pieces: size)
    assert state(generated(many_types(2), LazyEngine(OddEngine()))) == state(generated(many_types(2)))


@pytest.mark.usefixtures("at_once")
def test_types_that_a_larger_one_spares_are_not_sent():
    """Equal machines but for what is free: the largest is priced first, and spares those that can do as well."""
    subproblem = many_types(3)
    share = np.linspace(1.0, 0.9, len(subproblem.machine))
    nested = replace(
        subproblem,
        free=(subproblem.free.max(axis=0) * 1000 * share[:, None]).astype(np.int64),
        request=subproblem.request * 1000,
        allow=np.ones_like(subproblem.allow),
        set_free=np.full_like(subproblem.set_free, 99),
        fixed=np.zeros_like(subproblem.fixed),
        now=np.zeros_like(subproblem.now),
    )
    one_by_one = OddEngine(slots=2)
    run = generated(nested, LazyEngine(one_by_one), boxes=3_000, rounds=40)
    assert state(run) == state(generated(nested, boxes=3_000, rounds=40))
    types = len(run.master.types.number)
    assert run.inputs.value.below.sum() == types * (types - 1) / 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("lost_after", [0, 1, 5, 40])
def test_an_engine_that_is_lost_changes_nothing_but_the_notes(lost_after):
    engine = LazyEngine(OddEngine(lost_after=lost_after))
    assert state(generated(many_types(4), engine)) == state(generated(many_types(4)))
    assert engine.notes == ("engine: engine 'odd' is lost: all at once; the rest was done in this process",)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("missing", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_a_bound_with_missing_pieces_is_never_below_the_optimum(seed, missing):
    subproblem = drawn_subproblem(seed, machines=3)
    types = machine_types_of(subproblem)
    run = PricingRounds(
        master=AffinityMaster(subproblem=subproblem, types=types),
        seed=seed,
        engine=LazyEngine(OddEngine(slots=2, seed=seed, missing=missing)),
    )
    optimum = most_gained(subproblem)
    for _ in range(6):
        run.price(lambda: False)
        assert run.bound >= optimum - 1e-12
        run.prove(time.perf_counter() + 5.0)
        assert run.bound >= optimum - 1e-12


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("seed", range(6))
def test_after_the_deadline_missing_types_make_no_bound(seed):
    """Time is over as soon as workers are asked, and half of what they say never comes."""
    subproblem = many_types(seed)
    odd = OddEngine(seed=seed, missing=0.5)
    run = generated(subproblem, LazyEngine(odd), rounds=12, stop=lambda: odd.answered > 0)
    assert odd.answered
    assert run.bound == np.inf or run.bound >= generated(subproblem, rounds=60, boxes=3_000).master.gain - 1e-9


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("workers", [2, 3])
def test_a_pool_gives_the_counts_of_this_process(workers):
    here = [run_columns(many_types(seed), seconds=np.inf, seed=seed, iterations=9) for seed in range(3)]
    with engine_of("pool") as pool:
        for seed, expected in enumerate(here):
            engine = LazyEngine(pool, workers=workers)
            answer = run_columns(many_types(seed), seconds=np.inf, seed=seed, iterations=9, engine=engine)
            assert (answer.counts == expected.counts).all()
            assert engine.notes == ()


@pytest.mark.usefixtures("at_once")
def test_a_lost_worker_is_repeated_and_noted(tmp_path, caplog):
    engine = LazyEngine(losing_one_worker("pool", tmp_path / "mark"), workers=2)
    with engine:
        assert state(generated(many_types(5), engine)) == state(generated(many_types(5)))
    assert len(engine.notes) == 1
    assert engine.notes[0].startswith("engine: job 'pricing of ")
    assert engine.notes[0].endswith("it is repeated elsewhere (attempt 2 of 3)")
    assert "was lost" in caplog.text


@pytest.mark.usefixtures("at_once")
def test_workers_that_are_lost_again_and_again_leave_the_work_to_this_process():
    engine = LazyEngine(losing_every_worker("pool"), workers=2)
    assert state(generated(many_types(6), engine, rounds=6)) == state(generated(many_types(6), rounds=6))
    assert engine.notes[-1].endswith("; the rest was done in this process")


@pytest.mark.usefixtures("at_once")
def test_the_deadline_holds_on_workers():
    subproblem = drawn_subproblem(7, workloads=40, machines=30, edges=200, most=8)
    began = time.perf_counter()
    answer = run_columns(subproblem, seconds=4.0, seed=1, engine=LazyEngine("pool", workers=2))
    assert time.perf_counter() - began < 12.0
    assert violations(subproblem, answer.counts) == []


@pytest.mark.usefixtures("at_once")
def test_a_stop_keeps_the_best_so_far():
    class Stopped(OddEngine):
        def stream(self, jobs, **options):
            for answer in super().stream(jobs, **options):
                yield answer
                stop.requested = True

    subproblem = drawn_subproblem(7, workloads=40, machines=30, edges=200, most=8)
    with stoppable() as stop:
        engine = Stopped()
        answer = run_columns(subproblem, seconds=120.0, seed=1, engine=LazyEngine(engine))
    assert engine.answered == 1
    assert violations(subproblem, answer.counts) == []
    assert gained(subproblem, answer.counts) > 0


# ---- bounds by blocks ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    """Two workloads in a block, so that there are several."""
    monkeypatch.setattr(bounds, "SMALLEST", 2)
    monkeypatch.setattr(bounds, "LARGEST", 2)


def tight(**options):
    """Three services that do not all fit onto one machine."""
    rules = BOTH, AntiAffinity(workloads=(0,), limit=2)
    return problem_of(rules=rules, capacity=6, **options)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_bound_of_affinity_holds_whatever_is_missing(seed, missing):
    engine = LazyEngine(OddEngine(slots=2, seed=seed, missing=missing))
    bound = affinity_bound(tight(), seconds=np.inf, rounds=10, progress=silent, engine=engine)
    sharp = affinity_bound(tight(), seconds=np.inf, rounds=10, progress=silent)
    assert bound is not None
    assert bound >= sharp - 1e-12 if missing else bound == sharp
