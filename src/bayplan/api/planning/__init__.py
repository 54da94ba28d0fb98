"""`plan`: the question, the target, the way to it, and the answer."""
