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
STEPS = 50_000  # iterations, so that the shop's answers are the same on every machine
DRAINED = "a1"  # the machine that has to be emptied
MOVES = "10%"  # of the larger cluster
ARRIVALS: dict[str, Any] = {"zones": 3, "members_most": 4, "slots": 24, "count": 60}  # a small stream, more than fits
TIMED, MACHINES, LOAD = 2000, 10, 3.0  # timed requests for three times what these machines have
HOURS = 6  # of the loop on the simulated shop
PROOF = 3.0  # seconds for an answer with a proven bound
METHODS = (  # whose kernels are compiled at the start, all at once
    ("generate", "rasa-m3"),
    ("place", "ca-wfd"),
    ("rebalance", "search"),
    ("collocate", "best"),
    ("collocate", "best, in counts"),
    ("collocate", "best, by search"),
    ("search", "repair"),
    ("migrate", "waves"),
    ("capacity", "failures"),
    ("admit", "learned"),
    ("one-shot", "local"),
    ("schedule", "cradle+"),
)

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where snapshots, answers and reports go.")]
Each = Annotated[float, typer.Option("--seconds", min=0, help="How long to plan for the larger cluster.")]


class StoryStep(NamedTuple):
    """One question of the story: the command that asks it, the answer in a sentence, and the page to open."""

    question: str
    command: str
    headline: str
    page: Path


def demo(
    out: Folder = Path("bayplan-demo"), seed: SearchSeed = 0, seconds: Each = 5.0, json: Json = False, quiet: Quiet = False
) -> None:
    """Tell the story of a small web shop in a minute: what should move, what if a machine must go, what may fail.

    Then a plan for a cluster of 96 machines and 3,485 containers; groups of containers that arrive one after the other and are
    accepted or refused by prices; and timed requests for more than there is capacity, of which those are served that are worth
    most. Everything is written to a folder, with a page for each answer.

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
        print(f"{number}. {step.question}\n   $ {step.command}\n   {step.headline}\n")
    first = steps[1].page
    print(f"Open {first.resolve()}: search the moves, replay them, see why. {len(files)} files are in {out}.")
    print("Next, with your own cluster: bayplan plan FILE --report plan.html (docs/start says how to write one).")


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
    plan = bp.plan(shop, seed=seed, budget=budget)
    yield _written(out, plan, "What should move, and what do I gain?", "plan boutique.json", "plan")
    drained = bp.plan(shop, seed=seed, budget=budget, what_if=bp.WhatIf(drain=(DRAINED,)))
    question, command = f"What if machine {DRAINED} had to be emptied?", f"plan boutique.json --drain {DRAINED}"
    yield _written(out, drained, question, command, f"without-{DRAINED}")
    failures, page = bp.capacity(shop), out / "capacity.html"
    failures.report(page, command=COMMAND)
    asked = "Which machines, racks and zones may fail?"
    yield StoryStep(asked, "bayplan capacity boutique.json --report capacity.html", failures.headline, page)
    yield _by_itself(out, shop)
    yield from _large(out, seed, seconds)
    yield from _arrivals(out, seed)


def _state(out: Path, shop: "Snapshot") -> StoryStep:
    import bayplan as bp

    state, page = bp.score(shop), out / "report.html"
    state.report(page, command=COMMAND)
    return StoryStep("What does a web shop look like?", "bayplan show boutique.json --report report.html", state.headline, page)


def _by_itself(out: Path, shop: "Snapshot") -> StoryStep:
    """A few hours of the loop on a simulated cluster."""
    import bayplan as bp

    lived, page = bp.run(shop, days=HOURS / 24, churn="calm"), out / "loop.html"
    lived.report(page, command=COMMAND)
    command = f"bayplan run --simulate boutique.json --days {HOURS / 24:g} --report loop.html"
    return StoryStep("And if it did so by itself, every half hour?", command, lived.headline, page)


def _large(out: Path, seed: int, seconds: float) -> Iterator[StoryStep]:
    """A plan for a larger cluster."""
    import bayplan as bp

    large = bp.generate("rasa-m3", seed=seed)
    bp.write(large, out / "rasa-m3.json")
    plan = bp.plan(large, seconds=seconds, seed=seed, max_moves=MOVES)
    yield _written(out, plan, "And for 3,485 containers?", f"plan rasa-m3.json --max-moves {MOVES}", "rasa-m3-plan")


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
    return StoryStep(question, f"bayplan {command} --out {name}.json --report {name}.html", _told(answer), page)


def _told(answer: "Answer[Any]") -> str:
    """The headline; of a plan, what it gains too."""
    from bayplan.api.planning.answer import PlanAnswer
    from bayplan.report.answers.plan_words import gains

    return " ".join([answer.headline, *gains(answer.facts)]) if isinstance(answer, PlanAnswer) else answer.headline
