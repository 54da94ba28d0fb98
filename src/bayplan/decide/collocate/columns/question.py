"""What is asked of one machine of a type: arrays of the pricing kernels, without services that cannot pay."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.collocate.task import Task
from bayplan.kernels.collocate.relax import Question
from bayplan.model import FloatArray, IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corner:
    """One machine of a type: what it could run, and what stands there."""

    most: IntArray  # (service,) containers at most
    amount: IntArray  # (service, row) resources and anti-affinity sets that can become scarce
    room: IntArray  # (row,) positive
    fixed: IntArray  # (service,)
    base: float  # affinity that is gained there without any new container


def corner_of(task: Task, m: int) -> Corner:
    """Machine m by itself."""
    amount = np.concatenate([task.request, task.member.T.astype(np.int64)], axis=1)
    room = np.concatenate([task.room[m], task.spare[:, m]])
    fits = np.where(amount > 0, room // np.maximum(amount, 1), np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    most = np.where(task.allow[task.row_of, m], np.minimum(task.demand, fits), 0)
    scarce = (most.astype(np.float64) @ amount > 0.999 * room) & (room > 0)  # float: sums may pass 2^63
    share = task.fixed[:, m] / task.replicas
    base = float(task.weight @ np.minimum(share[task.a], share[task.b]))
    return Corner(most=ints(most), amount=ints(amount[:, scarce]), room=ints(room[scarce]), fixed=task.fixed[:, m], base=base)


def question_of(task: Task, corner: Corner, cost: FloatArray) -> tuple[Question, IntArray, IntArray]:
    """The question at some cost per container, the services that it is about, and for each half-edge its number.

    Half-edges are numbered by the task's edges, seen from a; then all of them again, seen from b.

    A container that gains less than it costs even where all of its neighbours stand is in no best pattern.
    """
    stays = corner.fixed > 0
    alive = (corner.most > 0) | stays
    while True:
        inside = alive[task.a] & alive[task.b] & (task.weight > 0)
        gain = np.bincount(task.a, task.weight * inside, len(alive)) + np.bincount(task.b, task.weight * inside, len(alive))
        pays = (gain / task.replicas > cost) & (corner.most > 0)
        keep = alive & (pays | stays)
        if (keep == alive).all():
            break
        alive = keep
    service = np.flatnonzero(alive)
    most = np.where(pays, corner.most, 0)[service]
    question, edge = _assembled(task, corner, cost, service, most)
    return question, ints(service), edge


def _assembled(task: Task, corner: Corner, cost: FloatArray, service: IntArray, most: IntArray) -> tuple[Question, IntArray]:
    place = np.full(len(task.demand), -1, dtype=np.int64)
    place[service] = np.arange(len(service))
    inside = np.flatnonzero((place[task.a] >= 0) & (place[task.b] >= 0) & (task.weight > 0))
    a, b, weight = place[task.a[inside]], place[task.b[inside]], task.weight[inside]
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(ends, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    user, row = np.nonzero(corner.amount[service])
    question = Question(
        start=np.searchsorted(ends[order], np.arange(len(service) + 1)).astype(np.int64),
        other=others[order],
        twin=position[(order + len(a)) % max(1, 2 * len(a))],
        weight=np.concatenate([weight, weight])[order],
        unit=1.0 / task.replicas[service],
        share=corner.fixed[service] / task.replicas[service],
        cost=cost[service],
        most=most,
        row_start=np.searchsorted(user, np.arange(len(service) + 1)).astype(np.int64),
        row=row.astype(np.int64),
        amount=corner.amount[service[user], row],
        room=corner.room.copy(),  # kernels are compiled for arrays that can be written to
        fill=(corner.amount[service] / corner.room)[user, row],
    )
    return question, np.concatenate([inside, inside + len(task.a)])[order]
