"""World -> model: native files, RASA, GMRP, traces."""
