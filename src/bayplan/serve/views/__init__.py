"""What the page at `/` draws: the bay plan of a snapshot, what is wrong with it in words, and the loop of a record."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter

    from bayplan.serve.service import Service
    from bayplan.serve.views.loop import LoopRecord


def routers(service: "Service", loop: "LoopRecord | None") -> "list[APIRouter]":
    """The routes of this area."""
    from bayplan.serve.views.drawing import Drawings
    from bayplan.serve.views.router import loop_router, page_router, snapshot_router

    return [page_router(), snapshot_router(Drawings(service.jobs.snapshots)), loop_router(loop, service.jobs)]
