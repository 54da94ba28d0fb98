"""What a goal means on a cluster, what each move is worth for it, and the figures that people compare."""
