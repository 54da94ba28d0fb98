"""The command line: read, decide, render."""
