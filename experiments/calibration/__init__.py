"""Generated clusters beside the published cluster M3 of [RASA]."""
