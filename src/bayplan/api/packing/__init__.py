"""Packing day after day: target numbers of replicas, and containers that arrive and leave one at a time."""
