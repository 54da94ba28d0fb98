"""The referee of migration plans, and a simulator that carries them out."""

from bayplan.act.judge import judge
from bayplan.act.verdict import BatchRecord, Breach, Verdict

__all__ = ["BatchRecord", "Breach", "Verdict", "judge"]
