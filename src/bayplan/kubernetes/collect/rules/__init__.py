"""Constraints of pods -> rules of the model, or a refusal with its reason."""
