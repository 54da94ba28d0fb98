"""Which algorithm suits a sub-problem? Labels, training, and how good the choices are."""
