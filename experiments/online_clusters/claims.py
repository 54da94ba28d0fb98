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
from experiments.online_clusters.settings import ALPHA, AZURE, FREE, LIMITED, MADE, QUICK, READINGS, Scope
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
TO_BOUND = "ratio to a proven bound, so at least the true one"
ALPHA_OF_EXACT = f"alpha {ALPHA:g} for `exact`, too: the paper sets it for A_sub1 and A_sub2"
THREE_LINES = "the figure has three lines for each C, and the text does not say of what"


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
    to_bound = [*online_claims(streams, *kind, scope), *loss_claims(streams, one_shot, *kind, scope)]
    for claim in to_bound:
        yield _of_streams(replace(claim, scale="; ".join(filter(None, (TO_BOUND, claim.scale)))), streams, kind, scope)
    for claim in counted_claims(streams, *kind, scope):
        yield _of_streams(claim, streams, kind, scope)


def _of_streams(claim: Claim, streams: Streams, kind: tuple[str, str], scope: Scope) -> Claim:
    """With the kind of streams, and what is smaller than in the paper, or other."""
    timed = claim.where.startswith(("Figure 11", "Theorem 4"))  # their streams are others, and have all seeds
    parts = [DRAWN[kind[0]], seeds_said(streams, *kind, scope, "" if timed else claim.text)]
    parts += ["V of at most 4"] if "sampling 0.6" in claim.text and "V = 3" not in claim.text else []
    parts += [ALPHA_OF_EXACT] if "`exact" in claim.text else []
    parts += [THREE_LINES] if claim.where == "Figure 10" else []
    return replace(claim, text=f"{claim.text} ({KINDS[kind]})", scale="; ".join(filter(None, (*parts, claim.scale))))


def counted(streams: Streams, scope: Scope) -> Iterator[Claim]:
    """Figures 10 and 11, on streams of section VI with free traffic inside of a zone."""
    for claim in (*winner_claims(streams, scope), *time_claims(streams, scope)):
        yield _of_streams(claim, streams, (MADE, FREE), scope)
