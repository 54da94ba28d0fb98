"""The referee of placements: every rule, judged on one placement or on the change between two."""
