"""`capacity`: which failures of machines, racks and zones does the cluster survive?"""

from bayplan.api.capacity.answer import CapacityAnswer
from bayplan.api.capacity.failure_check import capacity

__all__ = ["CapacityAnswer", "capacity"]
