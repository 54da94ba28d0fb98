"""What is measured: traces, loads, sizes, seeds, methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

TRACES = ("google2011", "azure_v1_vms", "huawei_east1")
MADE = "generated"  # by the generator of timed requests: needs no data
PAPER = ("cradle+", "bin-packing", "spread")  # the curves of [Cradle]
METHODS = ("cradle", *PAPER, "online")
LOADS = tuple(float(load) for load in range(1, 13))  # Figures 3, 4 and 6
FINE = (1.25, 1.5, 1.75, 2.25, 2.5, 2.75, 3.25, 3.5, 3.75)  # Figure 5 has quarters of 1.0 to 3.75


SAMPLED = {"google2011": 20_000, "azure_v1_vms": 200_000, "huawei_east1": 100_000}  # requests drawn: tens of machines at load 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    traces: Sequence[str] = TRACES
    seeds: Sequence[int] = range(10, 15)  # others were used while methods were made
    sampled: Mapping[str, int] = field(default_factory=lambda: SAMPLED)
    loads: Sequence[float] = tuple(sorted((*LOADS, *FINE)))
    machines: Sequence[int] = (10, 30, 100, 300, 1000)  # Figure 2
    machine_loads: Sequence[float] = (3.0, 12.0)
    improved: Sequence[float] = (1.0, 2.0, 3.0, 6.0, 12.0)  # loads at which `local` is tried
    seconds: float = 10.0  # for `local`
    bound_seconds: float = 5.0  # for the upper bound of an instance


QUICK = Scope(
    traces=(MADE,),
    seeds=(0,),
    sampled={MADE: 4000},
    loads=(1.0, 2.0, 12.0),
    machines=(2, 5),
    machine_loads=(12.0,),
    improved=(2.0, 12.0),
    seconds=0.2,
    bound_seconds=0.2,
)
