"""`bayplan generate`"""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli.console import screen
from bayplan.cli.console.terminal import working
from bayplan.cli.options.shared import Json, Quiet, Seed
from bayplan.errors import UsageError, expect_one_of


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
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Where to write; NAME.json by default; .gz compresses, .zip is Parquet; '-' is stdout.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter, as '--NAME VALUE' does too; repeatable."),
]
OPEN = {"ignore_unknown_options": True, "allow_extra_args": True}  # which settings there are, only the generator knows


def generate(
    context: typer.Context,
    name: Name = None,
    out: Out = None,
    seed: Seed = 0,
    settings: Settings = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a seeded instance at a paper's scale, or list what can be made.

    Each setting of a generator is an option of its own after NAME: leave NAME out to see them all.

    Example: [cyan]bayplan generate rasa-m3 --seed 7 --out m3.json.gz[/cyan]

    Example: [cyan]bayplan generate rasa-m2 --scale 6 --out large.zip[/cyan]

    Example: [cyan]bayplan generate requests --n 1000000 --machines 1000 --load 3[/cyan]
    """
    from bayplan.generate import GENERATORS, read_settings

    if name is not None and name.startswith("-"):
        raise UsageError(f"no option '{name}'; expected the name of a generator before its settings: {', '.join(GENERATORS)}")
    if name is None:
        if out is not None or settings:
            raise UsageError(f"--out and --set are for one generator; expected one of {', '.join(GENERATORS)}")
        _list(as_json=json)
        return
    expect_one_of(name, GENERATORS, "generator")
    chosen = read_settings(name, GENERATORS[name], _pairs([*(settings or []), *_own(context.args)]))
    target = out or Path(f"{name}.json")
    started = time.perf_counter()
    with working(f"generating {name}", quiet=quiet) as progress:
        from bayplan.formats import expect_writable, write

        expect_writable(target)
        write(GENERATORS[name].make(seed=seed, progress=progress, **chosen), target)
    seconds = time.perf_counter() - started
    if json and str(target) != "-":
        screen.print_object({"generated": name, "seed": seed, "file": str(target), "seconds": round(seconds, 3)})
    elif str(target) != "-":
        print(f"{name} (seed {seed}) written to {target} in {seconds:.1f} s")


def _own(arguments: Sequence[str]) -> Iterator[str]:
    """`--value-ratio 7 --n=100` as `value_ratio=7`, `n=100`."""
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        name, equals, value = option.partition("=")
        if not name.startswith("--") or not name[2:]:
            raise UsageError(f"'{option}' is too much; expected settings of the generator, such as --NAME VALUE")
        if not equals and not rest:
            raise UsageError(f"'{option}' has no value; expected a setting of the generator, such as {option} VALUE")
        yield f"{name[2:].replace('-', '_')}={value if equals else rest.pop(0)}"


def _pairs(settings: Iterable[str]) -> dict[str, str]:
    """`a=1`, `b=2` as a mapping."""
    pairs = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name in pairs:
            raise UsageError(f"setting '{setting}': expected NAME=VALUE, each name once")
        pairs[name] = value
    return pairs


def _list(*, as_json: bool) -> None:
    from bayplan.generate import GENERATORS, options

    if as_json:
        listing = {
            name: {"about": g.about, "source": g.source, "settings": {o: default for o, (_, default) in options(g).items()}}
            for name, g in GENERATORS.items()
        }
        screen.print_object({"generators": listing})
        return
    for name, generator in GENERATORS.items():
        print(f"{name:20} {generator.about} [{generator.source}]")
        for option, (kind, default) in options(generator).items():
            print(f"{'':20}   --{option.replace('_', '-')} {default}  ({kind.__name__})")
