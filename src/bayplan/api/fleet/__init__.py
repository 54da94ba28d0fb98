"""`plan` of many clusters at once: one budget of moves, divided where it brings most."""
