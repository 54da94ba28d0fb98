"""Files of solutions: a placement in the form of its input, a plan, a schedule, an acceptance."""

import os
from collections.abc import Mapping

from bayplan.formats import answers, plans
from bayplan.formats.document.text import read_document, write_text_atomically
from bayplan.formats.files import PathLike, write_placement
from bayplan.model import Acceptance, Cluster, ClusterRequests, Placement, Plan, Schedule, Snapshot, TimedRequests


def write_solution(path: PathLike, snapshot: Snapshot, placement: Placement) -> None:
    """Write a placement in the form that goes with the snapshot's file; `read_placement` reads it back.

    RASA: machine -> containers; GMRP: one line of machine numbers, UsageError if a process has none; else native.
    """
    if snapshot.format == "rasa":
        from bayplan.formats.rasa import rasa_solution_text

        write_text_atomically(path, rasa_solution_text(snapshot.cluster, placement))
    elif snapshot.format == "gmrp":
        from bayplan.formats.gmrp import gmrp_solution_text

        write_text_atomically(path, gmrp_solution_text(placement))
    else:
        write_placement(path, snapshot.cluster, placement)


def read_plan(path: PathLike, cluster: Cluster) -> Plan:
    """The migration plan in a file, for this cluster."""
    return plans.read_plan(read_document(path), cluster, os.fspath(path))


def write_plan(path: PathLike, plan: Plan, cluster: Cluster, new: Mapping[str, str] | None = None) -> None:
    """Write a plan that `read_plan` reads back; `new` says of which workload containers are that the input does not have."""
    plans.write_plan(path, plan, cluster, {plans.NEW: new} if new else None)


def read_served(path: PathLike, requests: TimedRequests) -> Schedule:
    """The schedule in a file, of these requests."""
    return answers.read_served(read_document(path), requests, os.fspath(path))


def write_served(path: PathLike, schedule: Schedule, requests: TimedRequests) -> None:
    """Write a schedule that `read_served` reads back."""
    answers.write_served(path, schedule, requests)


def read_accepted(path: PathLike, admission: ClusterRequests) -> Acceptance:
    """The acceptance in a file, of these requests."""
    return answers.read_accepted(read_document(path), admission, os.fspath(path))


def write_accepted(path: PathLike, acceptance: Acceptance, admission: ClusterRequests) -> None:
    """Write an acceptance that `read_accepted` reads back."""
    answers.write_accepted(path, acceptance, admission)
