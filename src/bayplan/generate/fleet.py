"""A fleet of clusters in a folder: clusters like those of [RASA] Table II, of different sizes, and the file that names them."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from bayplan.errors import ModelError
from bayplan.formats import ClusterFleet, FleetCluster, write, write_clusters
from bayplan.formats.document.text import make_folder
from bayplan.generate.generator import require
from bayplan.generate.rasa.cluster import make
from bayplan.generate.rasa.settings import M1, M2, M3, M4, ClusterSettings
from bayplan.model import Progress, Snapshot, Tick, silent

FILE = "fleet.yaml"
FEWEST = 10  # machines of a cluster: with less, not all of its containers find one
TRIES = 20


def fleet(
    *, folder: str, seed: int = 0, progress: Progress = silent, clusters: int = 40, machines: int = 500, vary: float = 0.5
) -> Path:
    """Write clusters and the file that names them; its path. One cluster is in memory at a time.

    The number of machines of a cluster lies within `vary` around `machines`. Services and containers for each machine are those
    of M3, the published cluster; how much of the traffic a few services have is that of one of the four, drawn for each cluster.
    """
    require(
        "fleet",
        (clusters >= 1, f"clusters is {clusters}; expected 1 or more"),
        (machines >= FEWEST, f"machines is {machines}; expected {FEWEST} or more"),
        (0 <= vary < 1, f"vary is {vary:g}; expected 0 or more and less than 1"),
    )
    rng = np.random.default_rng(seed)
    make_folder(folder)
    entries = []
    for number in range(clusters):
        progress(Tick(stage=f"cluster {number + 1:,} of {clusters:,}", done=number / clusters))
        size = max(FEWEST, round(machines * rng.uniform(1 - vary, 1 + vary)))
        settings = cluster_settings(f"cluster-{number:0{len(str(clusters - 1))}d}", size, rng)
        file = str(Path(folder) / f"{settings.name}.json")
        write(_made(settings, rng), file)
        entries.append(FleetCluster(name=settings.name, file=file))
    path = Path(folder) / FILE
    write_clusters(ClusterFleet(name=Path(folder).resolve().name, clusters=tuple(entries)), path)
    return path


def _made(settings: ClusterSettings, rng: np.random.Generator) -> Snapshot:
    """A cluster in which all containers have a machine: of a small one, some draws have none for a few."""
    for number in range(TRIES):
        try:
            return make(settings, int(rng.integers(2**31)))
        except ModelError:
            if number == TRIES - 1:
                raise
    raise AssertionError


def cluster_settings(name: str, machines: int, rng: np.random.Generator) -> ClusterSettings:
    """M3 scaled to this number of machines, with the concentration of traffic of one of the four clusters."""
    times = machines / M3.machines
    services, containers = round(M3.services * times), round(M3.containers * times)
    shift = rng.choice([cluster.rank_shift for cluster in (M1, M2, M3, M4)])
    return replace(M3, name=name, machines=machines, services=services, containers=containers, rank_shift=float(shift))
