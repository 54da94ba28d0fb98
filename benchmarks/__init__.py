"""Speed and memory, measured and appended; never asserted in a test."""
