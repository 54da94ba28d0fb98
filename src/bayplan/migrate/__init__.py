"""From one placement to another, in safe batches."""

from bayplan.migrate.options import MigrateOptions, Migrator

__all__ = ["MigrateOptions", "Migrator"]
