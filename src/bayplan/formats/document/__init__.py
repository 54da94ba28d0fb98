"""Files as documents: opened, parsed, checked for their shape, and their faults said in words."""
