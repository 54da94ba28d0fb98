"""What the referee of plans reports: every unsafe batch, where the plan ends, and how close to its limits it came."""

from dataclasses import dataclass

from bayplan.model import UNPLACED, IntArray, Running


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanViolation:
    """One rule that may be violated while the steps of one batch run."""

    batch: int  # index into the plan's batches; sentences count from 1
    rule: str  # the kind of the rule, or "step", "way", "limit", "alive"
    subject: tuple[str, ...]  # the names it is about
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSummary:
    """One batch in numbers, at its worst."""

    steps: int
    creates: int
    deletes: int
    stopovers: int  # creates on a machine that is neither the container's target nor where it ran at the start
    doubled: int  # containers that run on two machines when the batch has ended
    least_alive: float  # smallest share of a workload that runs while the steps do; 1 where no workload has a floor
    least_workload: int  # the workload it belongs to; UNPLACED where there is none
    peak: float  # highest load / capacity of a machine and resource while the steps run; machines without any left out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanCheck:
    """What the referee says of one plan."""

    violations: tuple[PlanViolation, ...]  # batch by batch
    not_arrived: IntArray  # containers that do not run on their target at the end, or not only there
    running: Running  # when all batches have ended
    batches: tuple[BatchSummary, ...]
    start_alive: float  # smallest share of a workload that runs before the first batch
    start_peak: float  # highest load / capacity before the first batch

    @property
    def safe(self) -> bool:
        """Is there no violation?"""
        return not self.violations

    @property
    def arrived(self) -> bool:
        """Does every container end on its target?"""
        return not len(self.not_arrived)

    @property
    def stopovers(self) -> int:
        """Creates on third machines in all batches."""
        return sum(batch.stopovers for batch in self.batches)

    @property
    def least_alive(self) -> float:
        """Smallest share of a workload that runs at any time."""
        return min((batch.least_alive for batch in self.batches), default=self.start_alive)

    @property
    def least_workload(self) -> int:
        """The workload with that share; UNPLACED where none has a floor."""
        worst = min(self.batches, key=lambda batch: batch.least_alive, default=None)
        return UNPLACED if worst is None else worst.least_workload

    @property
    def peak(self) -> float:
        """Highest load / capacity of a machine and resource at any time."""
        return max((batch.peak for batch in self.batches), default=self.start_peak)
