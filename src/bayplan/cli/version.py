"""`bayplan version`"""

from bayplan.cli.console import screen
from bayplan.cli.options.shared import Json
from bayplan.version import __version__


def version(json: Json = False) -> None:
    """Print the version.

    Example: [cyan]bayplan version[/cyan]
    """
    if json:
        screen.print_object({"version": __version__})
    else:
        print(f"bayplan {__version__}")
