"""The week that the demo opens on: the record of a loop that kept a simulated shop in order, shipped with the package.

python -m bayplan.serve.demo.week

runs that week again and writes the file anew. It takes minutes; equal seeds give an equal week.
"""

import gzip
import json
import sqlite3
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import bayplan as bp
from bayplan.formats.files import snapshot_in
from bayplan.model import UNPLACED, Snapshot, ints
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.run import compile_kernels, simulated_settings
from bayplan.operate.settings import DAY
from bayplan.operate.simulated import SimulatedOrchestrator
from bayplan.operate.simulated.settings import preset
from bayplan.operate.store import Store

NAME = "week.db.gz"
DAYS = 7


def unpack_week(path: Path) -> None:
    """Write the record of the week."""
    path.write_bytes(gzip.decompress((files("bayplan.serve.demo") / NAME).read_bytes()))


def shop_after(store: Store) -> Snapshot:
    """The shop with its containers where they ran when the loop saw them last, as far as both know them."""
    shop: Snapshot = bp.generate("boutique")
    observed = store.observed()
    if observed is None:
        return shop
    seen = snapshot_in(json.loads(gzip.decompress(observed[1])), NAME)
    assert seen is not None  # the loop writes nothing else
    number = {name: m for m, name in enumerate(shop.cluster.machines.name)}
    machines = [number.get(name, UNPLACED) for name in seen.cluster.machines.name]  # some have come and gone
    pairs = zip(seen.cluster.containers.name, seen.placement.machine_of.tolist(), strict=True)
    runs_on = {name: machines[m] for name, m in pairs if m != UNPLACED}
    return shop.placed_as(ints([runs_on.get(name, UNPLACED) for name in shop.cluster.containers.name]))


def record_week(path: Path, days: float = DAYS) -> None:
    """Let a loop keep the simulated shop in order for a week, and write its record."""
    snapshot = bp.generate("boutique")
    cluster = SimulatedOrchestrator(snapshot, settings=preset("calm"), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "week.db"
        with Store.open(record) as store:
            settings = simulated_settings(snapshot)
            context = LoopContext(orchestrator=cluster, store=store, settings=settings, show_every=0.0)
            Loop(context, poll=settings.every).run(until=cluster.now() + days * DAY)
            assert store.open_plan() is None  # the demo could not go on with it
        with sqlite3.connect(record) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        path.write_bytes(gzip.compress(record.read_bytes(), mtime=0))


if __name__ == "__main__":
    compile_kernels()
    record_week(Path(__file__).parent / NAME)
    sys.exit(0)
