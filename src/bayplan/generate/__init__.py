"""Seeded instances at the papers' scales."""
