"""Which failures of machines, racks and zones a cluster survives: what ran there is put elsewhere, within all rules."""

from bayplan.decide.capacity.survive import CapacityOptions, Spare, survive

__all__ = ["CapacityOptions", "Spare", "survive"]
