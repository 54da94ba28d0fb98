"""The options of `migrate` and `simulate`, worded once, and what their texts mean."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypedDict

import typer

from bayplan.cli.console.decision import method_option
from bayplan.cli.options.shared import pairs
from bayplan.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from bayplan.api.partial_run import PartialRun
    from bayplan.formats.targets import MigrationTarget
    from bayplan.model import Cluster, Plan, Step, StepLimits


Method: TypeAlias = Annotated[str, method_option("migrate")]
To: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="PLACEMENT",
        help="Where containers are to run: a placement, a RASA or GMRP solution, or a snapshot.",
        show_default=False,
    ),
]
Alive: TypeAlias = Annotated[
    float, typer.Option("--alive", metavar="SHARE", help="Share of each workload that runs at any time, 0 to 1.")
]
_WAYS = (
    "How containers move: 'replace' (delete, then create), 'surge' (create, then delete), "
    "'auto' (replace; surge where a delete would violate a rule, or where that takes fewer batches), 'either'."
)
WayOf: TypeAlias = Annotated[str, typer.Option("--way", metavar="NAME", help=_WAYS)]
UsualWay: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--way",
        metavar="NAME",
        help=f"{_WAYS} By default 'auto'; of Kubernetes 'replace', since an eviction is how its pods move.",
        show_default=False,
    ),
]
Replace: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--replace", metavar="NAME", help="Replace containers of this workload; patterns such as 'web-*'; repeatable."),
]
Surge: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--surge", metavar="NAME", help="Surge containers of this workload; patterns such as 'web-*'; repeatable."),
]
MaxSteps: TypeAlias = Annotated[
    int | None, typer.Option("--max-steps", min=1, help="At most this many steps in one batch.", show_default=False)
]
MaxPerMachine: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-per-machine", min=1, help="At most this many steps on one machine in one batch.", show_default=False),
]
MaxPerService: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-per-service", min=1, help="At most this many steps of one service in one batch.", show_default=False),
]
MaxPer: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-per", metavar="LEVEL=N", help="At most N steps in one rack, zone, ... in one batch.", show_default=False),
]
Late: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--late",
        metavar="NAME=WEIGHT",
        help="Containers or workloads that move late, the heavier the later; others weigh 1; patterns; repeatable.",
    ),
]
Never: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--never", metavar="NAME", help="Containers or workloads that stay where they are; patterns; repeatable."),
]
NoStopovers: TypeAlias = Annotated[
    bool, typer.Option("--no-stopovers", help="No container goes by way of a third machine, even where that is the only way.")
]
Relabel: TypeAlias = Annotated[
    bool, typer.Option("--relabel", help="Replicas are interchangeable: rename them in the target so that fewer move.")
]
DeleteMissing: TypeAlias = Annotated[
    bool, typer.Option("--delete-missing", help="Delete containers that run and are not named in the target; else they stay.")
]
PullSeconds: TypeAlias = Annotated[
    float, typer.Option("--pull-seconds", min=0, help="For the estimate: seconds to pull an image that a machine does not have.")
]
StartSeconds: TypeAlias = Annotated[
    float, typer.Option("--start-seconds", min=0, help="For the estimate: seconds until a created container is ready.")
]
StopSeconds: TypeAlias = Annotated[
    float, typer.Option("--stop-seconds", min=0, help="For the estimate: seconds until a deleted container is gone.")
]
PlanOut: TypeAlias = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the plan.", show_default=False)
]
RollbackOut: TypeAlias = Annotated[
    Path | None, typer.Option("--rollback-out", metavar="FILE", help="Write the plan that leads back.", show_default=False)
]
PlanReport: TypeAlias = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write an HTML report of the plan.", show_default=False)
]
Rollback: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--rollback",
        metavar="PLAN",
        help="Instead of --to: back to the input's placement from where this plan, or its first --done batches, led.",
        show_default=False,
    ),
]
Resume: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--resume", metavar="PLAN", help="With --to: on from where the first --done batches of this plan led.", show_default=False
    ),
]
Done: TypeAlias = Annotated[
    int | None,
    typer.Option("--done", min=0, metavar="K", help="How many batches have run; all if not given.", show_default=False),
]
Failed: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--failed", metavar="STEP", help="With --resume: 'create web-3' or 'delete web-3' was not done; repeatable."),
]
Dead: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--dead", metavar="MACHINE", help="With --resume: this machine died, with all that ran on it; repeatable."),
]


class Settings(TypedDict):
    """What the texts of options state, as values."""

    replace: Sequence[str]
    surge: Sequence[str]
    never: Sequence[str]
    late: dict[str, float]
    limits: "StepLimits"
    costs: dict[str, float]


def settings(
    cluster: "Cluster",
    patterns: tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None],
    late: Sequence[str] | None,
    max_per: str | None,
    steps: tuple[int | None, int | None, int | None],
    seconds: tuple[float, float, float],
) -> Settings:
    """What the options say: patterns of what to replace, surge and never move; weights; the most steps in all, per machine, per
    service; the seconds to pull, start and stop.
    """
    limits = step_limits(cluster, max_per, steps)
    costs = dict(zip(("pull", "start", "stop"), seconds, strict=True))
    replaced, surging, never = (given or () for given in patterns)
    weights = pairs(late, "--late", "NAME=WEIGHT")
    return {"replace": replaced, "surge": surging, "never": never, "late": weights, "limits": limits, "costs": costs}


def step_limits(cluster: "Cluster", max_per: str | None, steps: tuple[int | None, int | None, int | None]) -> "StepLimits":
    """The most steps in one batch: in one group, and in all, per machine, per service."""
    from bayplan.model import StepLimits

    level, group = _per_level(cluster, max_per)
    return StepLimits(batch=steps[0], machine=steps[1], service=steps[2], group=group, level=level)


def _per_level(cluster: "Cluster", text: str | None) -> tuple[int, int | None]:
    """`zone=5` as the level's index and the number."""
    if text is None:
        return 0, None
    name, _, number = text.partition("=")
    levels = [level.name for level in cluster.levels]
    if name not in levels or not number.isdecimal() or int(number) < 1:
        expected = f"expected LEVEL=N, LEVEL one of {', '.join(levels)}, N a whole number from 1 on"
        raise UsageError(f"--max-per '{text}': {expected}{did_you_mean(name, levels)}")
    return levels.index(name), int(number)


def partial_run(
    path: Path | None, target: "MigrationTarget", done: int | None, failed: Sequence[str], dead: Sequence[str]
) -> "PartialRun | None":
    """How far the plan of `--resume` was carried out."""
    from bayplan.api.partial_run import PartialRun, first_batches
    from bayplan.formats.targets import read_plan_of

    if path is None:
        return None
    grown, plan = read_plan_of(path, target.snapshot)
    if grown is not target.snapshot:
        raise UsageError(f"--resume '{path}' has containers that the target does not name; expected the plan to that target")
    made = first_batches(plan, done)
    steps = [step for text in failed for step in _steps_named(grown.cluster, made, text)]
    return PartialRun(plan=plan, done=done, failed=steps, dead=dead)


def _steps_named(cluster: "Cluster", plan: "Plan", text: str) -> "list[Step]":
    """The steps that `create web-3` or `create web-3 on m-2` names."""
    action, _, words = text.partition(" ")
    name, _, machine = words.partition(" on ")
    names, machines = cluster.containers.name, cluster.machines.name
    steps = [
        step
        for step in plan.steps()
        if step.action == action and names[step.container] == name and machine in ("", machines[step.machine])
    ]
    if not steps:
        made = [f"{step.action} {names[step.container]}" for step in plan.steps()]
        expected = "expected 'create NAME' or 'delete NAME', maybe with 'on MACHINE'"
        raise UsageError(f"--failed '{text}': no such step has run; {expected}{did_you_mean(text, made)}")
    return steps
