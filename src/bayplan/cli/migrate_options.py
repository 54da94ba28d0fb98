"""The options of `migrate` and `simulate`, worded once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer


def _names(incomplete: str) -> list[str]:
    from bayplan.migrate import MIGRATORS

    return [name for name in MIGRATORS if name.startswith(incomplete)]


Method: TypeAlias = Annotated[
    str, typer.Option("--method", "-m", metavar="NAME", help="How to plan; see above.", autocompletion=_names)
]
To: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="PLACEMENT",
        help="Where containers shall run: a placement, a RASA or GMRP solution, or a whole snapshot. Who is not named ends.",
        show_default=False,
    ),
]
Alive: TypeAlias = Annotated[
    float, typer.Option("--alive", metavar="SHARE", help="Share of each workload that runs at any time, 0 to 1.")
]
WayOf: TypeAlias = Annotated[
    str,
    typer.Option(
        "--way",
        metavar="NAME",
        help="How containers move: 'replace' (delete, then create), 'surge' (create, then delete), "
        "'auto' (replace; surge where a delete would break the alive share, spread or a dependency), 'either'.",
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
    int | None, typer.Option("--max-steps", min=1, help="At most so many steps in one batch.", show_default=False)
]
MaxPerMachine: TypeAlias = Annotated[
    int | None, typer.Option("--max-per-machine", min=1, help="At most so many on one machine in one batch.", show_default=False)
]
MaxPerService: TypeAlias = Annotated[
    int | None, typer.Option("--max-per-service", min=1, help="At most so many of one service in one batch.", show_default=False)
]
MaxPer: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-per", metavar="LEVEL=N", help="At most so many in one rack, zone, ... in one batch.", show_default=False),
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
