"""Integer programs over a few machines: the best for these, while everything else stays where it is."""
