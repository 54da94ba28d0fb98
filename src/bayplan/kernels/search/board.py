"""The board of the search: everything that rules and prices read, in three flat arrays and a table of where things stand.

Dozens of arrays make a kernel slow to compile and slow to call. So the whole numbers stand behind each other in `whole`, the
real ones in `real`, big tables of small counts in `small`, and `at` says at which index each block starts.

An *item* is what moves as one: a container, or containers that a rule keeps on one machine. Items with the same request,
rules and traffic are of one *kind*. Rules and traffic read counts. A *row* counts the containers of a set of workloads
(a workload, a service, an anti-affinity set) in every group of one level.

Blocks that hold a list per kind come with a block of starts: entries start[k]..start[k + 1] - 1 are those of kind k.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NOWHERE = -1
NO_LIMIT = np.iinfo(np.int64).max

SIZES = ("items", "machines", "resources", "risks", "pairs", "slots", "nothing")  # nothing: the kind that asks for nothing
WHOLE = (
    # per item
    "kind_of",
    "home",  # machine where it ran, or NOWHERE
    "only",  # the one machine that it may use, or NOWHERE
    "movable",  # 1 if it may be lifted
    "machine_of",  # where it stands now, or NOWHERE while it is lifted
    "slot_of",  # its place in the list of its machine
    # per kind
    "size",  # containers
    "request",  # (kind, resource); the last row is that of `nothing`
    "lead",  # the resource of which it asks for most, in mean machines: the one to look at first
    "allow_row",  # row of `allowed`
    "surplus_row",  # row of `surplus`, or NOWHERE if the kind is a single item
    # per machine: five blocks of resources, see LOAD ... CAPACITY
    "machine",
    "on_size",  # items that stand on it
    "kept",  # (machine, resource) what it is charged for the items that ran there, whether they leave or not
    "group_of",  # (level, machine)
    # per resource
    "joint",  # 1 if what leaves its home frees nothing there
    "strict",  # 1 if an overfull machine takes nothing new, not even what asks for none of it
    # per row
    "row_start",  # where its groups start in `count`
    "row_level",
    "row_size",  # containers that it counts when all are placed
    "used",  # groups with at least one
    "placed",  # containers counted now
    "need",  # groups that must be used
    # lists per kind
    "add_start",
    "add",  # (row, containers): what a kind counts for
    "most_start",
    "most",  # (row, limit): anti-affinity, the item may come while the row counts less than the limit
    "clash_start",
    "clash",  # (row a, row b, added to a, added to b, limit): interference
    "spread_start",
    "spread",  # (row, containers)
    "need_start",
    "need_row",  # (row, containers): dependency, the row is where the kind goes
    "prop_start",
    "prop",  # (row on, row of): dependency, the last of `on` does not leave those of `of` alone
    "pull_start",
    "pull_row",  # (row,): communication
    "meet_start",
    "meet",  # (row a, row b, added to a, added to b): affinity
    "service_start",
    "service",  # (service, containers): whose moved containers are counted
    # balance
    "pair",  # (r1, r2, 1 if only machines with both count)
    # moves
    "moved_of",  # (service,) moved containers
    "services_with",  # (moved containers,) how many services have moved so many
    "tally",  # moved containers, those of the busiest service, most that may move, containers without what they need
)
REAL = (
    "total",  # the objective, up to a constant
    "cost",  # (machine,)
    "utilised",  # (resource,) sum of the machines' utilisations
    "over",  # (resource,) per unit above safety
    "mean",  # (resource,) per squared sum of utilisations: the part of U that is not a sum over machines
    "square",  # (machine, resource) per squared unit of load: the part that is
    "slope",  # (machine, resource) utilisation per unit of load
    "pair_by",  # (weight, factor of free r1, factor of free r2): weight * max(0, f1 A(r1) - f2 A(r2))
    "pull",  # a container gains this for each that the row counts beside it
    "meet_by",  # (weight, 1 / d_a, 1 / d_b): an edge gains weight * min(a / d_a, b / d_b) on each machine
    "leaving",  # (kind,) price of being away from home
    "trip",  # (machine, machine) from home to there; only if `trips`
    "breach_price",  # per container without what it depends on, for walks that let that happen on the way
    "move_price",  # per moved container; per moved container of the busiest service; 1 if there are trips
    "risk",  # (confidence,) standard deviations above the mean
    "risk_room",  # (machine, confidence)
    "risk_mean",  # (machine, confidence)
    "risk_variance",  # (machine, confidence)
    "usage_mean",  # (kind, confidence)
    "usage_variance",  # (kind, confidence)
)
SMALL = (
    "count",  # see row_start
    "surplus",  # (row, machine) items now less items at the start
    "on",  # (machine, slot) items in no order
    "allowed",  # (row, machine) 1 if the kind may stand there
)
LOAD, CHARGE, LIMIT, SAFETY, CAPACITY = range(5)  # of a machine; charge: load, and what left its home if that frees nothing
MOVED, BUSIEST, MOST_MOVES, BREACHES = range(4)  # of `tally`
EACH_MOVE, BUSIEST_MOVE, TRIPS = range(3)  # of `move_price`

AT = np.dtype([(name, np.int64) for name in (*SIZES, *WHOLE, *REAL, *SMALL)])


class Board(NamedTuple):
    """Everything, fixed or changing."""

    at: npt.NDArray[np.void]  # (1,) of AT: sizes, and where each block starts
    whole: npt.NDArray[np.int64]
    real: npt.NDArray[np.float64]
    small: npt.NDArray[np.int32]
