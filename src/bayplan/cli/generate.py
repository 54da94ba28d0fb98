"""`bayplan generate`"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import screen
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.terminal import working
from bayplan.errors import UsageError


def _names(incomplete: str) -> list[str]:
    from bayplan.generate import GENERATORS

    return [name for name in GENERATORS if name.startswith(incomplete)]


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="What to generate; leave it out to see the list.", autocompletion=_names, show_default=False
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Where to write; NAME.json by default; .gz compresses; '-' is stdout."),
]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter; repeatable.")]


def generate(
    name: Name = None, out: Out = None, seed: Seed = 0, settings: Settings = None, json: Json = False, quiet: Quiet = False
) -> None:
    """Make a seeded instance at a paper's scale, or list what can be made.

    Example: [cyan]bayplan generate rasa-m3 --seed 7 --out m3.json.gz[/cyan]
    """
    from bayplan.generate import GENERATORS, read_settings

    if name is None:
        if out is not None or settings:
            raise UsageError(f"--out and --set are for one generator; expected one of {', '.join(GENERATORS)}")
        _list(as_json=json)
        return
    if name not in GENERATORS:
        raise UsageError(f"no generator '{name}'; expected one of {', '.join(GENERATORS)}")
    chosen = read_settings(name, GENERATORS[name], _pairs(settings or []))
    target = out or Path(f"{name}.json")
    started = time.perf_counter()
    with working(f"generating {name}", quiet=quiet) as progress:
        from bayplan.collect import write

        write(target, GENERATORS[name].make(seed=seed, progress=progress, **chosen))
    seconds = time.perf_counter() - started
    if json and str(target) != "-":
        screen.say_object({"generated": name, "seed": seed, "file": str(target), "seconds": round(seconds, 3)})
    elif str(target) != "-":
        print(f"{name} (seed {seed}) written to {target} in {seconds:.1f} s")


def _pairs(settings: Iterable[str]) -> dict[str, str]:
    """`--set a=1 --set b=2` as a mapping."""
    pairs = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name in pairs:
            raise UsageError(f"--set '{setting}': expected NAME=VALUE, each name once")
        pairs[name] = value
    return pairs


def _list(*, as_json: bool) -> None:
    from bayplan.generate import GENERATORS, options

    if as_json:
        listing = {
            name: {"about": g.about, "source": g.source, "settings": {o: default for o, (_, default) in options(g).items()}}
            for name, g in GENERATORS.items()
        }
        screen.say_object({"generators": listing})
        return
    for name, generator in GENERATORS.items():
        print(f"{name:20} {generator.about} [{generator.source}]")
        for option, (kind, default) in options(generator).items():
            print(f"{'':20}   --set {option}={default}  ({kind.__name__})")
