"""Migrations: how many batches and steps our planner and that of RASA need, on real, generated and random clusters."""
