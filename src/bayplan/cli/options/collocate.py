"""The options of `collocate`."""

from typing import Annotated, TypeAlias

import typer

from bayplan.cli.console.decision import method_option

Method: TypeAlias = Annotated[str, method_option("collocate")]
Partition: TypeAlias = Annotated[
    str,
    typer.Option(
        "--partition",
        metavar="NAME",
        help="rasa, best: how workloads are partitioned: 'multi-stage' (the paper's), 'random', 'min-cut', 'none'.",
    ),
]
Select: TypeAlias = Annotated[
    str,
    typer.Option(
        "--select",
        metavar="NAME",
        help="rasa, best: what picks a subproblem's solver: 'gcn' (the paper's), 'mlp', 'heuristic', or 'cg' or 'mip' for all.",
    ),
]
Masters: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--masters",
        metavar="N",
        min=1,
        help="rasa, best: how many workloads count as crucial; 45 ln^0.66 of their number if not given.",
        show_default=False,
    ),
]
Trivial: TypeAlias = Annotated[
    str,
    typer.Option(
        "--trivial",
        metavar="NAME",
        help="rasa, best: trivial workloads are 'pinned' (the paper) or 'refit' (placed again at the end: gains and moves more).",
    ),
]
MovePrice: TypeAlias = Annotated[
    float,
    typer.Option(
        "--move-price",
        metavar="X",
        min=0,
        help="best: gained affinity, of a total of 1, that moving everything has to be worth; a move costs X / containers.",
    ),
]
MaxMoves: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-moves", metavar="N|P%", help="best: move at most N containers, or this share.", show_default=False),
]
MinGain: TypeAlias = Annotated[
    str,
    typer.Option(
        "--min-gain",
        metavar="P",
        help="Points of total affinity to gain at least, or nothing moves: 0.03 or 3% (the paper's gate).",
    ),
]
Freeze: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--freeze",
        metavar="NAME",
        help="A container or workload that stays pinned where it runs: name stateful ones here; patterns ('db-*'); repeatable.",
    ),
]
Priority: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--priority",
        metavar="NAME=X",
        help="Multiply the traffic of a workload by X; patterns such as 'web-*'; of two ends the larger X counts; repeatable.",
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="TERM=VALUE",
        help="best: also count another term, such as balance=0.01; affinity has weight 1; repeatable.",
    ),
]
IgnoreSafety: TypeAlias = Annotated[
    bool, typer.Option("--ignore-safety", help="Machines may come above their safety capacity, up to their capacity.")
]
Bound: TypeAlias = Annotated[
    bool, typer.Option("--bound", help="Also prove how much any answer could gain, and say the gap; takes half of the seconds.")
]
