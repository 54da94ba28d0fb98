"""A GMRP model of any size, to measure reading: its shape is that of the challenge's largest, its numbers mean little.

python -m benchmarks.gmrp_model FOLDER     writes model_large.txt and assignment_large.txt there
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Size(NamedTuple):
    """How much of everything."""

    resources: int = 12
    machines: int = 5_000
    services: int = 10_000
    processes: int = 50_000
    targets: int = 10


LARGE = Size()


def write_gmrp_model(folder: Path, size: Size = LARGE, seed: int = 0) -> Path:
    """The model's path; its assignment stands beside it. Move costs are most of the text: one per pair of machines."""
    rng = np.random.default_rng(seed)
    model = folder / "model_large.txt"
    with model.open("w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in _lines(size, rng))
    machine_of = rng.integers(size.machines, size=size.processes)
    (folder / "assignment_large.txt").write_text(_line(machine_of) + "\n", encoding="ascii")
    return model


def _line(numbers: np.ndarray) -> str:
    return " ".join(map(str, numbers.tolist()))


def _lines(size: Size, rng: np.random.Generator) -> Iterator[str]:
    n_r, n_m, n_s, n_p = size[:4]
    yield str(n_r)
    yield from (f"{int(r < 2)} {10 * (r + 1)}" for r in range(n_r))
    yield str(n_m)
    for m in range(n_m):
        capacity = rng.integers(10**7, 10**8, size=n_r)
        price = rng.integers(0, 20, size=n_m)
        price[m] = 0
        yield _line(np.concatenate([rng.integers(100, size=2), capacity, capacity * 9 // 10, price]))
    yield str(n_s)
    for s in range(n_s):
        on = rng.integers(n_s, size=rng.integers(3)) if s % 5 == 0 else np.zeros(0, dtype=np.int64)
        yield _line(np.concatenate([[1 + s % 2, len(on)], on]))
    yield str(n_p)
    process = rng.integers(0, 10**6, size=(n_p, n_r + 2))
    process[:, 0] = np.arange(n_p) % n_s  # no service is empty
    process[:, -1] = rng.integers(1, 100, size=n_p)
    yield from (_line(row) for row in process)
    yield str(size.targets)
    yield from (f"{b % n_r} {(b + 1) % n_r} 2 10" for b in range(size.targets))
    yield "1 10 100"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    print(write_gmrp_model(parser.parse_args().folder))
