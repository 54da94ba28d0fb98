"""What is wrong with an answer of `schedule` or `admit`, by loads summed up instant by instant and by trying all answers."""

from collections.abc import Iterator

from tests.naive.admission_check import violations_of
from tests.naive.admit_offline import best_value as best_admission
from tests.naive.schedule_exact import best_value as best_schedule
from tests.naive.schedule_exact import fits
from tests.stress.cases import Case
from tests.stress.outcomes import Outcome

from bayplan.api.requests.timed_problem import timed_problem
from bayplan.check import check_admission, check_schedule
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import UNPLACED

ROUNDING = 1e-7
MOST_REQUESTS, MOST_MACHINES, MOST_ADMITTED = 7, 3, 4  # of which every answer is tried
FILLS_UP = ("cradle+", "bin-packing", "spread", "local")  # methods that refuse nothing that still fits


def schedule_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well."""
    options = case.options
    problem = timed_problem(
        case.value, weights=options.get("weights", "given"), profit=options.get("profit"), capacity=options.get("capacity")
    )
    if outcome.solution is None:
        yield f"no schedule, status {outcome.status}"
        return
    machine_of, value = outcome.solution.machine_of.tolist(), problem.requests.value
    yield from (f"violated: {violation}" for violation in check_schedule(problem.requests, outcome.solution, problem.fleet))
    for m in range(problem.fleet.size):
        if not fits(problem, m, [j for j, at in enumerate(machine_of) if at == m]):
            yield f"machine {m} is over capacity at some time"
    served = [j for j, m in enumerate(machine_of) if m != UNPLACED]
    total = sum(float(value[j]) for j in served)
    if abs(outcome.score["value"] - total) > ROUNDING * total:
        yield f"score value is {outcome.score['value']}, the requests served are worth {total}"
    if case.method in FILLS_UP:
        yield from _still_fits(problem, machine_of)
    if len(machine_of) <= MOST_REQUESTS and problem.fleet.size <= MOST_MACHINES:
        yield from value_faults(outcome, total, best_schedule(problem))


def _still_fits(problem: ScheduleProblem, machine_of: list[int]) -> Iterator[str]:
    for j, at in enumerate(machine_of):
        for m in range(problem.fleet.size):
            beside = [k for k, other in enumerate(machine_of) if other == m]
            if at == UNPLACED and problem.requests.value[j] > 0 and fits(problem, m, [*beside, j]):
                yield f"left out though it fits: {problem.requests.name[j]} on machine {m}"
                return


def admit_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well."""
    stream, acceptance = case.value, outcome.solution
    if acceptance is None:
        yield f"no acceptance, status {outcome.status}"
        return
    for violation in (*check_admission(stream, acceptance), *violations_of(stream, acceptance)):
        yield f"violated: {violation}"
    total = sum(stream.requests[i].value for i in acceptance.accepted.tolist())
    if abs(outcome.score["value"] - total) > ROUNDING * total:
        yield f"score value is {outcome.score['value']}, the requests accepted are worth {total}"
    refused = {request.name for i, request in enumerate(stream.requests) if acceptance.zone_of[i] is None}
    if refused != set(outcome.left_out):
        yield f"refused {sorted(refused)}, reasons for {sorted(set(outcome.left_out))}"
    members = sum(len(request.members) for request in stream.requests)
    if len(stream.requests) <= MOST_ADMITTED and members <= 8:
        yield from value_faults(outcome, total, best_admission(stream))


def value_faults(outcome: Outcome, total: float, best: float) -> Iterator[str]:
    """Values above the optimum, bounds below it, and answers that are called optimal and are not."""
    if total > best * (1 + ROUNDING):
        yield f"value {total} is above the optimum {best} of obvious loops"
    if outcome.bound is not None and outcome.bound < best * (1 - ROUNDING):
        yield f"bound {outcome.bound} is below the optimum {best}"
    if outcome.status == "optimal" and total < best * (1 - ROUNDING):
        yield f"value {total} is called optimal, {best} is possible"
