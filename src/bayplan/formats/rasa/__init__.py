"""The files of RASA (ByteDance): clusters and solutions."""

from bayplan.formats.rasa.read import read_rasa, read_rasa_solution
from bayplan.formats.rasa.write import rasa_solution_text, rasa_text

__all__ = ["rasa_solution_text", "rasa_text", "read_rasa", "read_rasa_solution"]
