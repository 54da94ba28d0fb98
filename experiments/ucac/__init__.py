"""Packing at a stated confidence: the tables, the week and the run times of 003 section 6."""
