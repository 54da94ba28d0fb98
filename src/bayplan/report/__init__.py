"""Model -> people."""
