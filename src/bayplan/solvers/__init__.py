"""Linear and integer programs: how they are written down, and who solves them."""
