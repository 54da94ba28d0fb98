"""Packing at a stated confidence: the tables, the week and the run times of [UCaC] §6."""
