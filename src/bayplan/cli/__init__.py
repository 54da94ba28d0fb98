"""The command line: thin. Read, decide, render."""

from bayplan.cli.main import main

__all__ = ["main"]
