"""The temperature of a round, and the price of dependencies that are broken on the way.

The temperature falls geometrically from a multiple of the mean price of a random move. While it is hot, dependencies that
hinder many moves may be broken for a price that follows the temperature; later no more may be broken, and the price of
those that are rises. If some are still broken late in the walk, it is heated up once more, without that freedom.
"""

from copy import copy
from typing import NamedTuple

HOT = 6.0  # first temperature, in mean prices of a random move
COLD = 1.0  # last temperature times items, in the same: what the whole walk then jitters by
QUENCH = 0.97  # of the walk; from there on only improvements are accepted
BREACH = 0.1  # price of a broken dependency, in temperatures ...
FLOOR = 0.0125  # ... but at least this, in mean prices of a random move ...
RISE, RISES = 1_000.0, 0.4  # ... times up to so much, from this part of the walk on
HINDERED = 0.2  # of random moves that dependencies forbid: where it is less, they are never broken
LOOSE = 0.05  # temperature, in mean prices of a random move, below which no more dependencies may be broken
LATE, BACK_TO = 0.6, 0.25  # if dependencies are broken then, the walk goes on from here
WARM = 0.4  # the logarithm of a further round's first temperature stands here between those of the first and the last


class Weather(NamedTuple):
    """What a walk goes through for a while."""

    heat: float
    breach_price: float  # of a broken dependency
    loose: bool  # may dependencies be broken?


class Schedule:
    """What a walk is told at each part of its way."""

    def __init__(self, *, scale: float, items: int, hindered: float) -> None:
        self.scale = scale  # mean price of a random move
        self.hot = HOT * scale
        self.cold = COLD * scale / max(1, items)
        self.may_be_loose = hindered > HINDERED
        self.again = False  # heated up once more?

    def further(self) -> "Schedule":
        """That of a further round: the same, but for a lower first temperature."""
        other = copy(self)
        other.hot, other.again = self._heat(QUENCH * WARM), False
        return other

    def at(self, share: float, *, broken: bool) -> Weather:
        """What holds at this part of the round; `broken`: are more dependencies broken now than at the start?"""
        if LATE <= share < QUENCH and broken:
            self.again = True
        if self.again:
            share = BACK_TO + max(0.0, share - LATE) * (1.0 - BACK_TO) / (1.0 - LATE)
        heat = self._heat(share)
        rise = RISE ** max(0.0, (share - RISES) / (1.0 - RISES)) if not self.again else RISE
        price = max(BREACH * heat, FLOOR * self.scale * rise, 1e-12)
        return Weather(heat, price, loose=self.may_be_loose and heat > LOOSE * self.scale and not self.again)

    def _heat(self, share: float) -> float:
        if share > QUENCH or not self.hot:
            return 0.0
        return float(self.hot * (self.cold / self.hot) ** (share / QUENCH))
