"""The lowest-index machine that a demand fits on now: a tree of the most that is free, one column per resource.

The tree is a heap: node 1 is the root, node i has the children 2i and 2i + 1, machine m is leaf `leaves` + m. Leaves without a
machine hold -1. The answer is that of trying all machines in order: a node is skipped only if one resource of every machine
below is too short.
"""

from bayplan.kernels.jit import kernel

NO_MACHINE = -1


@kernel
def build_tree(capacity, machines, tree):
    """Fill `tree` (2 * leaves, resource) with empty machines of one capacity."""
    leaves = tree.shape[0] // 2
    for m in range(leaves):
        for r in range(tree.shape[1]):
            tree[leaves + m, r] = capacity[r] if m < machines else -1
    for i in range(leaves - 1, 0, -1):
        for r in range(tree.shape[1]):
            tree[i, r] = max(tree[2 * i, r], tree[2 * i + 1, r])


@kernel
def may_fit(tree, i, demand, j):
    """May row j of `demand` fit on a machine below node i?"""
    for r in range(tree.shape[1]):
        if tree[i, r] < demand[j, r]:
            return False
    return True


@kernel
def first_fit_from(tree, i, demand, j):
    """The lowest-index machine below node i or to the right of it that row j of `demand` fits on, or NO_MACHINE."""
    leaves = tree.shape[0] // 2
    while True:
        if may_fit(tree, i, demand, j):
            if i >= leaves:
                return i - leaves
            i = 2 * i
            continue
        while i & 1:  # a right child, or the root: go up
            i >>= 1
        if i == 0:
            return NO_MACHINE
        i += 1


@kernel
def first_fit_now(tree, demand, j):
    """The lowest-index machine that row j of `demand` fits on, or NO_MACHINE."""
    return first_fit_from(tree, 1, demand, j)


@kernel
def first_fit_after(tree, begin, demand, j):
    """The lowest-index machine from `begin` on that row j of `demand` fits on, or NO_MACHINE."""
    return first_fit_from(tree, tree.shape[0] // 2 + begin, demand, j)


@kernel
def add_free(tree, m, demand, j, sign):
    """Add `sign` times row j of `demand` to what machine m has free."""
    i = tree.shape[0] // 2 + m
    for r in range(tree.shape[1]):
        tree[i, r] += sign * demand[j, r]
    i >>= 1
    while i:
        same = True
        for r in range(tree.shape[1]):
            larger = max(tree[2 * i, r], tree[2 * i + 1, r])
            same = same and larger == tree[i, r]
            tree[i, r] = larger
        if same:
            return
        i >>= 1
