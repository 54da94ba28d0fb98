"""The files of the Google Machine Reassignment Problem: models, assignments and solutions."""

from bayplan.formats.gmrp.read import gmrp_solution_text, read_gmrp, read_gmrp_solution

__all__ = ["gmrp_solution_text", "read_gmrp", "read_gmrp_solution"]
