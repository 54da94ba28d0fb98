"""Numba over arrays; imports nothing of ours."""
