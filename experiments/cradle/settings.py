"""What is measured: sources of requests, loads, sizes, seeds, methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

GOOGLE, SEMI_REAL, AZURE, HUAWEI = "google2011", "google2011_semi_real", "azure_v1_vms", "huawei_east1"
GENERATED = "generated"  # by the generator of timed requests, with the shapes of Google's tasks: needs no data
FITTED = "fitted"  # drawn so that load 12 is as in [Cradle]: needs no data
TRACES = (GOOGLE, SEMI_REAL, AZURE, HUAWEI)
SOURCES = (*TRACES, GENERATED, FITTED)
PAPER = ("cradle+", "bin-packing", "spread")  # the curves of [Cradle]
METHODS = ("cradle", *PAPER, "online")
WHOLE = tuple(float(load) for load in range(1, 13))  # Figures 3, 4 and 6
FINE = (1.25, 1.5, 1.75, 2.25, 2.5, 2.75, 3.25, 3.5, 3.75)  # Figure 5 has quarters of 1.0 to 3.75: only the paper's methods
SHOWN = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0)  # loads of the tables; the figures have all
SAMPLED = {  # requests drawn for Figures 3 to 6: ten to a hundred machines at load 12
    GOOGLE: 20_000,
    SEMI_REAL: 600_000,
    AZURE: 200_000,
    HUAWEI: 100_000,
    GENERATED: 200_000,
    FITTED: 280_000,
}
MOST = 6_000_000  # requests of an instance of Figure 2
LARGER = {HUAWEI: 17_000_000}  # by source: its requests are so short that 1,000 machines at load 12 take more


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    traces: Sequence[str] = SOURCES
    seeds: Sequence[int] = range(10, 15)  # others were used while methods were made
    sampled: Mapping[str, int] = field(default_factory=lambda: SAMPLED)
    loads: Sequence[float] = tuple(sorted((*WHOLE, *FINE)))
    bounded: Sequence[float] = SHOWN  # loads at which the upper bound is computed
    machines: Sequence[int] = (10, 30, 100, 300, 1000)  # Figure 2
    machine_loads: Sequence[float] = (3.0, 12.0)
    fewest: Sequence[float] = (2.0, 12.0)  # loads at which the fewest machines that serve as many as the baselines are sought
    growth: Sequence[int] = (62_500, 250_000, 1_000_000)  # generated requests, all for the same number of machines
    improved: Sequence[float] = (3.0, 12.0)  # loads at which `local` is tried, on traces
    seconds: float = 10.0  # of CPU, for `local`
    bound_seconds: float = 2.0  # of CPU, for the upper bound of an instance


QUICK = Scope(
    traces=(GENERATED,),
    seeds=(0,),
    sampled={GENERATED: 4000},
    loads=(1.0, 2.0, 12.0),
    bounded=(1.0, 2.0, 12.0),
    machines=(2, 5),
    machine_loads=(3.0, 12.0),
    growth=(2000, 8000),
    improved=(2.0, 12.0),
    seconds=0.2,
    bound_seconds=0.2,
)
