"""Where do new containers go? One function per method, all with one signature, in one dict."""

from bayplan.decide.place.registry import PLACERS
from bayplan.decide.place.signature import PlaceOptions, Placer

__all__ = ["PLACERS", "PlaceOptions", "Placer"]
