"""A made-up week of a running system: drift, executions, dry runs, a lost data source, a rollback with holds, a pause."""

import math
from random import Random

from bayplan.model.record import (
    Event,
    History,
    Hold,
    PlannedMove,
    PlanStatus,
    RecordedPlan,
    Turn,
    TurnVerdict,
)

MONDAY = 1788739200.0  # Monday 7 September 2026, 00:00 UTC
HALF_HOUR, DAY = 1800.0, 86400.0
CONTAINERS = 420
ROLLED_BACK_AT = MONDAY + 3 * DAY + 14 * 3600  # Thursday 14:00
LOST = (MONDAY + 2 * DAY + 3 * 3600, MONDAY + 2 * DAY + 5.5 * 3600)  # Wednesday: nothing was measured
PAUSED = (MONDAY + 5 * DAY + 8 * 3600, MONDAY + 5 * DAY + 12 * 3600)  # Saturday: maintenance
WORKLOADS = ("cart", "checkout", "search", "catalogue", "payment", "recommend")


def week(days: float = 7.0, seed: int = 3) -> History:
    """The history of some days, a turn every half hour."""
    return _Week(seed).lived(days)


def default_scheduler(days: float = 7.0, seed: int = 4) -> list[tuple[float, float]]:
    """The share of local traffic that the orchestrator's scheduler alone would have, over the same time."""
    random, share, points = Random(seed), 0.19, []
    for k in range(int(days * 48)):
        share += random.gauss(0, 0.004) + (0.2 - share) * 0.03
        points.append((MONDAY + k * HALF_HOUR, max(0.05, share)))
    return points


def fresh_optimisation(days: float = 7.0) -> list[tuple[float, float]]:
    """What a placement made anew at midnight would have."""
    return [(MONDAY + k * DAY, 0.66 + 0.02 * math.sin(k)) for k in range(math.ceil(days))]


class _Week:
    def __init__(self, seed: int) -> None:
        self.random, self.local, self.fullest = Random(seed), 0.19, 0.71
        self.turns: list[Turn] = []
        self.plans: list[RecordedPlan] = []
        self.holds: list[Hold] = []
        self.events: list[Event] = []

    def lived(self, days: float) -> History:
        for k in range(int(days * 48)):
            at = MONDAY + k * HALF_HOUR
            self._drift(at)
            self.turns.append(self._turn(k + 1, at))
        return History(turns=self.turns, plans=self.plans, steps=(), holds=self.holds, events=self.events)

    def _drift(self, at: float) -> None:
        busy = 0.5 - 0.5 * math.cos(2 * math.pi * ((at % DAY) / DAY - 0.1))
        self.local = max(0.1, self.local - self.random.random() * 0.004 * (0.4 + busy))
        self.fullest = min(0.99, 0.66 + 0.17 * busy + self.random.gauss(0, 0.012))

    def _turn(self, number: int, at: float) -> Turn:
        seen = {
            "id": number, "started": at, "ended": at + 40, "mode": "auto", "goal": "steady", "containers": CONTAINERS,
            "local": self.local, "fullest": self.fullest, "hot": 2 if self.fullest > 0.82 else 0, "seconds": 4.2,
        }  # fmt: skip
        if LOST[0] <= at < LOST[1]:
            seen |= {"local": None, "fullest": None, "hot": 0}
            return Turn(**seen, verdict=TurnVerdict.UNSOUND, why=f"usage was measured {int((at - LOST[0]) / 60) + 30} min ago")
        if PAUSED[0] <= at < PAUSED[1]:
            if at == PAUSED[0]:
                self.events.append(Event(at=at, kind="pause", text="paused by ana: machines are replaced"))
            return Turn(**seen, verdict=TurnVerdict.HELD_OFF, why="paused by ana: machines are replaced")
        if at == PAUSED[1]:
            self.events.append(Event(at=at, kind="resume", text="resumed by ana"))
        gain = 0.63 + 0.01 * self.random.random() - self.local
        if at == MONDAY + 4 * DAY + 9 * 3600:
            return Turn(**seen, verdict=TurnVerdict.FAILED, why="the orchestrator did not answer within 30 s")
        if gain < 0.01:
            return Turn(**seen, verdict=TurnVerdict.NOTHING, why="no move was found that pays")
        if gain < 0.03:
            why = f"the gain of {100 * gain:.1f} % is below the gate's 3 %"
            return Turn(**seen, gain=gain, planned_local=self.local + gain, moves=6, verdict=TurnVerdict.DRY_RUN, why=why)
        return self._execution(seen, at, gain)

    def _execution(self, seen: dict, at: float, gain: float) -> Turn:
        moves = min(42, int(5 + gain * 300))
        gain = min(gain, 0.16)
        expected, back = self.local + gain, at == ROLLED_BACK_AT or (at > ROLLED_BACK_AT and not self.holds)
        plan = f"{self.random.randrange(16**4):04x}"
        status = PlanStatus.ROLLED_BACK if back else PlanStatus.DONE
        why = "machine node-17 rose to 93 %, 82 % is safe" if back else "local traffic is as expected"
        self.plans.append(
            RecordedPlan(
                id=plan, turn=seen["id"], created=at + 5, status=status, goal="steady", fingerprint="f" * 8,
                moves=tuple(_move(i) for i in range(moves)), expected={"local": expected, "gain": gain},
                changed=at + 660, why=why,
            )
        )  # fmt: skip
        self.events += [
            Event(at=at + 6, kind="gate", text=f"the gain of {100 * gain:.1f} % is worth {moves} moves", plan=plan),
            Event(at=at + 400, kind="batch", text="4 of 4 batches made", plan=plan),
            Event(at=at + 660, kind="rollback" if back else "verify", text=why, plan=plan),
        ]
        if back:
            self._hold(at + 660, plan)
        else:
            self.local = expected - 0.01 * self.random.random()
        seen |= {"ended": at + 660}
        return Turn(
            **seen, verdict=TurnVerdict.EXECUTED, why=f"the gain of {100 * gain:.1f} % is above the gate's 3 %",
            gain=gain, planned_local=expected, moves=moves, moved=moves,
        )  # fmt: skip

    def _hold(self, at: float, plan: str) -> None:
        for workload in WORKLOADS[:3]:
            self.holds.append(Hold(workload=workload, until=at + DAY, why="its move was rolled back", plan=plan))
        self.holds.append(Hold(workload="payment", until=MONDAY + 9 * DAY, why="asked for by ben"))
        self.events.append(Event(at=at + 3600, kind="hold", text="payment is left alone: asked for by ben"))


def _move(i: int) -> PlannedMove:
    workload = WORKLOADS[i % len(WORKLOADS)]
    return PlannedMove(
        container=f"{workload}-{i}", uid=f"u-{i}", workload=workload, source=f"node-{i % 9}", target=f"node-{i % 7 + 9}"
    )
