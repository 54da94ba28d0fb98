"""The state of the search: everything that rules and costs read, in three flat arrays and a table of where each block starts.

Dozens of arrays make a kernel slow to compile and slow to call. So the 64-bit integers are laid one after the other in `ints`,
the floats in `floats`, big tables of small counts in `small`, and `at` says at which index each block starts.

An *item* is what moves as one: a container, or containers that a rule keeps on one machine. Items with the same request,
rules and traffic are of one *kind*. Rules and traffic read counts. A *row* counts the containers of a set of workloads
(a workload, a service, an anti-affinity set) in every group of one level.

Blocks that hold a list per kind come with a block of starts: entries start[k]..start[k + 1] - 1 are those of kind k.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import inlined

NOWHERE = -1
NO_LIMIT = np.iinfo(np.int64).max

SIZES = (
    "items",
    "machines",
    "resources",
    "risks",
    "pairs",
    "slots",
    "empty_kind",  # the kind that requests nothing
    "variance_priced",  # 1 if the variance of utilisations (U) costs anything; its sums are not kept otherwise
    "reach_listed",  # 1 if `reach` lists machines
)
INTS = (
    # per item
    "kind_of",
    "home",  # machine where it ran, or NOWHERE
    "only_machine",  # the one machine that it may use, or NOWHERE
    "movable",  # 1 if it may be lifted
    "machine_of",  # where it is now, or NOWHERE while it is lifted
    "slot_of",  # its position in the list of its machine
    # per kind
    "size",  # containers
    "request",  # (kind, resource); the last row is that of `empty_kind`
    "dominant",  # the resource of which it requests most, in mean machines: the one to test first
    "allow_row",  # row of `allowed`
    "reach_start",  # (kind + 1,) where its machines start in `reach`
    "surplus_row",  # row of `surplus`, or NOWHERE if the kind is a single item
    # per machine
    "amount",  # (machine, LOAD ... CAPACITY, resource): see `amount_index`
    "items_on_size",  # items on it
    "home_charge",  # (machine, resource) what it is charged for the items that ran there, whether they leave or not
    "group_of",  # (level, machine); behind the levels of the cluster the parts of them that skew rules compare
    # per resource
    "joint",  # 1 if what leaves its home frees nothing there
    "strict",  # 1 if an overfull machine takes nothing new, not even what requests none of it
    # per row
    "row_start",  # where its groups start in `count`
    "row_level",
    "row_size",  # containers that it counts when all are placed
    "groups_used",  # groups with at least one
    "row_placed",  # containers counted now
    "groups_needed",  # groups that must be used
    # lists per kind
    "add_start",
    "add",  # (row, containers): the rows that count an item
    "max_count_start",
    "max_count",  # (row, limit): anti-affinity, the item may come while the row counts less than the limit
    "interference_start",
    "interference",  # (row a, row b, added to a, added to b, limit)
    "spread_start",
    "spread",  # (row, containers)
    "depends_start",
    "depends_on",  # (row, containers): the item needs one that the row counts where it runs
    "supports_start",
    "supports",  # (row on, row of): the last of `on` must not leave those of `of` behind
    "skew_start",
    "skew",  # (rule, counted containers, judged containers)
    "local_start",
    "local_row",  # (row,): communication
    "affinity_start",
    "affinity_edge",  # (row a, row b, added to a, added to b)
    "service_start",
    "service",  # (service, containers): services whose moved containers are counted
    # per skew rule
    "skew_rule",  # SKEW_ROW ... SKEW_HISTOGRAM
    "skew_low",  # containers in the emptiest of the groups that it compares
    "skew_histogram",  # groups that have 0, 1, 2, ... containers, one rule after the other
    # balance
    "pair",  # (r1, r2, 1 if only machines with both count)
    # moves
    "moved_of",  # (service,) moved containers
    "services_with",  # (moved containers,) number of services that have moved that many
    "tally",  # MOVED ... SKEWED
)
FLOATS = (
    "total",  # the objective, up to a constant
    "cost",  # (machine,)
    "utilisation_sum",  # (resource,) over the machines
    "overload",  # (resource,) cost of a unit above the safety capacity
    "mean",  # (resource,) cost of the squared sum of utilisations: the part of U that is not a sum over machines
    "square",  # (machine, resource) cost of a squared unit of load: the part that is
    "slope",  # (machine, resource) utilisation per unit of load
    "pair_by",  # (weight, factor of free r1, factor of free r2): weight * max(0, f1 A(r1) - f2 A(r2))
    "local_gain",  # what a container gains for each that the row counts beside it
    "affinity_by",  # (weight, 1 / d_a, 1 / d_b): an edge gains weight * min(a / d_a, b / d_b) on each machine
    "leaving_cost",  # (kind,) cost of being away from home
    "machine_move_cost",  # (machine, machine) from home to there; only if BY_MACHINE
    "unmet_price",  # per container without what it depends on, for walks that allow that on the way
    "move_price",  # EACH_MOVE ... BY_MACHINE
    "risk",  # (confidence,) standard deviations above the mean
    "risk_capacity",  # (machine, confidence)
    "risk_mean",  # (machine, confidence)
    "risk_variance",  # (machine, confidence)
    "usage_mean",  # (kind, confidence)
    "usage_variance",  # (kind, confidence)
)
SMALL = (
    "count",  # see row_start
    "surplus",  # (row, machine) items now less items at the start
    "items_on",  # (machine, slot) items in no order
    "allowed",  # (row, machine) 1 if the kind may run there
    "reach",  # machines where an item of a kind could run, were they emptied, in one random order; beside them, its home
)
LOAD, CHARGE, LIMIT, SAFETY, CAPACITY = range(5)  # of `amount`; charge: load, and what left its home if that frees nothing
AMOUNTS = 5  # of a machine and a resource
MOVED, BUSIEST, MAX_MOVES, UNMET, SKEWED = range(5)  # of `tally`: moved containers, those of the service that moves most, the
# most that may move, containers without what they depend on, containers beyond the limits of skew rules
SKEW_ROW, SKEW_OWN_ROW, SKEW_LIMIT, SKEW_GROUPS, SKEW_FLOOR, SKEW_HISTOGRAM = range(6)  # of `skew_rule`: the rows that count and
# that are judged, the limit, how many groups of their level are compared (the first), its `skew_low`, where its histogram starts;
# SKEW_FLOOR is NOWHERE if there are too few groups: then they are compared with none
EACH_MOVE, BUSIEST_MOVE, BY_MACHINE = range(3)  # of `move_price`: per moved container, per moved container of the service that
# moves most, 1 if `machine_move_cost` counts

# numbers in one entry of each list
ADD_WIDTH, MAX_COUNT_WIDTH, INTERFERENCE_WIDTH, SPREAD_WIDTH, DEPENDS_WIDTH, SUPPORTS_WIDTH = 2, 2, 5, 2, 2, 2
SKEW_WIDTH, SKEW_RULE_WIDTH = 3, 6
LOCAL_WIDTH, AFFINITY_WIDTH, AFFINITY_BY_WIDTH, SERVICE_WIDTH, PAIR_WIDTH, PAIR_BY_WIDTH = 1, 4, 3, 2, 3, 3
LISTS = {  # block -> its block of starts, numbers in one entry
    "add": ("add_start", ADD_WIDTH),
    "max_count": ("max_count_start", MAX_COUNT_WIDTH),
    "interference": ("interference_start", INTERFERENCE_WIDTH),
    "spread": ("spread_start", SPREAD_WIDTH),
    "depends_on": ("depends_start", DEPENDS_WIDTH),
    "supports": ("supports_start", SUPPORTS_WIDTH),
    "skew": ("skew_start", SKEW_WIDTH),
    "local_row": ("local_start", LOCAL_WIDTH),
    "affinity_edge": ("affinity_start", AFFINITY_WIDTH),
    "service": ("service_start", SERVICE_WIDTH),
}

AT = np.dtype([(name, np.int64) for name in (*SIZES, *INTS, *FLOATS, *SMALL)])


class State(NamedTuple):
    """Everything, fixed or changing."""

    at: npt.NDArray[np.void]  # (1,) of AT: sizes, and where each block starts
    ints: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    small: npt.NDArray[np.int32]


@inlined
def amount_index(state, m, kind):
    """Where `ints` holds an amount (LOAD ... CAPACITY) of machine m: the index of its first resource, the others follow."""
    at = state.at[0]
    return at.amount + (m * AMOUNTS + kind) * at.resources


@inlined
def count_index(state, row, m):
    """Where `small` counts the containers of a row in the group of a machine."""
    at = state.at[0]
    group = state.ints[at.group_of + state.ints[at.row_level + row] * at.machines + m]
    return at.count + state.ints[at.row_start + row] + group
