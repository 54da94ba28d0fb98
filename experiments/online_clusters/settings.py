"""What is measured: sizes, settings, seeds, methods."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bayplan.decide.admit import AdmitOptions
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions

READINGS = {"free": False, "priced": True}  # traffic inside of a zone: costs nothing (4), or a random price like any other
ONE_SHOTS: Mapping[str, tuple[str, OneShotOptions]] = {  # name here -> method, options
    "exact": ("exact", OneShotOptions()),
    "local": ("local", OneShotOptions()),
    "greedy": ("greedy", OneShotOptions()),
    "sampling 0.6": ("sampling", OneShotOptions(epsilon=0.6, samples=3)),
    "sampling 1.0": ("sampling", OneShotOptions(epsilon=1.0)),
    "nscd": ("nscd", OneShotOptions()),
}
WITH_SAMPLING = OneShotOptions(epsilon=0.6, samples=2)
ONLINE: Mapping[str, tuple[str, AdmitOptions]] = {  # name here -> method, options; U is given to all but the fourth
    "exact": ("primal-dual", AdmitOptions(one_shot="exact", alpha=1.0, literal=True)),
    "sampling": ("primal-dual", AdmitOptions(one_shot="sampling", alpha=2.0, literal=True, one_shot_options=WITH_SAMPLING)),
    "greedy": ("primal-dual", AdmitOptions(one_shot="greedy", alpha=2.0, literal=True)),
    "ours": ("learned", AdmitOptions(one_shot="local")),
    "available": ("available", AdmitOptions(one_shot="greedy")),
    "swmoa": ("swmoa", AdmitOptions(one_shot="greedy")),
}
PAPER = ("exact", "sampling", "greedy", "available", "swmoa")  # the curves of [Online clusters]
COUNTED = ("exact", "sampling", "greedy", "ours")  # Figures 10 and 11
OFFLINE = "offline"
MADE, AZURE = "section VI", "azure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One kind of stream: the letters of [Online clusters] §VI."""

    data: str = MADE
    members: int = 3  # V
    zones: int = 9  # S
    ratio: int = 50  # U
    requests: int = 100  # I
    capacity: int = 0  # C; 0: drawn from [50, 100]
    slots: int = 100  # T

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its rows."""
        return (
            self.data,
            *(str(n) for n in (self.members, self.zones, self.ratio, self.requests, self.capacity, self.slots)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    trials: Sequence[int] = range(20)
    members: Sequence[int] = range(2, 9)  # one-shot: Figures 2, 4 and 5
    zones: Sequence[int] = (3, 5, 7, 9)  # one-shot: Figure 3
    resources: Sequence[int] = (1, 2, 3)  # one-shot: Figure 4; more than one at the largest number of zones only
    data: Sequence[str] = (MADE, AZURE)
    online_members: Sequence[int] = (2, 3, 4, 5)  # Figure 6, left
    online_zones: Sequence[int] = (1, 3, 5, 7, 9)  # Figure 6, right
    ratios: Sequence[int] = (10, 30, 50, 70, 90)  # Figure 7
    requests: Sequence[int] = (50, 100, 150, 200, 250)  # Figures 8 to 11
    capacities: Sequence[int] = (50, 100)  # Figure 10
    base: Setting = field(default_factory=Setting)
    offline_seconds: float = 5.0

    def compared(self, data: str) -> Iterator[Setting]:
        """Figures 6 to 9: what is compared with the offline optimum, each kind of stream once."""
        base = replace(self.base, data=data)
        found = [
            *(replace(base, members=members) for members in self.online_members),
            *(replace(base, zones=zones) for zones in self.online_zones),
            *(replace(base, ratio=ratio) for ratio in self.ratios),
            *(replace(base, requests=requests) for requests in self.requests),
        ]
        yield from dict.fromkeys(found)

    def counted(self) -> Iterator[Setting]:
        """Figures 10 and 11: winners at two capacities, time with five members."""
        for requests in self.requests:
            for capacity in self.capacities:
                yield replace(self.base, requests=requests, capacity=capacity)
            yield replace(self.base, requests=requests, members=5)


QUICK = Scope(
    trials=(0,),
    members=(2, 3),
    zones=(2, 3),
    resources=(1, 2),
    data=(MADE,),
    online_members=(2, 3),
    online_zones=(2, 3),
    ratios=(10, 50),
    requests=(8, 12),
    capacities=(50, 100),
    base=Setting(zones=3, requests=12, slots=10),
    offline_seconds=0.5,
)
