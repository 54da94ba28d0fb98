"""The lowest-index machine that has room for a demand now: a tree of the most that is free, one column per resource.

The tree is a heap: node 1 is the root, node i has the children 2i and 2i + 1, machine m is leaf `leaves` + m. Leaves without a
machine hold -1. The answer is that of looking at all machines in order: a node is left out only if one resource of every
machine below is too short.
"""

from bayplan.kernels.search.compiled import kernel

NOBODY = -1


@kernel
def tree_of(capacity, machines, most):
    """Fill the tree `most` (2 * leaves, resource) with empty machines of one capacity."""
    leaves = most.shape[0] // 2
    for m in range(leaves):
        for r in range(most.shape[1]):
            most[leaves + m, r] = capacity[r] if m < machines else -1
    for i in range(leaves - 1, 0, -1):
        for r in range(most.shape[1]):
            most[i, r] = max(most[2 * i, r], most[2 * i + 1, r])


@kernel
def has_room(most, i, demand, j):
    """May a machine below node i have room?"""
    for r in range(most.shape[1]):
        if most[i, r] < demand[j, r]:
            return False
    return True


@kernel
def room_from(most, i, demand, j):
    """The lowest-index machine with room below node i or to the right of it, or NOBODY."""
    leaves = most.shape[0] // 2
    while True:
        if has_room(most, i, demand, j):
            if i >= leaves:
                return i - leaves
            i = 2 * i
            continue
        while i & 1:  # a right child, or the root: go up
            i >>= 1
        if i == 0:
            return NOBODY
        i += 1


@kernel
def first_room(most, demand, j):
    """The lowest-index machine with room for row j of `demand`, or NOBODY."""
    return room_from(most, 1, demand, j)


@kernel
def next_room(most, begin, demand, j):
    """The lowest-index machine from `begin` on with room for row j of `demand`, or NOBODY."""
    return room_from(most, most.shape[0] // 2 + begin, demand, j)


@kernel
def change(most, m, demand, j, sign):
    """Add `sign` times row j of `demand` to what machine m has free."""
    i = most.shape[0] // 2 + m
    for r in range(most.shape[1]):
        most[i, r] += sign * demand[j, r]
    i >>= 1
    while i:
        same = True
        for r in range(most.shape[1]):
            larger = max(most[2 * i, r], most[2 * i + 1, r])
            same = same and larger == most[i, r]
            most[i, r] = larger
        if same:
            return
        i >>= 1
