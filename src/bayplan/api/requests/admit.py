"""`admit`: accept and place, or refuse, clusters of containers as they arrive."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from bayplan.api.answer import Answer, PathLike
from bayplan.api.control import Control, RunKeywords, options_from
from bayplan.api.registry import method_of
from bayplan.decide.admit import (
    ADMITTERS,
    Admission,
    AdmitOptions,
    Admitter,
    PriceParameters,
    RefusalSummary,
    admit_stream,
    summarise_refusals,
)
from bayplan.decide.admit.offline import offline_bound
from bayplan.decide.admit.one_shot import ONE_SHOTS, OneShotOptions
from bayplan.decide.admit.parameters import LIVE
from bayplan.errors import UsageError, expect_one_of
from bayplan.formats.streams import Stream
from bayplan.model import Acceptance, Budget, Clock, ClusterRequests, Progress, Result, verdict
from bayplan.model.interrupt import stoppable
from bayplan.score.admission_use import UseOverTime, use_over_time

if TYPE_CHECKING:
    from bayplan.report.answers.admit_page import AdmitPageData
    from bayplan.report.answers.admit_tables import AdmitFigures
    from bayplan.report.table import Report

EACH_REQUEST = 2e-5  # seconds to check it, to count what it takes and to write it
PRICED = ("learned", "primal-dual", "swmoa")  # methods that have prices


class AdmitKeywords(RunKeywords, total=False):
    """Options of the methods."""

    slots: int | None  # swmoa: how many slots there are
    epsilon: float | None  # one-shot method sampling: smaller is closer to the optimum and slower
    samples: int | None  # one-shot method sampling: members whose zones are tried out exhaustively
    literal: bool  # Algorithm 4 to the letter: place by price alone, then refuse what does not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class _MethodKeywords:
    """Those of `AdmitKeywords` that are about methods."""

    slots: int | None = None
    epsilon: float | None = None
    samples: int | None = None
    literal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmissionAnswer(Answer[Acceptance]):
    """Which requests of a stream are accepted, into which zones their members go, and why others are refused."""

    stream: ClusterRequests
    options: AdmitOptions
    admission: Admission | None  # at the end of the stream; None if the method does not decide request by request
    use: UseOverTime
    refusals: RefusalSummary
    skipped: int = 0  # requests that the reader left out because of their faults
    name: str = "stream"

    @property
    def placed(self) -> int:
        """How many requests are accepted."""
        return self.accepted

    @property
    def accepted(self) -> int:
        """How many requests are accepted."""
        return 0 if self.result.solution is None else len(self.result.solution.accepted)

    @property
    def offered_value(self) -> float:
        """The value of all requests together."""
        return sum(request.value for request in self.stream.requests)

    @property
    def ratio(self) -> float | None:
        """The proven bound divided by the value accepted: the best possible is at most this many times as good."""
        value, bound = self.score.get("value", 0.0), self.bound
        return None if bound is None or not value else bound / value

    @property
    def parameters(self) -> PriceParameters | None:
        """The parameters of the prices at the end of the stream."""
        return None if self.admission is None else self.admission.parameters

    @property
    def figures(self) -> "AdmitFigures":
        """What tables and pages say."""
        from bayplan.report.answers.admit_tables import AdmitFigures, RefusedGroup, parameter_facts

        named = self.admission is not None and self.method != "available"
        return AdmitFigures(
            method=f"{self.method}, {self.options.one_shot}" if named else self.method,
            requests=len(self.stream.requests),
            accepted=self.accepted,
            skipped=self.skipped,
            offered=self.offered_value,
            parameters=[] if self.parameters is None else parameter_facts(asdict(self.parameters)),
            use=tuple(self.use.totals()),
            ratio=self.ratio,
            why=[
                RefusedGroup(kind=group.cause.kind, why=group.why, requests=group.requests, value=group.value)
                for group in self.refusals.groups
            ],
        )

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.admit_tables import admit_headline

        return admit_headline(self.result, self.figures)

    def content(self) -> "Report":
        """How it ended, what is accepted, by which prices, how full zones and links are, why others are refused."""
        from bayplan.report.answers.admit_tables import admit_report

        return admit_report(self.result, self.figures, seed=self.seed, wall=self.seconds)

    def details(self) -> Mapping[str, Any]:
        """Counts, the value offered, the parameters of the prices, use over time, and refusals by cause."""
        return {
            "requests": len(self.stream.requests),
            "accepted": self.accepted,
            "refused": len(self.stream.requests) - self.accepted,
            "skipped": self.skipped,
            "offered_value": self.offered_value,
            "ratio": self.ratio,
            "parameters": self.parameters,
            "utilisation": {name: {"mean": mean, "peak": peak} for name, mean, peak in self.use.totals()},
            "refusals": self.refusals.groups,
        }

    def save(self, path: PathLike) -> None:
        """Write the accepted requests: request, member, zone."""
        from bayplan.formats.solutions import write_accepted

        if self.result.solution is not None:
            write_accepted(path, self.result.solution, self.stream)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: prices and use over time, value accepted, refusals."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.admit_page import admit_page
        from bayplan.report.page import how_made

        write_text_atomically(path, admit_page(self.page_data(), made=how_made(command, seed=self.seed)))

    def page_data(self) -> "AdmitPageData":
        """What the page shows."""
        from bayplan.report.answers.admit_page import admit_page_data

        return admit_page_data(
            self.stream,
            self.result,
            self.figures,
            self.use,
            name=self.name,
            base=1.0 if self.parameters is None else self.parameters.base,
            history=None if self.admission is None else self.admission.history(),
            refused=self.refusals.each,
            notes=[f"{self.skipped:,} requests were left out because of faults"] if self.skipped else [],
        )


def admit(
    stream: Stream | ClusterRequests,
    *,
    method: str = "learned",
    seconds: float = 30.0,
    seed: int = 0,
    one_shot: str | None = None,
    value_ratio: float | None = None,
    alpha: float | None = None,
    slot: float = 1.0,
    bound: bool = False,
    **options: Unpack[AdmitKeywords],
) -> AdmissionAnswer:
    """Accept and place, or refuse, clusters of containers as they arrive, so that the accepted ones are worth most.

    Zones and links are never over capacity at any time. What was decided before Ctrl-C, or before the seconds are over, counts;
    other requests are refused as not examined. `bp.Admission` decides request by request, for as long as a program runs.

    - `one_shot`: how the members of one request are placed: "local" (the default), "greedy", "sampling", "exact", "nscd";
    - `value_ratio`, `alpha`: U and alpha of the prices; estimated from the stream so far if they are not given;
    - `slot`: the length of a time slot; prices are per slot;
    - `bound`: also prove how much the best possible answer can be worth.

    >>> import bayplan as bp
    >>> stream = bp.generate("container-clusters", zones=3, count=40, slots=6, members_most=4)
    >>> answer = bp.admit(stream, method="primal-dual", one_shot="greedy", value_ratio=50, alpha=2)
    >>> answer.accepted + len(answer.left_out)
    40
    """
    control, chosen = Control.of(seconds, seed, options), method_of("admit", method)
    keywords = options_from(_MethodKeywords, options)
    method_options = _options(method, one_shot, AdmitOptions(value_ratio=value_ratio, alpha=alpha, slot=slot), keywords)
    read = stream if isinstance(stream, Stream) else Stream(admission=stream)
    needs = [("admit", method), *([("one-shot", method_options.one_shot)] if method in LIVE else [])]
    control = control.after_compiling(*needs, *([("admit", "bound")] if bound else []))
    budget = control.method_budget(EACH_REQUEST * len(read.admission.requests))
    clock = budget.clock()
    with stoppable() as stop:
        result, admission = _decide(read.admission, method, chosen, method_options, budget, control)
        if bound and result.bound is None and not stop.requested:
            result = _bounded(read.admission, result, clock, seed=seed, progress=control.progress)
        interrupted = stop.requested
    acceptance = result.solution or Acceptance(zone_of=(None,) * len(read.admission.requests))
    return AdmissionAnswer(
        verb="admit",
        method=method,
        seed=seed,
        result=result,
        seconds=control.seconds,
        interrupted=interrupted,
        stream=read.admission,
        options=method_options,
        admission=admission,
        use=use_over_time(read.admission, acceptance, slot),
        refusals=summarise_refusals(read.admission, result.left_out),
        skipped=read.skipped,
    )


def _decide(
    stream: ClusterRequests, method: str, admitter: Admitter, options: AdmitOptions, budget: Budget, control: Control
) -> tuple[Result[Acceptance], Admission | None]:
    """The result of a method, and the admission at the end of the stream if it decides request by request."""
    if method in LIVE:
        return admit_stream(stream, options, method, budget=budget, seed=control.seed, progress=control.progress)
    return admitter(stream, options, budget=budget, seed=control.seed, progress=control.progress), None


def _bounded(
    stream: ClusterRequests, result: Result[Acceptance], clock: Clock, *, seed: int, progress: Progress
) -> Result[Acceptance]:
    """The result with a proven bound: no answer is worth more, even if all requests were known from the start."""
    left = clock.left()
    value = result.score["value"]
    status, bound = verdict("value", value, offline_bound(stream, budget=Budget(seconds=left), seed=seed, progress=progress))
    return replace(result, bound=bound, status=status)


def _options(method: str, one_shot: str | None, given: AdmitOptions, keywords: _MethodKeywords) -> AdmitOptions:
    """The options of a method; UsageError if a value is impossible, or would have no effect."""
    placer = "local" if one_shot is None else one_shot
    expect_one_of(placer, ONE_SHOTS, "one-shot method")
    _expect_values(given, keywords)
    _expect_effect(method, one_shot, given, keywords)
    one_shot_options = OneShotOptions(samples=keywords.samples)
    if keywords.epsilon is not None:
        one_shot_options = replace(one_shot_options, epsilon=keywords.epsilon)
    return replace(given, one_shot=placer, one_shot_options=one_shot_options, slots=keywords.slots, literal=keywords.literal)


def _expect_values(given: AdmitOptions, keywords: _MethodKeywords) -> None:
    """UsageError for a number that is impossible."""
    least: tuple[tuple[str, float | None, float], ...] = (
        ("value_ratio", given.value_ratio, 1),
        ("alpha", given.alpha, 1),
        ("slots", keywords.slots, 1),
        ("samples", keywords.samples, 1),
    )
    for name, value, lowest in least:
        if value is not None and not lowest <= value < float("inf"):
            raise UsageError(f"{name} {value:g}: expected a number of {lowest:g} or more")
    if not 0 < given.slot < float("inf"):
        raise UsageError(f"slot {given.slot:g}: expected a length above 0")
    if keywords.epsilon is not None and not 0 < keywords.epsilon < float("inf"):
        raise UsageError(f"epsilon {keywords.epsilon:g}: expected a number above 0")


def _expect_effect(method: str, one_shot: str | None, given: AdmitOptions, keywords: _MethodKeywords) -> None:
    """UsageError for an option that one of our methods ignores."""
    if method not in ADMITTERS:
        return
    sampling = one_shot == "sampling"
    effects = (
        ("value_ratio", given.value_ratio is not None, method in PRICED),
        ("alpha", given.alpha is not None, method == "primal-dual"),
        ("slots", keywords.slots is not None, method == "swmoa"),
        ("samples", keywords.samples is not None, sampling),
        ("epsilon", keywords.epsilon is not None, sampling),
        ("literal", keywords.literal, method in PRICED),
        ("one_shot", one_shot is not None, method not in ("available", "offline")),
    )
    for name, is_given, has_effect in effects:
        if is_given and not has_effect:
            raise UsageError(f"{name} has no effect on method {method} with one-shot method {one_shot or 'local'}")
