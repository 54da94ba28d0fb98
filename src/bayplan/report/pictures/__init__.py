"""Pictures of a placement: SVG documents as strings, that need nothing from outside."""

from bayplan.report.pictures.affinity import affinity_bars
from bayplan.report.pictures.bay_plan import bay_plan
from bayplan.report.pictures.cdf import utilisation_cdf
from bayplan.report.pictures.change import before_after
from bayplan.report.pictures.gantt import gantt
from bayplan.report.pictures.heat_map import heat_map
from bayplan.report.pictures.traffic import traffic_bars
from bayplan.report.pictures.ucac import Curve, ucac_curves

__all__ = [
    "Curve",
    "affinity_bars",
    "bay_plan",
    "before_after",
    "gantt",
    "heat_map",
    "traffic_bars",
    "ucac_curves",
    "utilisation_cdf",
]
