"""The options of `plan`: the goal, the cluster that is planned for, and what its texts mean."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.what_if import WhatIf
    from bayplan.model.goal import Goal


def _goals(incomplete: str) -> list[str]:
    from bayplan.model.goal import GOALS

    return [name for name in GOALS if name.startswith(incomplete)]


GoalName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--goal", "-g", metavar="NAME|FILE", help="What is wanted, see above; or a TOML file with a goal.", autocompletion=_goals
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="NAME=VALUE",
        help="Change a weight of the goal: local-traffic, balance, price, or a term; repeatable.",
    ),
]
MaxMoves: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--max-moves", metavar="N|P%", help="Move at most N containers, or this share; the goal's own limit by default."
    ),
]
MinGain: TypeAlias = Annotated[
    str,
    typer.Option(
        "--min-gain",
        metavar="P%",
        help="Below this gain nothing is worth moving, unless rules are violated or machines too full: exit code 3.",
    ),
]
Front: TypeAlias = Annotated[bool, typer.Option("--front", help="Also show what fewer and more moves would gain.")]
At: TypeAlias = Annotated[
    str | None,
    typer.Option("--at", metavar="N|P%", help="The point of the front to plan for: this many moves.", show_default=False),
]
Drain: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--drain", metavar="MACHINE", help="What if this machine must be emptied? Patterns; repeatable."),
]
AddMachines: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--add-machines",
        metavar="N:TYPE",
        help="What if there were N more, like machine TYPE or 'cpu=16,memory=64Gi'?",
    ),
]
RemoveMachines: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--remove-machines", metavar="MACHINE", help="What if this machine were gone? Patterns; repeatable."),
]
Scale: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--scale", metavar="WORKLOAD=N", help="What if this workload had N replicas? Repeatable."),
]
FailZone: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--fail-zone", metavar="GROUP", help="What if this zone (rack, ...) failed? 'west' or 'zone=west'; repeatable."),
]
TrafficTimes: TypeAlias = Annotated[
    float, typer.Option("--traffic-times", metavar="X", help="What if there were X times the traffic?")
]
Assume: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--assume",
        metavar="NAME=VALUE",
        help="Change what the model of requests assumes: network_ms=1, ipc_ms=0.1, service_ms=5, router=random, queue=curve, "
        "load=1.5, ...; repeatable. It changes what is shown, not the plan.",
    ),
]
PlanSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        min=0,
        help="Wall time from the start of the command to its answer; without it, planning takes 5, 30, 60 or 300.",
        show_default=False,
    ),
]
PlanThreads: TypeAlias = Annotated[
    int | None, typer.Option("--threads", min=1, help="How many threads may search; as many as there are cores by default.")
]
PlacementOut: TypeAlias = Annotated[
    Path | None,
    typer.Option("--placement-out", metavar="FILE", help="Write where everything runs afterwards, in the form of the input."),
]


def search_threads(typed: int | None) -> int:
    """As many as were typed; else one for each core."""
    from bayplan.api.planning.plan import cores

    return typed or cores()


def goal_named(text: str) -> "Goal | str":
    """A goal by name, or from a TOML file."""
    if not text.endswith(".toml"):
        return text
    from bayplan.formats.goals import read_goal

    return read_goal(text)


def assumed(texts: Sequence[str] | None) -> dict[str, float | str]:
    """`NAME=VALUE` texts by name; what they mean is said where they are used."""
    values: dict[str, float | str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"--assume '{text}': expected NAME=VALUE, such as network_ms=1")
        values[name.strip().replace("-", "_")] = value.strip()
    return values


def scenario(
    machines: tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None],
    scale: Sequence[str] | None,
    fail_zone: Sequence[str] | None,
    traffic_times: float,
) -> "WhatIf":
    """What the options change; `machines` to drain, to add and to remove."""
    from bayplan.api.what_if import WhatIf

    drain, add, remove = (tuple(given or ()) for given in machines)
    return WhatIf(
        drain=drain,
        add_machines=add,
        remove_machines=remove,
        scale=dict(_replicas(text) for text in scale or ()),
        fail_zone=tuple(fail_zone or ()),
        traffic_times=traffic_times,
    )


def _replicas(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal():
        raise UsageError(f"--scale '{text}': expected WORKLOAD=N, such as web=12")
    return name, int(number)
