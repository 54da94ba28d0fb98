"""The way back."""

from bayplan.model import Action, Plan, Step

OTHER = {Action.CREATE: Action.DELETE, Action.DELETE: Action.CREATE}


def inverse(plan: Plan, batches_done: int | None = None) -> Plan:
    """The plan that leads back to the start when the first batches of a plan have been carried out, or all of them.

    As safe as the plan: the worst states of a batch are the same from either side.
    """
    done = plan.batches if batches_done is None else plan.batches[:batches_done]
    return Plan(
        batches=tuple(tuple(Step(OTHER[step.action], step.container, step.machine) for step in b) for b in reversed(done))
    )
