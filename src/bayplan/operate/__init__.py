"""The running system. For now: a simulator that carries out plans, with failures where they are wanted."""
