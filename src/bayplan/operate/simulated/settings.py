"""How a simulated cluster behaves: how long things take, what is measured, and what happens by itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayplan.errors import ModelError

MONDAY = 1_735_516_800.0  # a Monday, 00:00 UTC
HOUR, DAY = 3_600.0, 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """What happens by itself. Rates are numbers of events per day, for the whole cluster."""

    rollouts: float = 0.0
    user_deletes: float = 0.0
    joins: float = 0.0
    drains: float = 0.0
    deaths: float = 0.0
    bursts: float = 0.0  # of the traffic of one workload
    scaled: float = 0.0  # share of the workloads that are scaled by time of day
    scaled_to: float = 0.5  # at the quietest hour, as a share of their replicas
    scaling_every: float = 900.0
    drift: float = 0.0  # standard deviation of the logarithm of an edge's traffic after a day
    usage_to: float = 1.0  # usage at the quietest hour, as a share of that at the busiest
    burst_seconds: float = HOUR
    burst_factor: float = 5.0
    out_of_service: float = 2 * HOUR  # how long a drained machine stays away
    replaced_after: float = HOUR / 2  # until a new machine stands in for one that died or left; 0 for never

    def __post_init__(self) -> None:
        if min(getattr(self, name) for name in self.__slots__) < 0 or not 0 < self.scaled_to <= 1 or not 0 < self.usage_to <= 1:
            raise ModelError("churn: expected rates of 0 or more, and shares above 0 and up to 1")


QUIET = Churn()
CALM = Churn(
    rollouts=12, user_deletes=2, joins=0.2, drains=0.5, deaths=0.1, bursts=2, scaled=0.1, scaled_to=0.7, drift=0.1, usage_to=0.6
)
BUSY = Churn(
    rollouts=120, user_deletes=24, joins=2, drains=4, deaths=1, bursts=24, scaled=0.4, scaled_to=0.5, drift=0.4, usage_to=0.4
)
CHURN: Mapping[str, Churn] = {"quiet": QUIET, "calm": CALM, "busy": BUSY}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSettings:
    """How long things take, in seconds, and how the orchestrator decides."""

    pull: float = 20.0  # an image that the machine does not have
    start: float = 5.0  # from the image to ready
    stop: float = 5.0  # from the request to stop until the machine is free of it
    jitter: float = 0.2  # each of them is longer or shorter by at most this share
    retry: float = 5.0  # how often the scheduler looks again at what fits nowhere
    unavailable: float = 0.25  # share of a workload's replicas that may be down; one replica always may
    usage_every: float = 60.0  # usage is measured this often
    traffic_every: float = 300.0
    noise: float = 0.0  # standard deviation of a measurement, as a share
    churn: Churn = field(default_factory=Churn)

    def __post_init__(self) -> None:
        times = (self.pull, self.start, self.stop, self.noise)
        if min(times) < 0 or min(self.retry, self.usage_every, self.traffic_every) <= 0:
            raise ModelError("simulated settings: expected times of 0 or more, and intervals above 0")
        if not (0 <= self.jitter <= 1 and 0 <= self.unavailable <= 1):
            raise ModelError("simulated settings: expected a jitter and a share of unavailable replicas from 0 to 1")

    def needed(self, desired: int) -> int:
        """How many of a workload's replicas must be ready: its limit of disruption."""
        return desired - max(1, int(self.unavailable * desired)) if desired else 0


def preset(churn: str) -> SimulatedSettings:
    """The settings for a kind of churn: quiet (nothing happens), calm or busy."""
    return SimulatedSettings(churn=CHURN[churn], noise=0.0 if churn == "quiet" else 0.03)
