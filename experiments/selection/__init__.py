"""Which algorithm suits a subproblem? Labels, training, and how good the choices are."""
