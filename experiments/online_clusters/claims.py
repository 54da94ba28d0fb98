"""What [Online clusters] claims beside what we measured: every claim, under all readings and of all kinds of streams."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.online_clusters.measured import Streams, one_shot_rows, stream_rows
from experiments.online_clusters.one_shot_claims import Means, one_shot_claims, ratio_means, second_claims
from experiments.online_clusters.online_claims import (
    counted_claims,
    loss_claims,
    online_claims,
    seeds_said,
    time_claims,
    winner_claims,
)
from experiments.online_clusters.settings import AZURE, FREE, LIMITED, MADE, QUICK, READINGS, Scope
from experiments.results import Row
from experiments.verdicts import Claim

INSIDE = {"free": "traffic inside of a zone is free", "priced": "traffic inside of a zone has a price"}
KINDS = {
    (MADE, FREE): "streams of section VI, traffic inside of a zone is free",
    (MADE, LIMITED): "streams of section VI, D_ss limits traffic inside of a zone",
    (AZURE, FREE): "streams of azure",
}
DRAWN = {MADE: "drawn streams, not Google's trace", AZURE: "Azure's trace, not Google's"}
PAGE = "verbs/admit.md"


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """All claims; those without rows are not tested."""
    one_shot, streams, scope = one_shot_rows(folder), Streams(stream_rows(folder)), QUICK if quick else Scope()
    found = [
        *_one_shot(one_shot),
        *(claim for kind in scope.kinds for claim in of_kind(streams, kind, scope, _means(one_shot, kind[1]))),
        *counted(streams, scope),
    ]
    return [replace(claim, page=PAGE) for claim in found]


def _means(one_shot: Sequence[Row], inside: str) -> Means:
    """The one-shot ratios under the reading that is that of the streams."""
    return ratio_means(one_shot, "free" if inside == FREE else "priced")


def _one_shot(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figures 2 to 5."""
    read = [
        replace(claim, text=f"{claim.text} ({INSIDE[inside]})")
        for inside in READINGS
        for claim in one_shot_claims(measured, inside)
    ]
    scale = f"drawn, not Google's trace; {count(len({row['trial'] for row in measured}), 'trial')}"
    for claim in (*read, *second_claims(measured)):
        fewer = "; n = 5, the formula has 6, where V is 7 or 8 and S is 7 or 9" if "sampling 0.6" in claim.text else ""
        loop = "; one by one for V up to 6" if "one by one" in claim.text else ""
        yield replace(claim, scale=f"{scale}{fewer}{loop}")


def of_kind(streams: Streams, kind: tuple[str, str], scope: Scope, one_shot: Means) -> Iterator[Claim]:
    """Figures 6 to 9 on one kind of streams."""
    scale = f"{DRAWN[kind[0]]}; {seeds_said(streams, *kind, scope)}"
    for claim in (
        *online_claims(streams, *kind, scope),
        *loss_claims(streams, one_shot, *kind, scope),
        *counted_claims(streams, *kind, scope),
    ):
        fewer = "; V of at most 4" if "sampling 0.6" in claim.text else ""
        yield replace(claim, text=f"{claim.text} ({KINDS[kind]})", scale=f"{scale}{fewer}")


def counted(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figures 10 and 11, on streams of section VI with free traffic inside of a zone."""
    scale = f"{DRAWN[MADE]}; {seeds_said(streams, MADE, FREE, scope)}"
    for claim in (*winner_claims(streams, scope), *time_claims(streams, scope)):
        yield replace(claim, text=f"{claim.text} ({KINDS[MADE, FREE]})", scale=scale)
