"""Clusters at the scales of [RASA] Table II, calibrated to its published cluster M3."""

from bayplan.generate.rasa.cluster import make, rasa_m1, rasa_m2, rasa_m3, rasa_m4

__all__ = ["make", "rasa_m1", "rasa_m2", "rasa_m3", "rasa_m4"]
