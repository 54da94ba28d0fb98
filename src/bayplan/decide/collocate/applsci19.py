"""ApplSci19 (004 section V-A): an extension of Hu, de Laat, Zhao, "Optimizing Service Placement for Microservice Architecture
in Clouds", Applied Sciences 9(21), 2019: partition the graph so that little traffic is cut, then pack the parts.

Neither paper states the extension, so this is our reconstruction. Theirs: cuts in two of little weight, again and again, until
the parts fit machines; then packing that looks at traffic and at fit. Ours is what 004 adds to the question:

- Replicas. A part is a multiset of containers. A cut goes between services, or through all of them (half of the replicas on
  each side), whichever keeps more affinity (004 (1)). Without cuts through services, those too large for one machine lose all.
- Several machine types. 004 says that the packing of the original fails there. Here a part is cut only when no machine, of
  whatever type and as full as it is by now, takes it as a whole. Among those that do, it goes where it gains most with what
  stands there, then where it fits best. Parts with much affinity come first.
- Allow lists and anti-affinity decide, like capacity, whether a machine takes a part.
- Services without traffic come last: back to where they stood, or by best fit, the largest containers first.
"""

from bayplan.decide.collocate.answer import collocated, worth_it
from bayplan.decide.collocate.finish import start_of
from bayplan.decide.collocate.movable import expect_known_rules, movable
from bayplan.decide.collocate.original import outsiders
from bayplan.decide.collocate.parts import packed_parts
from bayplan.decide.collocate.refit import refit
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


def applsci19(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """All services with traffic partitioned and packed anew, then all others; an iteration is a part, packed or cut.

    When the budget ends, the containers that were not reached go back to where they stood. Who fits nowhere is refitted.
    """
    expect_known_rules(problem.cluster, "applsci19")
    clock = budget.clock()
    placement = packed_parts(problem, clock=clock, seed=seed, progress=progress)
    placement = refit(problem, placement, may_go=movable(problem), clock=clock, seed=seed)
    found, why = worth_it(problem, placement, options, start_of(problem, clock, seed))
    return collocated(problem, found, left_out=outsiders(problem, found), notes=why, seconds=clock.seconds)
