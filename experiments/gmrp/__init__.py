"""The Google Machine Reassignment Problem: our costs beside those of the challenge's best."""
