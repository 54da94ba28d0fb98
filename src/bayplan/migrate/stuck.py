"""Why a container does not arrive."""

from collections import Counter

from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE, Ledger
from bayplan.model import Reason
from bayplan.model.units import format_quantity

SHOWN = 3  # units on the target that are named


def stuck(course: Course) -> tuple[Reason, ...]:
    """One reason for each container that is not where it shall be, in the order of containers."""
    units, names = course.units, course.ledger.migration.cluster.containers.name
    reasons = {c: _why(course, u) for u in range(len(units)) if _is_stuck(course, u) for c in units.members[u] if _off(course, c)}
    return tuple(Reason(subject=names[c], text=reasons[c]) for c in sorted(reasons))


def _off(course: Course, c: int) -> bool:
    ledger = course.ledger
    return ledger.first[c] != ledger.migration.after.machine_of[c] or ledger.second[c] != NOWHERE


def _is_stuck(course: Course, u: int) -> bool:
    return any(_off(course, c) for c in course.units.members[u])


def _why(course: Course, u: int) -> str:
    cluster, m = course.ledger.migration.cluster, course.units.target[u]
    here = course.at[u]
    stays = f"stays on '{cluster.machines.name[here]}'" if here != NOWHERE else "is not created"
    if course.units.fixed[u]:
        return f"{stays}, as it was asked to"
    if m == NOWHERE:
        return f"{stays}: {_no_delete(course.ledger, course.units.members[u], here)}"
    if here != NOWHERE and not course.units.may_surge[u] and _too_few(course.ledger, course.units.members[u]):
        return f"{stays}: {_no_delete(course.ledger, course.units.members[u], here)}"
    name = cluster.machines.name[m]
    for c in course.units.members[u]:
        if not course.ledger.has_room(c, m):
            return f"{stays}: '{name}' lacks {_lack(course.ledger, c, m)}{_holders(course, u, m)}; {_elsewhere(course, u)}"
    if not all(course.ledger.may_join(c, m) for c in course.units.members[u]):
        return f"{stays}: a rule about who may stand together keeps it from '{name}'{_holders(course, u, m)}"
    return f"{stays}: {_no_delete(course.ledger, course.units.members[u], here)}"


def _lack(ledger: Ledger, c: int, m: int) -> str:
    resources, short = ledger.migration.cluster.resources, ledger.shortage(c, m).tolist()
    lacking = [(resource, int(by)) for resource, by in zip(resources, short, strict=True) if by > 0]
    return ", ".join(f"{format_quantity(by, resource.scale)} {resource.name}" for resource, by in lacking)


def _holders(course: Course, u: int, m: int) -> str:
    """Those on the target that have to leave and cannot either."""
    names = course.ledger.migration.cluster.containers.name
    waiting = sorted(names[course.units.members[v][0]] for v in course.on[m] if v != u and v in course.pending)
    if not waiting:
        return ""
    more = f" and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
    return f", and {', '.join(waiting[:SHOWN])}{more} cannot leave it either"


def _elsewhere(course: Course, u: int) -> str:
    """How many machines could hold it for a while."""
    c = course.units.members[u][0]
    ledger = course.ledger
    fits = ledger.rooms(c)
    machines = [m for m in fits.nonzero()[0].tolist() if m != course.at[u] and ledger.may_join(c, m)]
    total = len(fits)
    permitted = ledger.allowed.machines(ledger.workload[c])
    why = Counter("too full" if permitted[m] else "not allowed" for m in range(total) if not fits[m])
    why["kept off by rules"] = total - why.total() - (course.at[u] != NOWHERE and bool(fits[course.at[u]]))
    if machines:
        return f"{len(machines)}/{total} machines could hold it meanwhile, but that opens no way"
    return f"0/{total} machines could hold it meanwhile ({', '.join(f'{n} {word}' for word, n in why.items() if n)})"


def _too_few(ledger: Ledger, members: tuple[int, ...]) -> bool:
    """Does the alive share let none of its containers be deleted?"""
    return any(ledger.alive[w] <= ledger.least[w] for w in (ledger.workload[c] for c in members))


def _no_delete(ledger: Ledger, members: tuple[int, ...], m: int) -> str:
    """Which rule keeps it from being deleted where it is."""
    for c in members:
        w = ledger.workload[c]
        name = ledger.migration.cluster.workloads.name[w]
        if m != NOWHERE and ledger.alive[w] <= ledger.least[w]:
            return f"{ledger.alive[w]} of '{name}' run, at least {ledger.least[w]} must"
    return "spread, dependency or the order of the others keeps it there"
