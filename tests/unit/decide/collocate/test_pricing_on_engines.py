"""Types of machines priced on engines: the answer of this process, and bounds that hold whatever is lost."""

import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem
from tests.builders.odd_engines import OddEngine, losing_one_worker
from tests.naive.collocate import most_gained

import bayplan as bp
from bayplan.check import check
from bayplan.decide.collocate import bound as bounds
from bayplan.decide.collocate.bound import affinity_bound
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, machine_types_of
from bayplan.decide.collocate.columns.rounds import PricingRounds
from bayplan.decide.collocate.columns.solve import run_columns
from bayplan.decide.collocate.subproblem import gained, violations
from bayplan.engine import engine_of, lazy
from bayplan.engine.lazy import LazyEngine
from bayplan.model import Placement, ints, silent
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem
from bayplan.score.affinity import gained_affinity


@pytest.fixture
def at_once(monkeypatch):
    """Whatever can be sent is sent."""
    monkeypatch.setattr(lazy, "START", 0.0)
    monkeypatch.setattr(lazy, "LEAST", -1.0)


def many_types(seed):
    """A subproblem with thirty types of machines, some of them larger than others in everything."""
    return drawn_subproblem(seed, workloads=14, machines=30, edges=40)


def generated(subproblem, engine=None, *, rounds=10, boxes=40, stop=lambda: False, prove=False):
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
@pytest.mark.parametrize("slots", [2, 7])
@pytest.mark.parametrize("seed", range(4))
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
def test_types_that_a_larger_one_spares_change_nothing():
    """Equal machines but for what is free: what workers price of smaller ones before the larger one is known is not used."""
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
    run = generated(nested, LazyEngine(one_by_one), rounds=15)
    assert state(run) == state(generated(nested, rounds=15))
    types = len(run.master.types.number)
    assert run.inputs.value.below.sum() == types * (types - 1) / 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("lost_after", [0, 1, 20])
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
    assert run.bound == np.inf or run.bound >= generated(subproblem, rounds=20).master.gain - 1e-9


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("workers", [2, 3])
def test_a_pool_gives_the_counts_of_this_process(workers):
    here = [run_columns(many_types(seed), seconds=np.inf, seed=seed, iterations=6) for seed in range(2)]
    with engine_of("pool") as pool:
        for seed, expected in enumerate(here):
            engine = LazyEngine(pool, workers=workers)
            answer = run_columns(many_types(seed), seconds=np.inf, seed=seed, iterations=6, engine=engine)
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
def pairs(monkeypatch):
    """Blocks of two workloads, so that there are several."""
    monkeypatch.setattr(bounds, "SMALLEST", 2)
    monkeypatch.setattr(bounds, "LARGEST", 2)


def four_pairs():
    """Four pairs of workloads on two machines of different size, too small for all of them; two edges between pairs."""
    builder = bp.ClusterBuilder("pairs", resources=["cpu"]).machine("m-0", cpu=5).machine("m-1", cpu=4)
    for n in range(4):
        builder = builder.workload(f"a-{n}", cpu=1, on=f"m-{n % 2}").workload(f"b-{n}", cpu=1, on=f"m-{1 - n % 2}")
        builder = builder.traffic(f"a-{n}", f"b-{n}", 4.0 + n)
    snapshot = builder.traffic("a-0", "b-1", 1.0).traffic("a-2", "b-3", 2.0).anti_affinity(["a-0", "b-0"]).build()
    return Problem.of(snapshot)


def most_by_trying(problem):
    """The most affinity of all placements that violate nothing."""
    placements = (Placement(machine_of=ints(each)) for each in product(range(2), repeat=8))
    return max(gained_affinity(problem.cluster, each) for each in placements if not check(problem.cluster, each))


def bound_of(engine=None, progress=silent):
    return affinity_bound(four_pairs(), seconds=np.inf, rounds=10, progress=progress, engine=engine)


@pytest.mark.usefixtures("at_once", "pairs")
@pytest.mark.parametrize("slots", [2, 3])
def test_blocks_on_workers_give_the_bound_of_this_process(slots):
    odd, ticks = OddEngine(slots=slots), []
    assert bound_of(LazyEngine(odd), ticks.append) == bound_of() < 1.0
    assert [name for name in odd.sent if name.startswith("bound of block ")]
    assert all(tick.stage == "bounding" and 0.0 <= tick.done <= 1.0 for tick in ticks)
    assert [tick.score for tick in ticks] == sorted((tick.score for tick in ticks), reverse=True)


@pytest.mark.usefixtures("at_once", "pairs")
@pytest.mark.parametrize("answers", range(8))
@pytest.mark.parametrize("seed", range(3))
def test_a_block_that_is_missing_in_the_end_counts_in_full(seed, answers):
    class Stopped(OddEngine):
        def stream(self, jobs, **options):
            for answer in super().stream(jobs, **options):
                yield answer
                stop.requested = self.answered >= answers

    optimum, sharp = most_by_trying(four_pairs()), bound_of()
    with stoppable() as stop:
        bound = bound_of(LazyEngine(Stopped(slots=2, seed=seed)))
    assert optimum <= sharp <= bound <= 1.0


@pytest.mark.usefixtures("at_once", "pairs")
@pytest.mark.parametrize("missing", [0.3, 0.7, 1.0])
def test_a_block_that_is_lost_is_bounded_here_if_there_is_time(missing):
    assert bound_of(LazyEngine(OddEngine(slots=2, seed=4, missing=missing))) == bound_of()


@pytest.mark.usefixtures("at_once", "pairs")
def test_an_engine_lost_while_blocks_are_bounded_gives_a_bound_and_a_note():
    engine = LazyEngine(OddEngine(lost_after=3))
    assert bound_of(engine) == bound_of()
    assert engine.notes == ("engine: engine 'odd' is lost: all at once; the rest was done in this process",)


@pytest.mark.usefixtures("at_once", "pairs")
def test_a_stop_ends_a_bound_with_what_is_proven():
    with stoppable() as stop:
        stop.requested = True
        assert bound_of() == 1.0


def test_rounds_alone_give_the_same_bound_each_time():
    assert bound_of() == bound_of() >= most_by_trying(four_pairs())
