"""Where do new containers go? One function per method, all with one signature, in one dict."""

from collections.abc import Mapping

from bayplan.decide.place.methods import best, binpack, c_c, ca_wfd, enf, ha, random, ws_dp
from bayplan.decide.place.options import PlaceOptions, Placer

PLACERS: Mapping[str, Placer] = {
    "best": best,
    "ca-wfd": ca_wfd,
    "ws-dp": ws_dp,
    "c-c": c_c,
    "random": random,
    "ha": ha,
    "enf": enf,
    "binpack": binpack,
}

__all__ = ["PLACERS", "PlaceOptions", "Placer"]
