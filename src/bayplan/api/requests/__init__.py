"""Verbs about requests: cluster requests that arrive, timed requests for more than there is capacity."""
