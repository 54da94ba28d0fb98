"""Annealing over counts (workload, machine): the state, one walker over it, and a pool of walkers in threads."""
