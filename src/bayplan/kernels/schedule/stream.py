"""Requests served as they come: what ends is gone first, then the next one finds a machine or is refused.

At a start the load is what runs now, and what runs now only becomes less: whoever fits now fits until its end. Machines are
the leaves of a tree that knows the most free amount of every resource below each node (see `rooms`), so that a machine with
room is found without looking at all of them. The answer is that of looking at one after the other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.schedule.rooms import NOBODY, change, next_room
from bayplan.kernels.search.compiled import kernel


class Stream(NamedTuple):
    """Requests, and the two orders in which things happen."""

    start: npt.NDArray[np.float64]  # (request,)
    end: npt.NDArray[np.float64]  # (request,)
    demand: npt.NDArray[np.int64]  # (request, resource)
    by_start: npt.NDArray[np.int64]  # (request,) whoever is decided first; equal starts: the order given
    by_end: npt.NDArray[np.int64]  # (request,)


@kernel
def release(stream, most, done, now, machine_of):
    """How many requests, in the order of their ends, are gone at `now`: `done` were before. Half-open: who ends now is gone."""
    while done < len(stream.by_end) and stream.end[stream.by_end[done]] <= now:
        j = stream.by_end[done]
        if machine_of[j] != NOBODY:
            change(most, machine_of[j], stream.demand, j, 1)
        done += 1
    return done


@kernel
def serve_in_turn(stream, most, machines, move_on, machine_of_out):
    """Every request at the first machine with room in a circle (002 section V); `machine_of_out` begins as NOBODY.

    The circle begins at the machine that was used last, or, with `move_on`, at the one after it. Refused: nothing changes.
    """
    done, turn = 0, 0
    for j in stream.by_start:
        done = release(stream, most, done, stream.start[j], machine_of_out)
        m = next_room(most, turn, stream.demand, j)
        if m == NOBODY and turn > 0:
            m = next_room(most, 0, stream.demand, j)
        if m != NOBODY:
            change(most, m, stream.demand, j, -1)
            machine_of_out[j] = m
            turn = (m + 1) % machines if move_on else m
