"""Numba over arrays; imports nothing of ours."""

KERNELS = ("admit", "collocate", "kube_scheduler", "pack", "performance", "schedule", "search")  # each has a `warm_up()`
