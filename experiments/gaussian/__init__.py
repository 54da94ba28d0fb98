"""Is usage Gaussian? The published usage traces against 003's assumption, and what other beliefs give."""
