"""`bayplan version`"""

import bayplan
from bayplan.cli import screen
from bayplan.cli.options import Json


def version(json: Json = False) -> None:
    """Print the version.

    Example: [cyan]bayplan version[/cyan]
    """
    if json:
        screen.print_object({"version": bayplan.__version__})
    else:
        print(f"bayplan {bayplan.__version__}")
