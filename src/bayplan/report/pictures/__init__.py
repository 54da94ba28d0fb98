"""Pictures of a placement: SVG documents as strings, that need nothing from outside."""

from bayplan.report.pictures.failures import failure_picture
from bayplan.report.pictures.gantt import gantt
from bayplan.report.pictures.placement.bay_plan import bay_plan
from bayplan.report.pictures.placement.heat_map import heat_map
from bayplan.report.pictures.placement.traffic import traffic_bars
from bayplan.report.pictures.placement.utilisation_cdf import utilisation_cdf
from bayplan.report.pictures.ucac import UcacCurve, ucac_curves

__all__ = [
    "UcacCurve",
    "bay_plan",
    "failure_picture",
    "gantt",
    "heat_map",
    "traffic_bars",
    "ucac_curves",
    "utilisation_cdf",
]
