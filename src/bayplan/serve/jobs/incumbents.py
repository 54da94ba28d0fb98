"""What a job says while it runs: how far it is, and each better incumbent, which is on the disk before it is reported."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from bayplan.errors import BayplanError
from bayplan.model.budget import Tick

if TYPE_CHECKING:
    from bayplan.api.placement import PlacementAnswer
    from bayplan.api.planning.best_so_far import PlacementQuestion
    from bayplan.api.planning.target import Rank
    from bayplan.model import Placement

EVERY = 0.2  # seconds between two reports of one stage
LOOKS = 0.5  # seconds between two looks at the incumbent, at least ...
SHARE = 20.0  # ... and this many times as long as the last look took, of one processor

Tell = Callable[[str, Mapping[str, Any]], None]


class IncumbentWriter:
    """Writes down incumbents that are better than the last one."""

    def __init__(self, verb: str, value: Any, options: Mapping[str, Any], tell: Tell) -> None:
        self.about, self.tell = (verb, value, options), tell
        self.question: PlacementQuestion | None = None  # made at the first look, while the search is under way
        self.began = time.monotonic()
        self.best: Rank | None = None
        self.free_at = 0.0  # when the next look may be taken

    def look(self, placement: "Placement") -> None:
        """Write a placement down if it is better than the last; one that the referee refuses is left alone."""
        from bayplan.api.planning.best_so_far import placement_question

        first, began = self.question is None, time.thread_time()  # of the processor: a busy machine is no reason to look less
        try:
            self.question = self.question or placement_question(*self.about)
            if self.question is not None:
                seconds = round(time.monotonic() - self.began, 3)
                better = self.question.better_answer(placement, self.best, seconds)
                if better is not None:
                    self._write(better[1], seconds)
                    self.best = better[0]
        except BayplanError:
            pass  # an incumbent of a stage that judges by other rules
        finally:  # the first look takes longer than all others, and is followed by a second at once
            self.free_at = time.monotonic() + (0.0 if first else max(LOOKS, SHARE * (time.thread_time() - began)))

    def _write(self, answer: "PlacementAnswer", seconds: float) -> None:
        from bayplan.serve.jobs.incumbent_file import write_incumbent, write_names

        if self.best is None:
            write_names(answer.snapshot.cluster, answer.snapshot.placement)
        result = answer.to_dict_without_moves()
        event = {
            "seconds": seconds,
            "goal": result["goal"],
            "value": result["score"].get(result["goal"]),
            "score": result["score"],
            "moved": result["moved"],
            "placed": result["placed"],
            "headline": answer.headline,
        }
        write_incumbent(event, answer, result)
        self.tell("incumbent", event)


class ProgressReport:
    """A progress callback that reports now and then; a thread looks at incumbents, so that the search does not wait for it."""

    def __init__(self, tell: Tell, incumbents: IncumbentWriter) -> None:
        self.tell, self.incumbents = tell, incumbents
        self.began, self.last, self.stage = time.monotonic(), 0.0, ""
        self.taken: tuple[str, set[float]] = "", set()  # a stage, and the scores of its incumbents that were looked at
        self.lock, self.changed = threading.Lock(), threading.Condition()
        self.waiting: Placement | None = None
        self.looking = self.over = False
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self.changed:
            self.over = True
            self.changed.notify()
        self.thread.join()

    def __call__(self, tick: Tick) -> None:
        """Take a tick; walkers call this from several threads."""
        now = time.monotonic()
        with self.lock:
            due = now - self.last >= EVERY or (tick.stage != self.stage and now - self.last >= EVERY / 4)
            if due:
                self.last, self.stage = now, tick.stage
                self.tell("progress", _progress(tick, now - self.began))
            self._take(tick, now)

    def _take(self, tick: Tick, now: float) -> None:
        """Keep an incumbent for the thread that looks at them, if it has time; the last one of a stage in any case.

        One with the score of an earlier one of its stage is that one, and is passed over.
        """
        if tick.solution is None:
            return
        busy = self.looking or self.waiting is not None or now < self.incumbents.free_at
        if tick.stage != self.taken[0]:
            self.taken = tick.stage, set()
        if tick.score in self.taken[1] or (busy and tick.done < 1.0):
            return
        if tick.score is not None:
            self.taken[1].add(tick.score)
        placement = tick.solution()
        with self.changed:
            self.waiting = placement  # type: ignore[assignment]
            self.changed.notify()

    def _watch(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.over or self.waiting is not None)
                if self.over:
                    return
                placement, self.waiting, self.looking = self.waiting, None, True
            if placement is not None:
                self.incumbents.look(placement)
            self.looking = False


def _progress(tick: Tick, seconds: float) -> Mapping[str, Any]:
    score = tick.score if tick.score is not None and math.isfinite(tick.score) else None
    return {"stage": tick.stage, "done": round(float(tick.done), 4), "score": score, "seconds": round(seconds, 3)}
