"""Every claim of the five papers with its verdict, and why where it is not reproduced: docs/evidence.md."""
