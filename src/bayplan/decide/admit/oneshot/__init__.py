"""Place the members of one request (IQP (4) of 001)."""
