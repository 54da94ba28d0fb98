"""`bayplan version`"""

import bayplan


def version() -> None:
    """Print the version.

    Example: [cyan]bayplan version[/cyan]
    """
    print(f"bayplan {bayplan.__version__}")
