"""Which experiments tell of which paper."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import experiments.cradle.claims
import experiments.freecontainer.claims
import experiments.gaussian.claims
import experiments.gmrp.claims
import experiments.migrate.claims
import experiments.online_clusters.claims
import experiments.production.claims
import experiments.rasa.claims
import experiments.selection.claims
import experiments.ucac.claims
from experiments.results import ROOT
from experiments.verdicts import Claim

HERE = ROOT / "experiments"
FREECONTAINER, ONLINE_CLUSTERS, CRADLE, UCAC, RASA = "FreeContainer", "Online clusters", "Cradle", "UCaC", "RASA"
NAMES = (FREECONTAINER, ONLINE_CLUSTERS, CRADLE, UCAC, RASA)


class ClaimsIn(Protocol):
    """The claims that the CSV files of a folder have the rows for."""

    def __call__(self, folder: Path, *, quick: bool = False) -> list[Claim]:
        """`quick`: they are those of a first look."""
        ...


class Reproduction(NamedTuple):
    """What `bayplan reproduce` tells at the end: the claims of the folder that it wrote, and the page in it."""

    claims: ClaimsIn
    page: str


REPRODUCTIONS: Mapping[str, Reproduction] = {
    "freecontainer": Reproduction(experiments.freecontainer.claims.claims_in, "tables.md"),
    "gmrp": Reproduction(experiments.gmrp.claims.claims_in, "gmrp.md"),
    "rasa": Reproduction(experiments.rasa.claims.claims_in, "rasa.md"),
    "ucac": Reproduction(experiments.ucac.claims.claims_in, "ucac.md"),
    "online-clusters": Reproduction(experiments.online_clusters.claims.claims_in, "tables.md"),
    "cradle": Reproduction(experiments.cradle.claims.claims_in, "tables.md"),
}

MEASURED: Mapping[str, Sequence[Callable[[], list[Claim]]]] = {  # from the CSV files of the repository
    FREECONTAINER: (
        lambda: experiments.freecontainer.claims.claims_in(HERE / "freecontainer"),
        lambda: experiments.production.claims.freecontainer_claims_in(HERE / "production"),
    ),
    ONLINE_CLUSTERS: (lambda: experiments.online_clusters.claims.claims_in(HERE / "online_clusters"),),
    CRADLE: (lambda: experiments.cradle.claims.claims_in(HERE / "cradle"),),
    UCAC: (
        lambda: experiments.ucac.claims.claims_in(HERE / "ucac"),
        lambda: experiments.gaussian.claims.claims_in(HERE / "gaussian"),
    ),
    RASA: (
        lambda: experiments.rasa.claims.claims_in(HERE / "rasa"),
        lambda: experiments.migrate.claims.claims_in(HERE / "migrate"),
        lambda: experiments.production.claims.rasa_claims_in(HERE / "production"),
        lambda: experiments.selection.claims.claims_in(HERE / "selection"),
    ),
}


def measured_claims(paper: str) -> list[Claim]:
    """All claims of a paper that an experiment measures."""
    return [claim for claims in MEASURED[paper] for claim in claims()]
