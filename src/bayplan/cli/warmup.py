"""`bayplan warmup`"""

import time

from bayplan.cli.options import Quiet
from bayplan.cli.terminal import working


def warmup(quiet: Quiet = False) -> None:
    """Compile all kernels once, so that later commands start at full speed.

    The machine code is cached beside the package; a second run takes under a second.

    Example: [cyan]bayplan warmup[/cyan]
    """
    with working("compiling kernels", quiet=quiet) as progress:
        from bayplan.flows.warm_up import warm_up

        started = time.perf_counter()
        names = warm_up(progress)
    print(f"{len(names)} kernel modules ready in {time.perf_counter() - started:.1f} s: {', '.join(names)}")
