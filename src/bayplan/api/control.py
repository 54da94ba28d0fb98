"""How a call is run: its budget, without the time of compiling kernels; where; options by keyword; Ctrl-C that keeps the best."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, TypeVar

from bayplan.engine import Engine, engine_of
from bayplan.errors import ModelError, UsageError, expect_one_of
from bayplan.model import Budget, Clock, Progress, silent
from bayplan.model.interrupt import stoppable

O = TypeVar("O")  # noqa: E741 (the options of a verb)
V = TypeVar("V")

AT_LEAST = 0.05  # seconds to referee, score and write any answer
AT_MOST = 0.25  # of a user's seconds that are kept for it


class RunKeywords(TypedDict, total=False):
    """Keywords that every verb takes beside its own."""

    budget: Budget  # instead of `seconds`: iterations (the same count gives the same answer), threads
    threads: int  # how many may search; 1 by default
    progress: Progress  # called with a `Tick` now and then


class ParallelKeywords(RunKeywords, total=False):
    """Keywords of verbs that have independent parts."""

    engine: str | Engine | None  # where they run: "here", "pool", "ray", "ray:ADDRESS", or what `bp.engine` gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """How a call is run."""

    clock: Clock  # started when the call began
    seed: int
    budget: Budget | None = None  # the method's, if the caller states it; else made from the seconds
    threads: int = 1
    progress: Progress = silent
    engine: Engine | None = None  # None: the one that the verb takes by default

    @classmethod
    def of(cls, seconds: float, seed: int, keywords: Mapping[str, Any]) -> "Control":
        """The control that a call's arguments state; other keywords are left alone."""
        if not seconds >= 0:
            raise UsageError(f"seconds {seconds}: expected a number of 0 or more")
        own = {name: keywords[name] for name in RunKeywords.__annotations__ if name in keywords}
        engine = keywords.get("engine")
        own["engine"] = None if engine is None else engine_of(engine)
        return cls(clock=Budget(seconds=seconds).clock(), seed=seed, **own)

    def method_budget(self, finish: float) -> Budget:
        """What the method may use; `finish`: seconds that the referee, the scores and the files need afterwards."""
        if self.budget is not None:
            return self.budget
        seconds = self.clock.budget.seconds or 0.0
        kept = min(AT_LEAST + finish, AT_MOST * seconds)
        return Budget(seconds=max(0.0, seconds - self.clock.seconds - kept), threads=self.threads)

    def after_compiling(self, *methods: tuple[str, str]) -> "Control":
        """The control of a call, once the kernels of its methods (verb, name) are compiled. Its clock leaves that time out.

        Else the first answer on a machine would be poor because the compiler is slow.
        """
        from bayplan.api.warm_up import warm_up_methods

        clock = Budget().clock()
        compiled = warm_up_methods(methods, self.progress)
        return replace(self, clock=replace(self.clock, started=self.clock.started + clock.seconds)) if compiled else self

    @property
    def seconds(self) -> float:
        """Since the call began."""
        return self.clock.seconds


def engine(name: str = "pool") -> Engine:
    """The engine of a name, for the keyword `engine` of the verbs that have independent parts.

    - `"here"`: in this process, one part after the other;
    - `"pool"`: in processes on this machine, as many as `threads` says;
    - `"ray"`: on Ray, started on this machine or joined where RAY_ADDRESS says; `"ray:10.0.0.1:6379"`: on that Ray cluster;
      `"ray:auto"`: on the one that runs here. Needs `pip install 'bayplan[ray]'`.

    The verbs take the name as well. In a `with` block processes and connections are kept from one call to the next.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> with bp.engine("here") as engine:
    ...     answer = bp.collocate(shop, max_moves="20%", seconds=2, engine=engine)
    >>> answer.score["affinity"] > answer.before["affinity"]
    True
    """
    return engine_of(name)


def options_from(kind: type[O], keywords: Mapping[str, Any]) -> O:
    """Method options from a call's keywords; UsageError for a keyword that does not exist or a value that makes no sense.

    None stands for the default.
    """
    own = {name: value for name, value in keywords.items() if name not in RunKeywords.__annotations__ and value is not None}
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in own:
        expect_one_of(name, known, "option")
    try:
        return kind(**own)
    except ModelError as error:
        raise UsageError(str(error)) from error


def interruptible(ask: Callable[[], V]) -> tuple[V, bool]:
    """The result of a method, and whether the user asked it to stop: then it is the best so far."""
    with stoppable() as stop:
        result = ask()
        return result, stop.requested
