"""`bayplan demo`"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bayplan.cli.console.screen import print_object
from bayplan.cli.console.terminal import working
from bayplan.cli.options.shared import Json, Quiet, SearchSeed

if TYPE_CHECKING:
    from bayplan.api.answer import Answer
    from bayplan.model import Snapshot

COMMAND = "bayplan demo"
OVERLOAD, FEW_MOVES, MORE_MOVES = 100.0, "10%", "25%"
ALIVE = 0.6  # of three databases two, so that they can change places
STEPS = 50_000  # iterations, so that the shop's answers are the same on every machine
ARRIVALS: dict[str, Any] = {"zones": 3, "members_most": 4, "slots": 24, "count": 60}  # a small stream, more than fits
TIMED, MACHINES, LOAD = 2000, 10, 3.0  # timed requests for three times what these machines have
PROOF = 3.0  # seconds for an answer with a proven bound
METHODS = (  # whose kernels are compiled at the start, all at once
    ("generate", "rasa-m3"),
    ("place", "best"),
    ("rebalance", "search"),
    ("collocate", "best"),
    ("migrate", "waves"),
    ("admit", "learned"),
    ("one-shot", "local"),
    ("schedule", "cradle+"),
)

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where snapshots, answers and reports go.")]
Each = Annotated[float, typer.Option("--seconds", min=0, help="How long to collocate the larger cluster.")]


class StoryStep(NamedTuple):
    """One question of the story: the command that asks it, the answer in a sentence, and the page to open."""

    question: str
    command: str
    headline: str
    page: Path


def demo(
    out: Folder = Path("bayplan-demo"), seed: SearchSeed = 0, seconds: Each = 5.0, json: Json = False, quiet: Quiet = False
) -> None:
    """Tell the story of a small web shop: its hot machines, its new containers, what should move, and in which safe order.

    Then a cluster of 96 machines and 3,485 containers is collocated, a quarter of the containers moving at most; groups of
    containers that arrive one after the other are accepted or refused by prices; and of timed requests for more than there is
    capacity those are served that are worth most. Everything is written to a folder, with a page for each answer.

    Example: [cyan]bayplan demo --out demo[/cyan]
    """
    steps: list[StoryStep] = []
    with working("preparing the demo", quiet=quiet) as progress:
        from bayplan.api.files import make_folder
        from bayplan.api.warm_up import warm_up_methods

        make_folder(out)
        warm_up_methods(METHODS, progress)
        for number, step in enumerate(_story(out, seed, seconds)):
            progress(_tick(step, number))
            steps.append(step)
    files = sorted(str(file) for file in out.iterdir())
    if json:
        story = [{**step._asdict(), "page": str(step.page)} for step in steps]
        print_object({"seed": seed, "story": story, "files": files})
        return
    for number, step in enumerate(steps, start=1):
        print(f"{number}. {step.question}\n   $ {step.command}\n   {step.headline}\n   {step.page.resolve()}\n")
    print(f"{len(files)} files are in {out}. Go on with your own cluster: bayplan show FILE; docs/start says how to write one.")


def _tick(step: StoryStep, number: int) -> Any:
    from bayplan.model import Tick

    return Tick(stage=step.question, done=min(1.0, (number + 1) / 8))


def _story(out: Path, seed: int, seconds: float) -> Iterator[StoryStep]:
    """The steps, one after the other; their files are written on the way."""
    import bayplan as bp
    from bayplan.api.inspect import write_picture

    shop = bp.generate("boutique", seed=seed)
    bp.write(shop, out / "boutique.json")
    write_picture(out / "bay-plan.svg", shop)
    yield _state(out, shop)
    budget = bp.Budget(iterations=STEPS)
    placed = bp.place(shop, seed=seed, budget=budget)
    yield _written(out, placed, "Where do its new containers go?", "place boutique.json", "placed")
    moved = bp.rebalance(placed.after, seed=seed, weights={"overload": OVERLOAD}, max_moves=FEW_MOVES, budget=budget)
    command = f"rebalance boutique.json --start placed.json --weight overload={OVERLOAD:g} --max-moves {FEW_MOVES}"
    yield _written(out, moved, "Which few moves take the load off hot machines?", command, "placement")
    plan = bp.migrate(shop, moved.placement, alive=ALIVE, seed=seed)
    command = f"migrate boutique.json --to placement.json --alive {ALIVE}"
    yield _written(out, plan, "In which safe order?", command, "plan")
    yield from _large(out, seed, seconds)
    yield from _arrivals(out, seed)


def _state(out: Path, shop: "Snapshot") -> StoryStep:
    import bayplan as bp

    state, page = bp.score(shop), out / "report.html"
    state.report(page, command=COMMAND)
    return StoryStep("What does a web shop look like?", "bayplan show boutique.json --report report.html", state.headline, page)


def _large(out: Path, seed: int, seconds: float) -> Iterator[StoryStep]:
    """A larger cluster, its workloads brought together."""
    import bayplan as bp

    large = bp.generate("rasa-m3", seed=seed)
    bp.write(large, out / "rasa-m3.json")
    answer = bp.collocate(large, seconds=seconds, seed=seed, max_moves=MORE_MOVES, engine="here")
    question = "A larger cluster: which workloads belong on the same machines?"
    yield _written(out, answer, question, f"collocate rasa-m3.json --max-moves {MORE_MOVES}", "rasa-m3-together")
    plan = bp.migrate(large, answer.placement, alive=ALIVE, seed=seed)
    command = f"migrate rasa-m3.json --to rasa-m3-together.json --alive {ALIVE}"
    yield _written(out, plan, "And in which order?", command, "rasa-m3-plan")


def _arrivals(out: Path, seed: int) -> Iterator[StoryStep]:
    """Groups of containers that arrive one after the other, and timed requests."""
    import bayplan as bp

    stream = bp.generate("container-clusters", seed=seed, **ARRIVALS)
    bp.write(stream, out / "stream.jsonl")
    accepted = bp.admit(stream, bound=True, seconds=PROOF, seed=seed)
    yield _written(out, accepted, "Groups arrive: which are accepted?", "admit stream.jsonl --bound", "accepted")
    requests = bp.generate("requests", n=TIMED, machines=MACHINES, load=LOAD, weights="random", seed=seed)
    bp.write(requests, out / "requests.json")
    served = bp.schedule(requests, machines=MACHINES, seconds=PROOF, seed=seed)
    command = f"schedule requests.json --machines {MACHINES}"
    yield _written(out, served, "There is not enough for all: which requests are served?", command, "served")


def _written(out: Path, answer: "Answer[Any]", question: str, command: str, name: str) -> StoryStep:
    """The step of an answer, which is written to NAME.json and NAME.html."""
    page = out / f"{name}.html"
    answer.save(out / f"{name}.json")
    answer.report(page, command=COMMAND)
    return StoryStep(question, f"bayplan {command} --out {name}.json --report {name}.html", answer.headline, page)
