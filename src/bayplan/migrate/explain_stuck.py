"""Why a container does not arrive."""

from collections import Counter

from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import StepSequence
from bayplan.model import UNPLACED, Reason
from bayplan.model.quantities import format_quantity

MAX_NAMED = 3  # units on the target that are named


def explain_stuck(sequence: StepSequence) -> tuple[Reason, ...]:
    """One reason for each container that is not on its target, in the order of containers."""
    units, names = sequence.units, sequence.state.migration.cluster.containers.name
    reasons = {
        c: _why(sequence, u)
        for u in range(len(units))
        if any(_off_target(sequence, c) for c in units.members[u])
        for c in units.members[u]
        if _off_target(sequence, c)
    }
    return tuple(Reason(subject=names[c], text=reasons[c]) for c in sorted(reasons))


def _off_target(sequence: StepSequence, c: int) -> bool:
    state = sequence.state
    return state.first[c] != state.migration.target.machine_of[c] or state.second[c] != UNPLACED


def _why(sequence: StepSequence, u: int) -> str:
    cluster, m = sequence.state.migration.cluster, sequence.units.target[u]
    here = sequence.at[u]
    stays = f"stays on '{cluster.machines.name[here]}'" if here != UNPLACED else "is not created"
    if sequence.units.fixed[u]:
        return f"{stays}, as requested"
    if m == UNPLACED:
        return f"{stays}: {_no_delete(sequence.state, sequence.units.members[u], here)}"
    if here != UNPLACED and not sequence.units.may_surge[u] and _too_few(sequence.state, sequence.units.members[u]):
        return f"{stays}: {_no_delete(sequence.state, sequence.units.members[u], here)}"
    name = cluster.machines.name[m]
    for c in sequence.units.members[u]:
        if not sequence.state.fits(c, m):
            return f"{stays}: '{name}' lacks {_lack(sequence.state, c, m)}{_blockers(sequence, u, m)}; {_elsewhere(sequence, u)}"
    if not all(sequence.state.may_join(c, m) for c in sequence.units.members[u]):
        return f"{stays}: a rule about what may run together keeps it from '{name}'{_blockers(sequence, u, m)}"
    return f"{stays}: {_no_delete(sequence.state, sequence.units.members[u], here)}"


def _lack(state: RunningState, c: int, m: int) -> str:
    resources, shortage = state.migration.cluster.resources, state.shortage(c, m).tolist()
    lacking = [(resource, int(by)) for resource, by in zip(resources, shortage, strict=True) if by > 0]
    return ", ".join(f"{format_quantity(by, resource.scale)} {resource.name}" for resource, by in lacking)


def _blockers(sequence: StepSequence, u: int, m: int) -> str:
    """Units on the target that have to leave and cannot either."""
    names = sequence.state.migration.cluster.containers.name
    blockers = sorted(names[sequence.units.members[v][0]] for v in sequence.on[m] if v != u and v in sequence.pending)
    if not blockers:
        return ""
    others = f" and {len(blockers) - MAX_NAMED} more" if len(blockers) > MAX_NAMED else ""
    return f", and {', '.join(blockers[:MAX_NAMED])}{others} cannot leave it either"


def _elsewhere(sequence: StepSequence, u: int) -> str:
    """How many machines could run it for a while."""
    c = sequence.units.members[u][0]
    state = sequence.state
    fits = state.fitting_machines(c)
    machines = [m for m in fits.nonzero()[0].tolist() if m != sequence.at[u] and state.may_join(c, m)]
    total = len(fits)
    permitted = state.allowed.machines(state.workload[c])
    why = Counter("too full" if permitted[m] else "not allowed" for m in range(total) if not fits[m])
    why["kept off by rules"] = total - why.total() - (sequence.at[u] != UNPLACED and bool(fits[sequence.at[u]]))
    if machines:
        return f"{len(machines)}/{total} machines could run it meanwhile, but that does not help"
    return f"0/{total} machines could run it meanwhile ({', '.join(f'{n} {word}' for word, n in why.items() if n)})"


def _too_few(state: RunningState, members: tuple[int, ...]) -> bool:
    """Does the alive share allow none of its containers to be deleted?"""
    return any(state.alive[w] <= state.least[w] for w in (state.workload[c] for c in members))


def _no_delete(state: RunningState, members: tuple[int, ...], m: int) -> str:
    """Which rule keeps it from being deleted where it is."""
    for c in members:
        w = state.workload[c]
        name = state.migration.cluster.workloads.name[w]
        if m != UNPLACED and state.alive[w] <= state.least[w]:
            return f"{state.alive[w]} of '{name}' run, at least {state.least[w]} must"
    return "spread, dependency or the order of the others keeps it there"
