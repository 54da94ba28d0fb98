"""`bayplan version` and `bayplan warmup`: what is installed, and whether it is ready."""

import time

from bayplan.cli.console import screen
from bayplan.cli.console.terminal import working
from bayplan.cli.options.shared import Json, Quiet
from bayplan.version import __version__


def version(json: Json = False) -> None:
    """Print the version.

    Example: [cyan]bayplan version[/cyan]
    """
    if json:
        screen.print_object({"version": __version__})
    else:
        print(f"bayplan {__version__}")


def warmup(json: Json = False, quiet: Quiet = False) -> None:
    """Compile all kernels now, for images and machines that many commands will run on.

    No command needs it: each compiles what it is missing before its seconds begin, once. The machine code is kept beside the
    package if one may write there, else in the user's cache; BAYPLAN_CACHE_DIR names another folder. Wheels for Linux on x86-64
    come with machine code.

    Example: [cyan]bayplan warmup[/cyan], as the last step of a container image
    """
    with working("compiling kernels", quiet=quiet) as progress:
        from bayplan.api.warm_up import warm_up

        started = time.perf_counter()
        names, compiled = warm_up(progress)
    seconds = time.perf_counter() - started
    if json:
        screen.print_object({"kernels": names, "compiled": compiled, "seconds": round(seconds, 3)})
    else:
        print(f"{len(names)} kernels are ready, {compiled} of them compiled now, in {seconds:.1f} s")
