"""The names that we write on objects of a cluster, and look for: annotations, labels, the scheduling gate."""

PREFIX = "bayplan.io/"
GATE = f"{PREFIX}steer"  # the scheduling gate: such a pod waits for a create of ours
CONTAINER = f"{PREFIX}container"  # on a pod: the name of the container whose place among the replicas it has taken
REPLACES = f"{PREFIX}replaces"  # on a pod: the uid of the deleted pod whose place it has taken
STEP = f"{PREFIX}step"  # on a pod: the token of the create that placed it
TARGET = f"{PREFIX}node"  # on a pod: the node that this create has named
PINNED = f"{PREFIX}pinned"  # on a pod: the node that a node affinity of ours ties it to, on servers where that is the only way
EVICTS = f"{PREFIX}evicts"  # on a pod: the token of the delete that evicts it
CANCELLED = f"{PREFIX}cancelled"  # on a pod: tokens of steps that must never be made on it
POD_MARKS = (CONTAINER, REPLACES, STEP, TARGET, PINNED, EVICTS, CANCELLED)
UNTIL, NAME, RESERVED = f"{PREFIX}until", f"{PREFIX}reservation", f"{PREFIX}reserved"  # on what holds a reservation
DO_NOT_MOVE = f"{PREFIX}do-not-move"  # on a pod or its owner
HOLD_UNTIL = f"{PREFIX}hold-until"  # on an owner: RFC 3339
HOLD_REASON = f"{PREFIX}hold-reason"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"  # Kubernetes' own: the lowest is deleted first
PART_OF = "app.kubernetes.io/part-of"
MANAGED_BY, OURS = "app.kubernetes.io/managed-by", "bayplan"
SELECTOR = f"{MANAGED_BY}={OURS}"
