"""`bayplan warmup`"""

import time

from bayplan.cli.console import screen
from bayplan.cli.console.terminal import working
from bayplan.cli.options.shared import Json, Quiet


def warmup(json: Json = False, quiet: Quiet = False) -> None:
    """Compile all kernels once, so that later commands start at full speed.

    The machine code is cached beside the package; a second run takes under a second.

    Example: [cyan]bayplan warmup[/cyan]
    """
    with working("compiling kernels", quiet=quiet) as progress:
        from bayplan.api.warm_up import warm_up

        started = time.perf_counter()
        names = warm_up(progress)
    seconds = time.perf_counter() - started
    if json:
        screen.print_object({"kernels": names, "seconds": round(seconds, 3)})
    else:
        print(f"{len(names)} kernel modules ready in {seconds:.1f} s: {', '.join(names)}")
