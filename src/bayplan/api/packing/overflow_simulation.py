"""How often machines would overflow, drawn on an engine: one job per block of machines, each with its own random numbers."""

from functools import partial

from bayplan.decide.pack.instance import UsageModel
from bayplan.engine import Engine, EngineLostError, Job, LossReport, Shared, log_loss
from bayplan.engine.jobs import LOG
from bayplan.model import FloatArray
from bayplan.score.monte_carlo import OverflowDraws, rates_in_turn
from bayplan.score.packing import Simulation

WORTHWHILE = 16  # blocks: fewer are drawn here before workers would have started


def simulation_on(
    usage: UsageModel, engine: Engine | None = None, *, workers: int = 1, lost: LossReport = log_loss
) -> Simulation:
    """How usage is drawn, on an engine if there is one. The rates are the same on any engine, with any number of workers."""
    draw = rates_in_turn if engine is None else partial(violation_rates_on, engine, workers=workers, lost=lost)
    return Simulation(samples=usage.samples, seed=usage.seed, draw=draw)


def violation_rates_on(
    engine: Engine, draws: OverflowDraws, *, workers: int = 1, lost: LossReport = log_loss, least: int = WORTHWHILE
) -> FloatArray:
    """(machine,) the share of draws with usage above capacity, as `rates_in_turn` gives it.

    What a stop or a lost engine left over is drawn here: a rate is never missing. `least`: blocks from which on the engine is
    asked.
    """
    if len(draws.blocks) < max(2, least):
        return rates_in_turn(draws)
    rate, left = draws.without_draws, set(range(len(draws.blocks)))
    shared = Shared(draws)
    jobs = (Job(name=f"block {number + 1}", call=block_rates, arguments=(shared, number)) for number in range(len(draws.blocks)))
    try:
        for number, rates in engine.stream(jobs, workers=workers, lost=lost):
            rate[draws.blocks[number]] = rates
            left.discard(number)
    except EngineLostError as error:
        LOG.warning("%s; the rest is drawn here", error)
    for number in sorted(left):
        rate[draws.blocks[number]] = draws.rates(number)
    return rate


def block_rates(draws: OverflowDraws, block: int) -> FloatArray:
    """The rates of the machines of a block."""
    return draws.rates(block)
