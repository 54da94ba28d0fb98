"""What each score means, in one line, and whether more or less of it is good."""

from collections.abc import Mapping

from bayplan.model import GAINS

MEANINGS: Mapping[str, str] = {
    "utilisation": "variance of the machines' utilisation; lower is more even",
    "balance": "resources left over in the wrong proportion; lower is better",
    "communication": "traffic times distance between machines; lower is better",
    "total": "utilisation, balance and communication, weighted; lower is better",
    "objective": "the terms that are wanted, each times its weight, gains subtracted; lower is better",
    "overload": "load above the safety capacity, all machines; lower is better",
    "affinity": "share of the traffic that stays on one machine, 0 to 1; higher is better",
    "moves": "containers that change machines; lower is better",
    "move-cost": "price of the moves; lower is better",
    "targets": "residuals out of the wanted proportion; lower is better",
    "gmrp": "full cost of the machine reassignment problem; lower is better",
    "ucac": "capacity in use at the stated confidence; lower is better",
    "machines": "machines in use; lower is better",
    "value": "value of what is served; higher is better",
    "batches": "rounds of steps, one after another; lower is better",
    "steps": "containers created or deleted, one by one; lower is better",
    "stopovers": "creates on a machine that the container leaves again; lower is better",
    "surges": "creates of containers that still run elsewhere",
    "alive": "smallest share of a workload that runs at any time",
    "peak": "highest use of a machine at any time, 1 is full",
    "served": "requests served; higher is better",
}


def meaning_of(score: str) -> str:
    """One line about a score; empty for a name that is not ours."""
    return MEANINGS.get(score, "")


def higher_is_better(score: str) -> bool:
    """Is more of it good?"""
    return score in GAINS
