"""Every placement method by name."""

from collections.abc import Mapping

from bayplan.decide.place.best import best
from bayplan.decide.place.methods import binpack, c_c, ca_wfd, enf, ha, random, ws_dp
from bayplan.decide.place.signature import Placer

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
