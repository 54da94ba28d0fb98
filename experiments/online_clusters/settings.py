"""What is measured: sizes, settings, seeds, methods."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log

from bayplan.decide.admit import AdmitOptions
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions

# ---- one cluster ---------------------------------------------------------------------------------------------------------------

READINGS = {"free": False, "priced": True}  # traffic inside of a zone: costs nothing (4), or a random price like any other
EPSILON = {"sampling 0.6": 0.6, "sampling 1.0": 1.0}
FEW = "sampling n=3"  # epsilon 0.6 with three samples: what keeps the run time of Figure 5 below half a second
LISTING, ONE_BY_ONE = "listing", "one by one"  # all S^V placements: as arrays, or in a loop
ONE_SHOTS = ("exact", "local", "greedy", "sampling 0.6", FEW, "sampling 1.0", "nscd")
TIMED = (*ONE_SHOTS, LISTING, ONE_BY_ONE)  # Figure 5
PROGRAMS = 59_049  # linear programs of `sampling 0.6` at most: five members in nine zones
ONE_BY_ONE_MOST = 6  # members: 9^6 placements take half a minute


def formula(members: int, epsilon: float) -> int:
    """n of Algorithm 1: min(V, ceil(ln V / epsilon^2)), at least 1."""
    return min(members, max(1, ceil(log(members) / epsilon**2)))


def affordable(members: int, zones: int, epsilon: float) -> int:
    """The formula's n, or the largest n below it with at most `PROGRAMS` linear programs."""
    return max(n for n in range(1, formula(members, epsilon) + 1) if n == 1 or zones**n <= PROGRAMS)


def one_shot_options(name: str, members: int, zones: int) -> tuple[str, OneShotOptions]:
    """The method of a name here, and its options for a cluster of that size."""
    if name == FEW:
        return "sampling", OneShotOptions(epsilon=0.6, samples=min(members, 3))
    if name in EPSILON:
        epsilon = EPSILON[name]
        return "sampling", OneShotOptions(epsilon=epsilon, samples=affordable(members, zones, epsilon), nodes=PROGRAMS)
    return name, OneShotOptions()


# ---- streams -------------------------------------------------------------------------------------------------------------------

ALPHA = 2.0  # "we set alpha = 2", [Online clusters] §VI-B; for `exact` too, so that all weigh a cost alike


def _prices(one_shot: str, *, literal: bool = False, **sampling: float) -> tuple[str, AdmitOptions]:
    options = OneShotOptions(**sampling)
    return "primal-dual", AdmitOptions(one_shot=one_shot, alpha=ALPHA, literal=literal, one_shot_options=options)


ONLINE: Mapping[str, tuple[str, AdmitOptions]] = {  # name here -> method, options; U is given to all but `ours`
    "exact": _prices("exact"),
    "sampling 0.6": _prices("sampling", epsilon=0.6),
    "sampling 1.0": _prices("sampling", epsilon=1.0),
    "greedy": _prices("greedy"),
    "exact by price": _prices("exact", literal=True),  # IQP (4) to the letter: then refused if it does not fit
    "greedy by price": _prices("greedy", literal=True),
    "sampling 1.0 by price": _prices("sampling", literal=True, epsilon=1.0),
    "ours": ("learned", AdmitOptions(one_shot="local")),
    "available": ("available", AdmitOptions(one_shot="greedy")),
    "swmoa": ("swmoa", AdmitOptions(one_shot="greedy")),
}
SAMPLING = ("sampling 0.6", "sampling 1.0")
BY_PRICE = ("exact by price", "greedy by price")
RIVALS = ("available", "swmoa")
PAPER = ("exact", *SAMPLING, "greedy", *BY_PRICE, *RIVALS)  # the curves of [Online clusters]
QUICKEST = ("exact", "greedy", *BY_PRICE, *RIVALS)  # no linear programs
COUNTED = ("exact", "greedy", "ours")  # Figure 10
CLOCKED = ("exact by price", LISTING, "sampling 1.0 by price", "greedy by price", "ours")  # Figure 11
OFFLINE, BOUND = "offline", "bound"  # our best answer with its bound; a bound of all zones and links as one
MADE, AZURE = "section VI", "azure"
FREE, LIMITED = "free", "limited"  # traffic inside of a zone: no limit, no price; or both, as that of any link, by D_ss
WIDE = "2-8"  # members of a cluster by default
SAMPLED_MEMBERS = {
    "sampling 0.6": 3,
    "sampling 1.0": 5,
    "sampling 1.0 by price": 5,
}  # most members with which all seeds run
LASTS = {"short": "1 to 5 slots", "uniform": "to a uniform slot", "long": "to the last slot"}
WORTH = {"peak": "rho max f", "peak-slots": "rho max f × slots", "units-slots": "rho × demands × slots"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One kind of stream: the letters of [Online clusters] §VI, and what it leaves open."""

    data: str = MADE
    inside: str = FREE
    members: str = WIDE  # V, or least and most
    zones: int = 9  # S
    ratio: int = 50  # U
    requests: int = 100  # I
    capacity: int = 0  # C; 0: drawn from [50, 100]
    slots: int = 100  # T
    lasts: str = "uniform"  # how long requests last
    worth: str = "peak"  # their values

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its rows."""
        numbers = (str(n) for n in (self.zones, self.ratio, self.requests, self.capacity, self.slots))
        return (self.data, self.inside, self.members, *numbers, self.lasts, self.worth)


COLUMNS = ("data", "inside", "members", "zones", "ratio", "requests", "capacity", "slots", "lasts", "worth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    trials: Sequence[int] = range(20)
    members: Sequence[int] = range(2, 9)  # one-shot: Figures 2, 4 and 5
    zones: Sequence[int] = (3, 5, 7, 9)  # one-shot: Figure 3
    resources: Sequence[int] = (1, 2, 3)  # one-shot: Figure 4; more than one at the largest number of zones only
    kinds: Sequence[tuple[str, str]] = ((MADE, FREE), (MADE, LIMITED), (AZURE, FREE))  # streams
    online_members: Sequence[int] = (2, 3, 4, 5)  # Figure 6, left
    online_zones: Sequence[int] = (1, 3, 5, 7, 9)  # Figure 6, right
    ratios: Sequence[int] = (10, 30, 50, 70, 90)  # Figure 7
    requests: Sequence[int] = (50, 100, 150, 200, 250)  # Figures 8 to 11
    capacities: Sequence[int] = (50, 100)  # Figure 10
    few: int = 3  # seeds of `sampling` where a stream takes it several seconds
    loads: Sequence[int] = (100, 300, 900)  # grid: requests
    ends: Sequence[int] = (10, 90)  # grid: U, beside the usual one
    grid_trials: Sequence[int] = range(10)
    base: Setting = field(default_factory=Setting)
    offline_seconds: float = 1.0

    def figures(self, data: str, inside: str) -> dict[str, list[Setting]]:
        """Letter -> the settings of Figures 6 to 9, one number changed at a time."""
        base = replace(self.base, data=data, inside=inside)
        three = replace(base, members="3")  # "we fix the number of containers in each CC to 3"
        return {
            "V": [replace(base, members=str(members)) for members in self.online_members],
            "S": [replace(three, zones=zones) for zones in self.online_zones],
            "U": [replace(base, ratio=ratio) for ratio in self.ratios],
            "I": [replace(base, requests=requests) for requests in self.requests],
        }

    def compared(self, data: str, inside: str) -> Iterator[Setting]:
        """Figures 6 to 9: what is compared with the offline optimum, each kind of stream once."""
        yield from dict.fromkeys(setting for some in self.figures(data, inside).values() for setting in some)

    def small(self, data: str, inside: str) -> list[Setting]:
        """Figure 9 with three members, where `sampling 0.6` has the formula's n."""
        return [replace(self.base, data=data, inside=inside, members="3", requests=requests) for requests in self.requests]

    def counted(self, capacity: int) -> list[Setting]:
        """Figure 10: winners at one capacity."""
        return [replace(self.base, requests=requests, capacity=capacity) for requests in self.requests]

    def clocked(self) -> list[Setting]:
        """Figure 11: time with five members."""
        return [replace(self.base, members="5", requests=requests) for requests in self.requests]

    def grid(self, inside: str) -> Iterator[Setting]:
        """Every value, duration and load with U as it is."""
        for worth in WORTH:
            for lasts in LASTS:
                for requests in self.loads:
                    yield replace(self.base, inside=inside, requests=requests, lasts=lasts, worth=worth)


QUICK = Scope(
    trials=(0,),
    members=(2, 3),
    zones=(2, 3),
    resources=(1, 2),
    kinds=((MADE, FREE), (MADE, LIMITED)),
    online_members=(2, 3),
    online_zones=(2, 3),
    ratios=(10, 50),
    requests=(8, 12),
    capacities=(50, 100),
    few=1,
    loads=(12, 36),
    ends=(10, 90),
    grid_trials=(0,),
    base=Setting(zones=3, requests=12, slots=10),
    offline_seconds=0.5,
)
