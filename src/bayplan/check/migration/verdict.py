"""What the referee of plans says: every unsafe batch, where the plan ends, and how close to the edge it came."""

from dataclasses import dataclass

from bayplan.model import UNPLACED, IntArray, Running


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One thing that may go wrong while the steps of one batch run."""

    batch: int  # index into the plan's batches; sentences count from 1
    rule: str  # the kind of the rule, or "step", "way", "limit", "alive"
    subject: tuple[str, ...]  # the names it is about
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """How one batch went, at its worst."""

    steps: int
    creates: int
    deletes: int
    stopovers: int  # creates on a machine that is neither the container's target nor where it ran at the start
    doubled: int  # containers that run on two machines when the batch has ended
    least_alive: float  # smallest share of a workload that runs while the steps do; 1 where no workload has a floor
    least_workload: int  # the workload it belongs to; UNPLACED where there is none
    peak: float  # highest load / capacity of a machine and resource while the steps run; machines without any left out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """The referee's word on one plan."""

    breaches: tuple[Breach, ...]  # batch by batch
    stuck: IntArray  # containers that are not, or not only, where they shall be at the end
    running: Running  # when all batches have ended
    batches: tuple[BatchRecord, ...]

    @property
    def safe(self) -> bool:
        """Can nothing go wrong?"""
        return not self.breaches

    @property
    def arrived(self) -> bool:
        """Does every container end where it shall?"""
        return not len(self.stuck)

    @property
    def stopovers(self) -> int:
        """Creates on third machines in the whole plan."""
        return sum(record.stopovers for record in self.batches)

    @property
    def least_alive(self) -> float:
        """Smallest share of a workload that runs at any time."""
        return min((record.least_alive for record in self.batches), default=1.0)

    @property
    def least_workload(self) -> int:
        """The workload with that share; UNPLACED where none has a floor."""
        worst = min(self.batches, key=lambda record: record.least_alive, default=None)
        return UNPLACED if worst is None else worst.least_workload

    @property
    def peak(self) -> float:
        """Highest load / capacity of a machine and resource at any time."""
        return max((record.peak for record in self.batches), default=0.0)
