"""Durable admission: every verdict is in the store before it is answered, and a restart goes on exactly where it ended."""
