"""What a migrator returns: the best plan it has made, or a refusal."""

from collections import Counter
from dataclasses import dataclass

from bayplan.check import RUNNING, check
from bayplan.model import Action, Migration, Plan, Reason, Result, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDraft:
    """A plan that a migrator has made, and what is known about it."""

    plan: Plan
    left_out: tuple[Reason, ...] = ()  # one for each container that does not arrive
    bound: int | None = None  # no complete plan has fewer batches

    @property
    def complete(self) -> bool:
        """Does every container arrive?"""
        return not self.left_out

    @property
    def key(self) -> tuple[int, int, int]:
        """Less is better: containers that do not arrive, batches, steps."""
        return len(self.left_out), len(self.plan.batches), len(self.plan)

    @property
    def is_best(self) -> bool:
        """Can no plan have fewer batches?"""
        return self.complete and self.bound is not None and len(self.plan.batches) <= self.bound


def plan_result(migration: Migration, draft: PlanDraft, *, seconds: float) -> Result[Plan]:
    """The draft with its scores. A bound is stated only for a plan that is complete."""
    batches = len(draft.plan.batches)
    return Result(
        status=Status.OPTIMAL if draft.is_best else Status.FEASIBLE,
        solution=draft.plan,
        score={"batches": batches, "steps": len(draft.plan), **_moves(migration, draft.plan)},
        goal="batches",
        bound=draft.bound if draft.complete else None,
        left_out=draft.left_out,
        seconds=seconds,
    )


def refused(migration: Migration) -> Result[Plan] | None:
    """The answer "no", if the target violates a rule that the start does not violate as much."""
    before = migration.start.placement
    excess = {v.place: v.excess for v in check(migration.cluster, before)}
    worse = [
        v
        for v in check(migration.cluster, migration.target, before)
        if v.rule != RUNNING and v.excess > excess.get(v.place, 0.0) * (1.0 + 1e-12)
    ]
    if not worse:
        return None
    sentences = tuple(violation.sentence for violation in worse)
    return Result(status=Status.INFEASIBLE, solution=None, goal="batches", still_violated=sentences)


def _moves(migration: Migration, plan: Plan) -> dict[str, int]:
    """Creates of containers that ran before, those on a machine that is not the last, those of containers that still ran."""
    instances = Counter(migration.start.pairs()[:, 0].tolist())
    ran, target = set(instances), migration.target.machine_of
    count = {"moves": 0, "stopovers": 0, "surges": 0}
    for step in plan.steps():
        c = step.container
        if step.action is Action.CREATE:
            count["moves"] += c in ran
            count["stopovers"] += int(target[c]) != step.machine
            count["surges"] += instances[c] > 0
        instances[c] += 1 if step.action is Action.CREATE else -1
    return count
