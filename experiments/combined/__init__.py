"""All goals at once or one at a time: the combined plan beside methods of one goal, at the same number of moves."""
