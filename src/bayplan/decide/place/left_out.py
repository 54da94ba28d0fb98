"""Why containers have no machine."""

from bayplan.model import UNPLACED, Placement, Reason
from bayplan.model.problem import Problem
from bayplan.score.explain import fit_summary
from bayplan.search.items import items_of

MOST_EXPLAINED = 100  # workloads: each one looks at all rules and containers


def left_out(problem: Problem, placement: Placement) -> tuple[Reason, ...]:
    """One reason per container without a machine, in the order of the input; worked out once per workload."""
    if not len(placement.unplaced):
        return ()
    cluster, items = problem.cluster, items_of(problem.cluster, problem.before)
    text: dict[int, str] = {}
    reasons = []
    for c in placement.unplaced.tolist():
        w, bound_to = int(cluster.containers.workload[c]), int(items.only[items.of_container[c]])
        if bound_to != UNPLACED:
            why = f"belongs with containers on machine '{cluster.machines.name[bound_to]}', which cannot take it"
        elif w in text:
            why = text[w]
        else:
            why = text[w] = _why(problem, placement, w) if len(text) < MOST_EXPLAINED else "no machine fits"
        reasons.append(Reason(cluster.containers.name[c], why))
    return tuple(reasons)


def _why(problem: Problem, placement: Placement, w: int) -> str:
    """'0/12 machines fit (12 short of cpu)'; machines that seem to fit are ruled out by what was broken before."""
    text = fit_summary(problem.cluster, placement, w).text
    return text if text.startswith("0/") else f"not placed while rules are broken; {text}"
