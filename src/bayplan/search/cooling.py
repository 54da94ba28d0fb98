"""Temperatures and rounds of an annealing, and the price of unmet dependencies.

The temperature falls geometrically from a multiple of the mean cost of a random move. While it is high, dependencies that
hinder many moves may be violated for a price that follows the temperature; later no more may be violated, and the price of
those that are rises. If some are still unmet late in the walk, it is heated up once more, without that freedom.

A walk is one long annealing, and where there is time for more, shorter ones from the best placement so far. A further round
begins at the best placement that any walker has seen, at a lower first temperature, and with noise: at first the load of all
resources but one costs more or less than it truly does. Compared in the same steps (experiments/rounds, table in
docs/verbs/rebalance.md): from PLENTY on, several rounds cost 0.2 to 0.5 % less than one on clusters of some ten machines; with a
quarter of it or less they cost more, up to half a percent and beyond. Noise neither helps nor harms on average.
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from bayplan.model import FloatArray

HOT = 2.0  # first temperature of a long walk, in mean prices of a random move
COLD = 0.01  # last temperature: of the random moves that cost more, this share costs no more than it
SHORT, LONG = 0.1, 1.0  # ease: where it is less than SHORT, the walk begins at its last temperature; from LONG on at the first
TINY = 1e-300
QUENCH = 0.97  # of the walk; from there on only improvements are accepted
UNMET_PRICE = 0.1  # price of a unmet dependency, in temperatures ...
FLOOR = 0.0125  # ... but at least this, in mean prices of a random move ...
RISE, RISES = 1_000.0, 0.4  # ... times up to so much, from this part of the walk on
HINDERED = 0.2  # of random moves that dependencies forbid: where it is less, they are never violated
LOOSE = 0.05  # temperature, in mean prices of a random move, below which no more dependencies may be violated
LATE, BACK_TO = 0.6, 0.25  # if dependencies are unmet then, the walk goes on from here
WARM = 0.4  # the logarithm of a further round's first temperature is here between those of the first and the last


class CoolingPhase(NamedTuple):
    """The temperature and the price of unmet dependencies for a while."""

    temperature: float
    unmet_price: float  # of a unmet dependency
    loose: bool  # may dependencies be violated?


def temperatures(scale: float, rises: FloatArray, ease: float) -> tuple[float, float]:
    """The first and the last temperature of a walk.

    `scale`, `rises`: the mean price of random moves from a placement after a descent, and what those cost that cost more;
    `ease`: the steps of the walk, in those that one annealing needs. A walk too short to cool down from disorder starts cooler.
    """
    if not len(rises):
        return 0.0, 0.0
    cold = max(TINY, float(np.quantile(rises, COLD)))
    length = np.log(min(LONG, max(SHORT, ease)) / SHORT) / np.log(LONG / SHORT)
    return cold * (max(cold, HOT * scale) / cold) ** float(length), cold


class Cooling:
    """The phases of one round."""

    def __init__(self, *, scale: float, hot: float, cold: float, hindered: float) -> None:
        self.scale = scale  # mean price of a random move
        self.hot, self.cold = hot, cold  # first and last temperature
        self.may_be_loose = hindered > HINDERED
        self.again = False  # heated up once more?

    def further(self) -> "Cooling":
        """The cooling of a further round: the same, but for a lower first temperature."""
        other = copy(self)
        other.hot, other.again = self._temperature(QUENCH * WARM), False
        return other

    def at(self, share: float, *, unmet: bool) -> CoolingPhase:
        """What holds at this part of the round; `violated`: are more dependencies violated now than at the start?"""
        if LATE <= share < QUENCH and unmet:
            self.again = True
        if self.again:
            share = BACK_TO + max(0.0, share - LATE) * (1.0 - BACK_TO) / (1.0 - LATE)
        temperature = self._temperature(share)
        rise = RISE ** max(0.0, (share - RISES) / (1.0 - RISES)) if not self.again else RISE
        price = max(UNMET_PRICE * temperature, FLOOR * self.scale * rise, 1e-12)
        return CoolingPhase(temperature, price, loose=self.may_be_loose and temperature > LOOSE * self.scale and not self.again)

    def _temperature(self, share: float) -> float:
        if share > QUENCH or not self.hot:
            return 0.0
        return float(self.hot * (self.cold / self.hot) ** (share / QUENCH))


PLENTY = 500.0  # times the steps that one annealing needs; with fewer, one slow annealing is better than several
FIRST = 0.5  # of the walk, for the first round
FURTHER = 4  # rounds after it
NOISY = 0.2  # of a further round, at its beginning


class AnnealingRound(NamedTuple):
    """A part of a walk."""

    number: int
    begin: float  # part of the walk that is done when it begins
    end: float
    noisy: float = 0.0  # of the round

    def inner(self, share: float) -> float:
        """The part of the round that is done when this part of the walk is."""
        return (share - self.begin) / (self.end - self.begin)


FURTHER_ROUND = AnnealingRound(1, 0.0, 1.0, NOISY)  # a walk that is one further round: its start is what an earlier one found


def annealing_rounds(ease: float) -> list[AnnealingRound]:
    """The rounds of a walk; `ease`: its steps, in those that one annealing needs."""
    if ease < PLENTY:
        return [AnnealingRound(0, 0.0, 1.0)]
    ends = [FIRST + (1.0 - FIRST) * n / FURTHER for n in range(FURTHER + 1)]
    return [AnnealingRound(0, 0.0, FIRST), *(AnnealingRound(n + 1, ends[n], ends[n + 1], NOISY) for n in range(FURTHER))]
