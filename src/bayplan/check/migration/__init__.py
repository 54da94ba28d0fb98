"""The referee of migration plans: every state that a batch can pass through is checked."""
