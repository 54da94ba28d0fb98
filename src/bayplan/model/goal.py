"""Goals as people state them: what a plan is for, what it may cost, in ranks.

Every goal has the same three ranks. First, rules: those that are violated are repaired, none is violated further. Second, no
machine above its safety capacity. Third, the weighted rest, less a price for each move: a move that does not pay is not made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayplan.errors import ModelError
from bayplan.model.objective import Term

FREE_WEIGHTS = frozenset(Term) - {Term.AFFINITY, Term.UTILISATION, Term.OVERLOAD, Term.MOVES}  # those with no key of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is wanted. Weights compare shares: 0.1 more of one is worth as much as 0.1 more of another of the same weight.

    >>> import bayplan as bp
    >>> quiet = bp.Goal(name="quiet", about="few moves", balance=1.0, price=2.0, max_moves="5%")
    >>> bp.plan(bp.generate("boutique"), goal=quiet, seconds=1).moved_share <= 0.05
    True
    """

    name: str
    about: str = ""
    safety: bool = True  # second rank: no machine above its safety capacity
    local_traffic: float = 0.0  # weight of the share of traffic that can stay on one machine
    balance: float = 0.0  # weight of how uneven the machines are, as a share of how uneven they are now
    price: float = 0.0  # of moving every container; each move costs its share of that
    max_moves: str = "100%"  # a number of containers or a share of those that run, unless the caller says otherwise
    empty_machines: bool = False  # empty as many machines as can go
    confidence: float | None = None  # a machine's usage stays within its capacity with at least this probability
    spread: bool = False  # replicas of a workload are spread evenly over the largest groups of machines (zones)
    weights: Mapping[Term, float] = field(default_factory=dict)  # of further terms, in their own units

    def __post_init__(self) -> None:
        for name in ("local_traffic", "balance", "price"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ModelError(f"goal '{self.name}': {name} is {value}; expected a number of 0 or more")
        if self.confidence is not None and not 0.5 < self.confidence < 1:
            raise ModelError(f"goal '{self.name}': confidence is {self.confidence}; expected more than 0.5 and less than 1")
        weights = {Term(term): float(value) for term, value in self.weights.items()}
        object.__setattr__(self, "weights", weights)
        for term, value in weights.items():
            if term not in FREE_WEIGHTS or not 0 <= value < float("inf"):
                known = ", ".join(sorted(FREE_WEIGHTS))
                raise ModelError(f"goal '{self.name}': weight {term}={value}; expected a number of 0 or more for one of {known}")

    @property
    def ranks(self) -> tuple[str, ...]:
        """The ranks in words, the first first."""
        rules = "repair violated rules, violate none further"
        if self.confidence is not None:
            rules += f"; usage within capacity with probability {self.confidence:g} on every machine"
        if self.spread:
            rules += "; replicas spread evenly over zones"
        second = ["no machine above safety capacity"] if self.safety else []
        second += ["as few machines as possible"] if self.empty_machines else []
        parts = {"local traffic": self.local_traffic, "balance": self.balance, **{t.value: w for t, w in self.weights.items()}}
        rest = [f"{name} {weight:g}" for name, weight in parts.items() if weight]
        third = f"{' + '.join(rest) or 'nothing'}, less {self.price:g} for moving everything"
        return (rules, *second, third)


STEADY = Goal(
    name="steady",
    about="hot machines first, then local traffic and balance, with few moves",
    local_traffic=1.0,
    balance=0.1,
    price=0.5,
    max_moves="15%",
)

GOALS: Mapping[str, Goal] = {
    goal.name: goal
    for goal in (
        STEADY,
        Goal(
            name="local-traffic",
            about="as much traffic as possible stays on one machine",
            local_traffic=1.0,
            balance=0.02,
            price=0.1,
            max_moves="30%",
        ),
        Goal(
            name="balance",
            about="all machines equally full",
            local_traffic=0.1,
            balance=1.0,
            price=0.5,
            max_moves="20%",
        ),
        Goal(
            name="fewer-machines",
            about="empty the machines that can go, and name them",
            local_traffic=0.1,
            price=0.1,
            max_moves="50%",
            empty_machines=True,
            confidence=0.99,
        ),
        Goal(
            name="spread-risk",
            about="usage stays within capacity, and no zone holds too many replicas of one workload",
            local_traffic=0.1,
            balance=0.5,
            price=0.2,
            max_moves="30%",
            confidence=0.999,
            spread=True,
        ),
    )
}
