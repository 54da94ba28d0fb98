"""How far bayplan goes: measured laws from a thousand containers to a million, and a simulated Ray cluster beyond that."""
