"""`bayplan pack`"""

from typing import TYPE_CHECKING

import typer

from bayplan.cli import clock, screen
from bayplan.cli import pack_options as option
from bayplan.cli.decision import Out, Seconds, Threads
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.outputs import a_file, command_line, expect_files, spare
from bayplan.cli.terminal import note, warn, working
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.pack import Packing

BEST_SO_FAR = "interrupted: this is the best so far"


def pack(
    file: File,
    method: option.Method = "csp-ucac",
    confidence: option.Alpha = None,
    confidence_of: option.AlphaOf = None,
    resource: option.ResourceName = None,
    uncertainty: option.Uncertainty = "gaussian",
    samples: option.SamplesFile = None,
    n_sigma: option.Sigmas = None,
    patterns: option.Patterns = None,
    save_patterns: option.SavePatterns = None,
    machines_needed: option.Needed = False,
    seconds: Seconds = 30.0,
    seed: Seed = 0,
    start: Start = None,
    threads: Threads = 1,
    out: Out = None,
    report: option.Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Pack containers whose usage varies, so that machines overflow with at most a stated probability.

    Containers without a machine are packed, those that run stay. As little capacity as possible is used at that confidence
    (UCaC). What fits nowhere is left out, with the reason. Ctrl-C keeps the best so far.

    Methods:

    - csp-ucac: patterns by column generation, then an integer program; with a proven bound

    - bf-ucac: best fit, each container on the machine that is fullest with it

    - bi-level: machines and services in the order of their uncertainty

    - bf-nsigma: best fit by mean and n deviations of each container alone, as one does without UCaC

    - csp-machines: as few machines as possible

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --out packed.json --report packed.html[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.99 --confidence-of checkout=0.9999 --method bi-level[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --machines-needed --json[/cyan]
    """
    expect_files(out, report, file, start, samples, patterns)
    a_file(save_patterns, "--save-patterns")
    spare(save_patterns, "--save-patterns", file, start, samples)
    if machines_needed and (out or report):
        raise UsageError("--machines-needed packs nothing: expected neither --out nor --report")
    with working(f"packing {file}", quiet=quiet) as progress:
        from bayplan.api.decide import budget_for, chosen
        from bayplan.api.files import read as load
        from bayplan.api.pack import instance_of, pack_options, save, seconds_afterwards, write_packing
        from bayplan.api.pack import pack as pack_it
        from bayplan.api.pack_needed import how_many
        from bayplan.decide.pack import PACKERS
        from bayplan.decide.pack.cutting_stock import with_bound
        from bayplan.decide.pack.instance import UsageModel, main_resource
        from bayplan.formats.samples import read_samples

        packer = chosen(PACKERS, method)
        snapshot = load(file, start)
        measured = {} if samples is None else read_samples(samples, snapshot.cluster, main_resource(snapshot.cluster, resource))
        instance = instance_of(
            snapshot,
            confidence=confidence,
            confidence_of=option.confidences_of(confidence_of),
            resource=resource,
            usage=UsageModel(uncertainty=uncertainty, samples=measured, seed=seed),
        )
        note((*snapshot.notes, *instance.notes), quiet=quiet)
        options = pack_options(instance, n_sigma=n_sigma, patterns=patterns)
        budget = budget_for(
            snapshot, seconds=seconds, used=clock.seconds() + seconds_afterwards(instance, seconds), threads=threads
        )
        if machines_needed:
            needed = how_many(instance, budget=budget, seed=seed, progress=progress)
        else:
            left = budget.clock()
            packing = pack_it(
                instance,
                lambda problem: with_bound(
                    problem, packer(problem, options, budget=budget, seed=seed, progress=progress), clock=left, progress=progress
                ),
            )
            given = {"resource": resource, "uncertainty": uncertainty, "samples": samples, "n_sigma": n_sigma, "start": start}
            line = command_line(f"pack {file}", method=method, confidence=instance.alpha, seed=seed, **given)
            write_packing(packing, out=out, report=report, command=line)
            save(packing, save_patterns)
    if machines_needed:
        if needed["interrupted"]:
            warn(BEST_SO_FAR)
        screen.needed({**needed, "wall_seconds": clock.seconds()}, as_json=json)
    else:
        _say(packing, method=method, seed=seed, as_json=json)


def _say(packing: "Packing", *, method: str, seed: int, as_json: bool) -> None:
    """The answer on stdout; on stderr whether it was cut short. Exit code 3 if there is none."""
    if packing.decision.interrupted:
        warn(BEST_SO_FAR)
    screen.packing(packing, method=method, seed=seed, wall=clock.seconds(), as_json=as_json)
    if packing.decision.result.solution is None:
        raise typer.Exit(ANSWER_IS_NO)
