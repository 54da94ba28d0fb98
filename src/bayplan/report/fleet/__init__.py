"""A fleet of clusters: its tables and words, and its page."""
