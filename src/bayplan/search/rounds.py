"""How a walk is divided: one long annealing, and where there is time for more, shorter ones from the best placement so far.

A further round begins at the best placement that any walker has seen, at a lower first temperature, and with noise: at first the
load of all resources but one costs more or less than it truly does.

Compared in the same steps (experiments/rounds, table in docs/verbs/rebalance.md): from PLENTY on, several rounds cost 0.2 to
0.5 % less than one on clusters of some ten machines; with a quarter of it or less they cost more, up to half a percent or more.
Noise neither helps nor harms on average.
"""

from typing import NamedTuple

PLENTY = 100.0  # times the steps that one annealing needs; with fewer, one slow annealing is better than several
FIRST = 0.5  # of the walk, for the first round
FURTHER = 4  # rounds after it
NOISY = 0.2  # of a further round, at its beginning


class Round(NamedTuple):
    """A part of a walk."""

    number: int
    begin: float  # part of the walk that is done when it begins
    end: float
    noisy: float = 0.0  # of the round

    def inner(self, share: float) -> float:
        """The part of the round that is done when this part of the walk is."""
        return (share - self.begin) / (self.end - self.begin)


def rounds(ease: float) -> list[Round]:
    """The rounds of a walk; `ease`: its steps, in those that one annealing needs."""
    if ease < PLENTY:
        return [Round(0, 0.0, 1.0)]
    ends = [FIRST + (1.0 - FIRST) * n / FURTHER for n in range(FURTHER + 1)]
    return [Round(0, 0.0, FIRST), *(Round(n + 1, ends[n], ends[n + 1], NOISY) for n in range(FURTHER))]
