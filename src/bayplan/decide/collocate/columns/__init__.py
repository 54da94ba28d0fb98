"""Column generation: patterns of machines, priced per type of machine, and chosen by a master program (004 Algorithm 1)."""
