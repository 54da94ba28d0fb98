"""Admitting clusters of containers: prices over time, and the placement of one cluster."""

from bayplan.kernels.admit.cut import warm_up_cut
from bayplan.kernels.admit.live import warm_up_live
from bayplan.kernels.admit.oneshot import warm_up_one_shots


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
    warm_up_one_shots()
    warm_up_live()
    warm_up_cut()
