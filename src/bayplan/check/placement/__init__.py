"""The referee of placements: every rule, checked on one placement or on the change between two."""
