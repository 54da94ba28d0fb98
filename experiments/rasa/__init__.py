"""The experiments of [RASA]: M3, the front of affinity over moves, Figures 5 to 10."""
