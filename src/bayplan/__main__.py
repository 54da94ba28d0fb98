"""The entry point, `bayplan` or `python -m bayplan`: light, so that an early Ctrl-C is caught too."""

import sys


def run() -> int:
    """Run the command line; the exit code."""
    try:
        from bayplan.cli import main

        return main()
    except KeyboardInterrupt:
        print("bayplan: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
