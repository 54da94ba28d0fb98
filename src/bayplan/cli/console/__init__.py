"""What commands share: the clock, exit codes, where answers go, how they are printed, progress on stderr."""
