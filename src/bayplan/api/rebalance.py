"""`rebalance`: move running containers to where they are better off."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Unpack

from bayplan.api.control import Control, interruptible, options_from
from bayplan.api.in_parts import PartKeywords, part_settings, rebalance_in_parts, start_settings
from bayplan.api.placement import PlacementAnswer, finish_seconds, placement_answer
from bayplan.api.problem import problem_of, search_needs
from bayplan.api.registry import method_of
from bayplan.decide.rebalance.from_starts import KNOW_STARTS, rebalance_from_starts
from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.model import Objective, Snapshot

ABOUT_JOBS = ("engine", "parts", "starts")  # options that no method has


class RebalanceKeywords(PartKeywords, total=False):
    """Options of the methods."""

    delta: float  # sweep-search: share of the machines at either end that it works on
    safety: float  # sweep-search: a machine above this utilisation is hot
    safety_over_mean: float | None  # sweep-search: hot above this many times the mean utilisation; replaces `safety`
    target: float | None  # stop once the objective is no more than this


def rebalance(
    snapshot: Snapshot,
    *,
    method: str = "search",
    seconds: float = 10.0,
    seed: int = 0,
    objective: Objective | str = "file",
    weights: Mapping[str, float] | None = None,
    max_moves: int | str | None = None,
    freeze: Sequence[str] = (),
    **options: Unpack[RebalanceKeywords],
) -> PlacementAnswer:
    """Move running containers to where they are better off, and say what that gains.

    No rule is violated that was not violated before. Moves are counted from the snapshot's placement.

    - `objective`: a value, or "file" (the snapshot's own, else "steady"), "steady" (hot machines first, then local traffic and
      balance, with few moves), "freecontainer" ([FreeContainer] (6)), "gmrp";
    - `weights`: of some terms, such as `{"overload": 100}`; the others keep theirs;
    - `max_moves`: a number of containers, or a share of those that run, such as `"5%"`;
    - `freeze`: names or patterns of containers or workloads that stay where they run;
    - `parts`: solve in that many parts, on `engine` (method `search`); very large clusters are by themselves;
    - `starts`: search by that many walks, on `engine`, that go on from the best few of all in turn (not method `greedy`). Each
      has all iterations of a budget; the seconds are shared by those that cannot run at a time.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> answer = bp.rebalance(shop, weights={"overload": 100}, max_moves="10%", budget=bp.Budget(iterations=20_000))
    >>> answer.moved <= 7 and answer.score["overload"] < answer.before["overload"]
    True
    """
    control, chosen = Control.of(seconds, seed, options), method_of("rebalance", method)
    method_options = options_from(RebalanceOptions, {k: v for k, v in options.items() if k not in ABOUT_JOBS})
    problem = problem_of(snapshot, objective=objective, weights=weights, max_moves=max_moves, freeze=freeze)
    in_parts = part_settings(problem, control, options.get("parts"), can=method == "search")
    from_starts = start_settings(control, options.get("starts"), in_parts, can=method in KNOW_STARTS)
    control = control.after_compiling(("rebalance", method), *search_needs(problem))
    budget = control.method_budget(finish_seconds(snapshot))
    if in_parts is not None:
        chosen = partial(rebalance_in_parts, settings=in_parts)
    elif from_starts is not None:
        chosen = partial(rebalance_from_starts, method=method, settings=from_starts)
    outcome = interruptible(lambda: chosen(problem, method_options, budget=budget, seed=seed, progress=control.progress))
    return placement_answer("rebalance", method, snapshot, problem, outcome, control)
