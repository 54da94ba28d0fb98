"""What [UCaC] reports (section 6): its tables and run times, typed from the paper."""

from collections.abc import Mapping
from typing import NamedTuple

OF_THE_TABLES = ("bf-nsigma", "bf-ucac", "bi-level", "csp-ucac", "csp-machines")  # in the paper's order
METHODS = (*OF_THE_TABLES, "csp-mac")
MACHINES_FIRST = ("csp-mac", "csp-machines")  # both are compared with the paper's CSP-Mac: by its steps, and with our heuristics
THEIR_NAME = {
    "bf-nsigma": "BF-nσ",
    "bf-ucac": "BF-UCaC",
    "bi-level": "BiHeu",
    "csp-ucac": "CSP-UCaC",
    "csp-machines": "CSP-Mac with heuristics",
    "csp-mac": "CSP-Mac",
}
SERVICES = (5, 10, 15, 20)
ALPHAS = (0.999, 0.99)


class Cell(NamedTuple):
    """One method in Table 1, 2 or 3 at one confidence."""

    ucac: float  # over BF-nσ's in Tables 1 and 2, cores in Table 3
    machines: float
    violation: float  # percent


def _rows(methods: tuple[str, ...], *lines: str) -> dict[tuple[int, str], tuple[Cell, Cell]]:
    """(services, method) -> its cells at 99.9 % and at 99 %."""
    keys = [(services, method) for services in SERVICES for method in methods]
    numbers = [[float(word) for word in line.split()] for line in lines]
    cells = {key: (Cell(*line[:3]), Cell(*line[3:])) for key, line in zip(keys, numbers, strict=True)}
    return cells | {(services, "csp-mac"): cells[services, "csp-machines"] for services in SERVICES}


TABLE: Mapping[str, Mapping[tuple[int, str], tuple[Cell, Cell]]] = {
    "scale-down": _rows(  # Table 1
        OF_THE_TABLES,
        "1.00 1.00 0.00 1.00 1.00 0.03",
        "0.94 0.71 0.04 0.96 0.75 0.47",
        "0.94 0.71 0.02 0.96 0.75 0.62",
        "0.94 0.71 0.02 0.96 0.75 0.46",
        "1.02 0.71 0.06 1.04 0.75 0.90",
        "1.00 1.00 0.00 1.00 1.00 0.01",
        "0.94 0.70 0.04 0.96 0.73 0.52",
        "0.93 0.70 0.07 0.95 0.73 0.79",
        "0.94 0.70 0.07 0.95 0.73 0.80",
        "1.01 0.70 0.06 1.04 0.73 0.82",
        "1.00 1.00 0.00 1.00 1.00 0.02",
        "0.94 0.70 0.06 0.96 0.76 0.69",
        "0.93 0.70 0.04 0.95 0.76 0.57",
        "0.93 0.70 0.11 0.95 0.76 0.26",
        "1.00 0.70 0.15 1.03 0.76 0.57",
        "1.00 1.00 0.00 1.00 1.00 0.00",
        "0.94 0.74 0.04 0.96 0.77 0.51",
        "0.93 0.74 0.07 0.95 0.77 0.69",
        "0.94 0.74 0.02 0.96 0.77 0.26",
        "1.01 0.74 0.00 1.05 0.77 0.53",
    ),
    "scale-up": _rows(  # Table 2
        OF_THE_TABLES,
        "1.00 1.00 0.00 1.00 1.00 0.00",
        "0.94 0.66 0.06 0.96 0.70 0.79",
        "0.94 0.65 0.07 0.95 0.69 0.60",
        "0.93 0.64 0.06 0.95 0.68 0.97",
        "0.93 0.64 0.09 0.95 0.68 0.85",
        "1.00 1.00 0.00 1.00 1.00 0.00",
        "0.93 0.64 0.03 0.95 0.67 0.76",
        "0.93 0.64 0.08 0.95 0.67 0.79",
        "0.92 0.63 0.13 0.94 0.66 0.86",
        "0.92 0.63 0.14 0.94 0.66 1.13",
        "1.00 1.00 0.00 1.00 1.00 0.00",
        "0.93 0.66 0.07 0.95 0.69 0.66",
        "0.93 0.65 0.08 0.94 0.68 0.80",
        "0.92 0.64 0.12 0.95 0.69 0.42",
        "0.92 0.64 0.12 0.95 0.69 0.56",
        "1.00 1.00 0.00 1.00 1.00 0.00",
        "0.94 0.66 0.03 0.95 0.69 0.52",
        "0.93 0.65 0.00 0.95 0.68 0.96",
        "0.94 0.68 0.07 0.95 0.70 0.70",
        "0.94 0.68 0.03 0.96 0.70 0.51",
    ),
    "empty": _rows(  # Table 3
        ("csp-ucac", "csp-machines"),
        "32360 1035 0.1 29604 942 0.9",
        "32366 1035 0.1 29614 941 1.1",
        "33156 1056 0.2 30160 958 0.8",
        "33177 1054 0.1 30163 957 1.0",
        "33708 1070 0.1 30670 1008 0.5",
        "33713 1069 0.1 30721 1005 0.5",
        "33413 1118 0.0 30255 995 0.4",
        "33456 1110 0.1 30295 994 0.7",
    ),
}


class Days(NamedTuple):
    """A line of Table 4: averages over seven days, violations in all."""

    ucac: float  # cores at 99.9 %
    machines: float
    violations: float  # machine-days


TABLE_4: Mapping[str, Days] = {
    "bf-1.15sigma": Days(41293.5, 1305, 4.4),
    "bf-1.23sigma": Days(41558.8, 1337, 3.8),
    "bf-3.09sigma": Days(46038.3, 2144, 0.0),
    "csp-machines": Days(42582.0, 1395, 1.9),
    "csp-mac": Days(42582.0, 1395, 1.9),
    "bf-ucac": Days(41738.5, 1350, 2.6),
    "bi-level": Days(41450.4, 1333, 2.4),
    "csp-ucac": Days(41402.3, 1332, 2.0),
}
BEST_N = 1.23  # section 6.2


class Example(NamedTuple):
    """Three containers on one machine."""

    mean: tuple[float, ...]
    variance: tuple[float, ...]
    alpha: float
    d: float  # D(alpha), as printed
    ucac: float


EXAMPLE = Example((2.0, 2.0, 3.0), (0.5, 1.0, 1.5), 0.99, 2.576, 11.46)  # section 4.1
SECONDS: Mapping[str, float] = {  # section 6.1.4; M = 14,213 containers, N = 4,000 machines; 8 cores, Gurobi 9.5
    "bf-nsigma": 0.4,
    "bf-ucac": 14.0,
    "bi-level": 0.7,
    "pattern generation": 14_697.0,  # K = 20, 99.9 %, to strict convergence
    "cutting stock": 154.0,
}
LARGEST_REQUEST, MACHINES = 14_213, 4_000
