"""The one local search over all objective terms and rules: its state, its moves, its drivers."""
