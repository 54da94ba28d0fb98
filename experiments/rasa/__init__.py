"""The experiments of 004 (RASA): M3, the front of affinity over moves, Figures 5 to 10."""
