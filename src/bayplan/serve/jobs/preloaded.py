"""What the fork server of worker processes loads once: the functions of all verbs, and with them numpy, scipy and numba."""

from bayplan.serve.jobs import worker
from bayplan.serve.jobs.verbs import VERBS, options_of

__all__ = ["worker"]

for verb in VERBS:
    options_of(verb)
