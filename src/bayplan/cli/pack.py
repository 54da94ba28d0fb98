"""`bayplan pack`"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Engine, Out, Seconds, Threads, finish
from bayplan.cli.console.fleet import free_machines
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import pack as option
from bayplan.cli.options.shared import File, Json, Quiet, Start, pairs
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.pack import PackingAnswer
    from bayplan.api.packing.machines_needed import MachinesNeededAnswer
    from bayplan.model import Cluster, FloatArray


def pack(
    file: File,
    method: option.Method = "csp-ucac",
    confidence: option.Alpha = None,
    confidence_of: option.AlphaOf = None,
    resource: option.ResourceName = None,
    uncertainty: option.Uncertainty = "gaussian",
    samples: option.SamplesFile = None,
    peak: option.Peak = None,
    peak_window: option.PeakWindow = 3600.0,
    fleet: option.FleetFile = None,
    n_sigma: option.Sigmas = None,
    patterns: option.Patterns = None,
    save_patterns: option.SavePatterns = None,
    targets: option.TargetsFile = None,
    machines_needed: option.Needed = False,
    seconds: Seconds = 30.0,
    seed: option.Seed = 0,
    start: Start = None,
    threads: Threads = 1,
    engine: Engine = "pool",
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

    - bi-level: machines and workloads in the order of their uncertainty

    - bf-nsigma: best fit by mean and n deviations of each container alone, as one does without UCaC

    - csp-machines: as few machines as possible

    - csp-mac: the same as its paper has it, without a look at uncertainty; a baseline for experiments

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --out packed.json --report packed.html[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.99 --confidence-of checkout=0.9999 --method bi-level[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --targets targets.yaml --out tomorrow.json[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --samples usage.csv --peak service[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.999 --machines-needed --json[/cyan]

    Example: [cyan]bayplan pack web.yaml --confidence 0.99 --fleet clusters.yaml --out packed.json[/cyan]
    """
    expect_outputs(
        {"--out": out, "--report": report, "--save-patterns": save_patterns}, file, start, samples, patterns, targets, fleet
    )
    if machines_needed:
        _expect_none_of({"--out": out, "--report": report, "--save-patterns": save_patterns, "--targets": targets})
    if peak is not None and samples is None:
        raise UsageError("--peak is of measured usage: expected --samples, too")
    with working(f"reading {file}", quiet=quiet):
        import bayplan as bp
        from bayplan.api.packing.replica_targets import read_targets
        from bayplan.formats.patterns import read_patterns
        from bayplan.model.interrupt import stoppable

        snapshot = bp.read(file, start) if fleet is None else free_machines(bp.read(file, start), fleet)
        usage, peaks = (None, ()) if samples is None else _measured(samples, snapshot.cluster, resource, peak, peak_window)
        stated: dict[str, Any] = {
            "confidence": confidence,
            "confidence_of": pairs(confidence_of, "--confidence-of", option.CONFIDENCES),
            "resource": resource,
            "uncertainty": uncertainty,
            "samples": usage,
            "seed": seed,
            "threads": threads,
        }
        numbers = None if targets is None else read_targets(targets, snapshot.cluster)
        earlier = None if patterns is None else read_patterns(patterns, snapshot.cluster)
    answer: PackingAnswer | MachinesNeededAnswer
    with stoppable():  # from here on the first Ctrl-C loses no file
        with working(f"packing {file}", quiet=quiet) as progress:
            stated |= {"engine": engine, "seconds": clock.left(seconds), "progress": progress}
            if machines_needed:
                answer = bp.machines_needed(snapshot, **stated)
            else:
                answer = bp.pack(snapshot, method=method, n_sigma=n_sigma, patterns=earlier, targets=numbers, **stated)
                if save_patterns is not None:
                    answer.save_patterns(save_patterns)
        note((*answer.input_notes, *peaks), quiet=quiet)
        following = None if fleet is not None else "pack --targets" if targets is not None else ""
        finish(answer, file=file, out=out, report=report, json=json, following=following)


def _measured(
    samples: Path, cluster: "Cluster", resource: str | None, peak: str | None, window: float
) -> tuple[Mapping[str, "FloatArray"] | None, tuple[str, ...]]:
    """Usage by workload, and when the peaks are, if only these count."""
    from bayplan.api.packing.measured_usage import peak_notes, read_peaks, read_usage

    if peak is None:
        return read_usage(samples, cluster, resource), ()
    peaks = read_peaks(samples, cluster, resource, of=peak, window=window)
    return {name: usage.samples for name, usage in peaks.items()}, peak_notes(peaks, cluster, resource, window=window)


def _expect_none_of(options: Mapping[str, object]) -> None:
    """UsageError if one of these is given with --machines-needed."""
    if given := [option for option, value in options.items() if value is not None]:
        raise UsageError(f"--machines-needed packs nothing: expected no {' and no '.join(given)}")
