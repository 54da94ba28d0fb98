"""From one placement to another, in safe batches."""

from collections.abc import Mapping

from bayplan.migrate.options import MigrateOptions, Migrator
from bayplan.migrate.rasa import rasa
from bayplan.migrate.waves import waves

MIGRATORS: Mapping[str, Migrator] = {
    "waves": waves,
    "rasa": rasa,
}

__all__ = ["MIGRATORS", "MigrateOptions", "Migrator"]
