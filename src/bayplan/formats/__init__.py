"""Files <-> model: native files, RASA, GMRP, requests, streams, samples, solutions, traces; and clusters built in code.

`read` and `write` are for whole files, `expect_writable` for what comes before long work.
"""

from bayplan.formats.builder import ClusterBuilder
from bayplan.formats.clusters import ClusterFleet, FleetCluster, read_clusters, write_clusters
from bayplan.formats.document.text import expect_writable
from bayplan.formats.files import (
    Document,
    read,
    read_admission,
    read_any,
    read_placement,
    read_requests,
    read_timed,
    write,
    write_placement,
)
from bayplan.formats.replica_targets import read_replica_targets
from bayplan.formats.requests import RequestsFile, read_fleet
from bayplan.formats.samples import read_samples, read_usage_series
from bayplan.formats.solutions import (
    read_accepted,
    read_plan,
    read_served,
    write_accepted,
    write_plan,
    write_served,
    write_solution,
)
from bayplan.formats.streams import read_stream

__all__ = [
    "ClusterBuilder",
    "ClusterFleet",
    "Document",
    "FleetCluster",
    "RequestsFile",
    "expect_writable",
    "read",
    "read_accepted",
    "read_admission",
    "read_any",
    "read_clusters",
    "read_fleet",
    "read_placement",
    "read_plan",
    "read_replica_targets",
    "read_requests",
    "read_samples",
    "read_served",
    "read_stream",
    "read_timed",
    "read_usage_series",
    "write",
    "write_accepted",
    "write_clusters",
    "write_placement",
    "write_plan",
    "write_served",
    "write_solution",
]
