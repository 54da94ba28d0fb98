"""What a simulation is given, as arrays and numbers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RANDOM, PREFER_LOCAL, SPILL_OVER = 0, 1, 2  # policies of the router
EXPONENTIAL, CONSTANT, TWO_PHASES = 0, 1, 2  # CPU time of a visit; two phases: squared coefficient of variation 4
DONE, TOO_MANY = 0, 1  # how a simulation ended


class WalkArrays(NamedTuple):
    """Where requests enter and how they go on."""

    entry: Floats  # (node,) cumulative probability that a request enters there
    first: Ints  # (node + 1,) where a node's calls start
    go_on: Floats  # (call,) cumulative probability within the node; the rest ends
    callee: Ints  # (call,) node
    peers: Ints  # (call,) 1: between any two containers of one row, whatever the router
    row: Ints  # (node,) row of the cells


class CellArrays(NamedTuple):
    """How many containers of each row run on which machine."""

    first: Ints  # (row + 1,) where a row's cells start
    machine: Ints  # (cell,) ascending within a row
    ends: Ints  # (cell,) containers of the row up to this cell, this one among them


class MachineArrays(NamedTuple):
    """What else happens on machines."""

    others: Floats  # (machine,) cumulative probability that a visit that is not part of a request comes there
    visit_ms: Floats  # (machine,) mean time of a visit, where that does not follow from sharing
    fails: Floats  # (machine,) probability that a visit fails


class SimulationSettings(NamedTuple):
    """The numbers of a simulation. Times in milliseconds."""

    request_rate: float  # requests per ms
    other_rate: float  # visits per ms that are not part of a request
    sharing: int  # 1: processor sharing; 0: the time of a visit is exponential around `visit_ms`
    service_ms: float  # CPU time of a visit
    size_kind: int
    router: int
    ipc_ms: float
    network_ms: float
    ipc_error: float
    network_error: float
    skipped: int  # first requests that are not counted
    width: int  # visits that one machine may have at once


class Tally(NamedTuple):
    """What a simulation counts. Latencies and failures are those of requests after the skipped ones."""

    latency: Floats  # (request,) ms
    failed: Ints  # (request,) 1 if a visit or call of it failed
    calls: Ints  # (2,) calls of all requests: to other machines, on the same machine
    busy: Floats  # (machine,) ms in which it had a visit
