"""Is usage Gaussian? The published usage traces against [UCaC]'s assumption, and what other beliefs give."""
