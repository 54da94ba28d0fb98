"""`place`: give the containers without a machine one."""

from typing import Unpack

from bayplan.api.control import Control, RunKeywords, interruptible, options_from
from bayplan.api.placement import PlacementAnswer, finish_seconds, placement_answer
from bayplan.api.problem import problem_of, search_needs
from bayplan.api.registry import method_of
from bayplan.decide.place.options import PlaceOptions
from bayplan.model import Objective, Snapshot


class PlaceKeywords(RunKeywords, total=False):
    """Options of the methods."""

    candidates: int  # machines among which the service decides (ca-wfd, ws-dp, c-c, best)


def place(
    snapshot: Snapshot,
    *,
    method: str = "best",
    seconds: float = 5.0,
    seed: int = 0,
    objective: Objective | str = "file",
    **options: Unpack[PlaceKeywords],
) -> PlacementAnswer:
    """Give the containers that have no machine one. What runs stays where it is.

    Every rule is kept. What fits nowhere is left out, with the reason, and the others are placed. `seconds` is the wall time of
    the whole call; only the method `best` uses more time if it is given more. `objective` as in `rebalance`.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> answer = bp.place(shop, method="ca-wfd")
    >>> answer.placed, answer.moved, answer.unplaced
    (2, 0, 0)
    """
    control, chosen = Control.of(seconds, seed, options), method_of("place", method)
    method_options, problem = options_from(PlaceOptions, options), problem_of(snapshot, objective=objective)
    control = control.after_compiling(("place", method), *search_needs(problem))
    budget = control.method_budget(finish_seconds(snapshot))
    outcome = interruptible(lambda: chosen(problem, method_options, budget=budget, seed=seed, progress=control.progress))
    return placement_answer("place", method, snapshot, problem, outcome, control)
