"""Decisions as jobs: snapshots by their content, a queue, worker processes, what they say while they run, their files."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter

    from bayplan.serve.service import Service


def routers(service: "Service") -> "list[APIRouter]":
    """The routes of this area."""
    from bayplan.serve.jobs import job_routes, snapshot_routes

    return [snapshot_routes.router(service), job_routes.router(service)]
