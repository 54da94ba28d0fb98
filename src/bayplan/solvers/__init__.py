"""Linear and integer programs: how they are written down, and the back end that solves them."""
