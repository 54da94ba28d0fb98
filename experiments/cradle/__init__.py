"""The experiments of 002: which requests are served when there is not room for all."""
