"""Seeded instances at the papers' scales: the registry. `docs/verbs/generate.md` says what each is calibrated to."""

from collections.abc import Mapping

from bayplan.generate.generator import Generator, Lazy, Setting, options, read_settings

GENERATORS: Mapping[str, Generator] = {
    "boutique": Generator(
        about="a small web shop on 12 machines with hot spots and chatty services apart, for demos",
        source="own numbers",
        make=Lazy("bayplan.generate.boutique", "boutique"),
    ),
    "freecontainer-dca": Generator(
        about="2,513 servers, 10,000+ containers of 25 services, and a new service of 2,000+ to place",
        source="[FreeContainer] §VI, DC_A",
        make=Lazy("bayplan.generate.freecontainer", "freecontainer_dca"),
    ),
    "freecontainer-dcb": Generator(
        about="4,361 servers, 25,000+ containers of 29 services, and a new service of 5,000+ to place",
        source="[FreeContainer] §VI, DC_B",
        make=Lazy("bayplan.generate.freecontainer", "freecontainer_dcb"),
    ),
    "ucac": Generator(
        about="services with uncertain cpu usage, on 4,000 machines that are empty or run some of them",
        source="[UCaC] Table 5",
        make=Lazy("bayplan.generate.ucac", "ucac"),
    ),
    "rasa-m1": Generator(
        about="5,904 workloads, 25,640 containers, 977 machines, power-law affinity",
        source="[RASA] Table II, M1",
        make=Lazy("bayplan.generate.rasa", "rasa_m1"),
    ),
    "rasa-m2": Generator(
        about="10,180 workloads, 152,833 containers, 5,284 machines, power-law affinity",
        source="[RASA] Table II, M2",
        make=Lazy("bayplan.generate.rasa", "rasa_m2"),
    ),
    "rasa-m3": Generator(
        about="547 workloads, 3,485 containers, 96 machines, power-law affinity",
        source="[RASA] Table II, M3",
        make=Lazy("bayplan.generate.rasa", "rasa_m3"),
    ),
    "rasa-m4": Generator(
        about="10,682 workloads, 113,261 containers, 4,365 machines, power-law affinity",
        source="[RASA] Table II, M4",
        make=Lazy("bayplan.generate.rasa", "rasa_m4"),
    ),
    "requests": Generator(
        about="timed requests for cpu and memory at a stated load factor",
        source="[Cradle] §V",
        make=Lazy("bayplan.generate.requests", "requests"),
    ),
    "container-clusters": Generator(
        about="9 zones with links, and 100 arriving clusters of 2-8 communicating containers",
        source="[Online clusters] §VI",
        make=Lazy("bayplan.generate.container_clusters", "container_clusters"),
    ),
    "azure-clusters": Generator(
        about="the same zones, 100 batches of machines of Azure's trace, traffic of Alibaba's call graphs",
        source="[Online clusters] §VI, two traces",
        make=Lazy("bayplan.generate.azure_clusters", "azure_clusters"),
    ),
}

FOLDERS: Mapping[str, Generator] = {  # of many files: `make` takes the folder too, and returns the path of the first to read
    "fleet": Generator(
        about="a folder of clusters like M1 to M4 and the file that names them, for `plan` of a fleet",
        source="[RASA] Table II, scaled",
        make=Lazy("bayplan.generate.fleet", "fleet"),
    ),
}

__all__ = ["FOLDERS", "GENERATORS", "Generator", "Lazy", "Setting", "options", "read_settings"]
