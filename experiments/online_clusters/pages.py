"""The tables, verdicts and figures: into docs/verbs/admit.md, or into a folder of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.online_clusters.claims import KINDS, counted, of_kind
from experiments.online_clusters.figures import FIGURES, pictures, word_of
from experiments.online_clusters.grid import answer_table, grid_table
from experiments.online_clusters.measured import Streams, grid_rows, one_shot_rows, stream_rows
from experiments.online_clusters.one_shot_claims import one_shot_claims, own_one_shot, ratio_means, second_claims
from experiments.online_clusters.online_claims import by_requests, own_online, value_of
from experiments.online_clusters.settings import (
    BOUND,
    CLOCKED,
    COUNTED,
    FREE,
    LASTS,
    LIMITED,
    OFFLINE,
    ONLINE,
    QUICKEST,
    READINGS,
    WORTH,
    Scope,
)
from experiments.online_clusters.tables import column_table, one_shot_table, own_lines, ratio_table, seconds_table
from experiments.results import ROOT, Row, measured_on, picked, put
from experiments.verdicts import RULE, Claim, claim_table

HERE = Path(__file__).parent
DOCS = ROOT / "docs"
ONE_SHOT, ONLINE_MARKER, GRID_MARKER = "one-shot", "online-clusters", "online-grid"
SAID = {"free": "Traffic inside of a zone is free, as (4) says", "priced": "Traffic inside of a zone has a random price, too"}
NOTHING = ["Not measured."]


def one_shot_lines(measured: Sequence[Row]) -> list[str]:
    """Figures 2 to 5."""
    if not measured:
        return NOTHING
    unproven = sum(row["proven"] != "yes" for row in measured)
    proof = "every optimum is proven" if not unproven else f"**{unproven} cells whose optimum is not proven**"
    said = [f"{len(measured):,} cells, {proof}. Mean ratio to the optimum (largest). Measured on {measured_on(measured)}.", ""]
    said += [RULE, ""]
    for inside in READINGS:
        if picked(measured, inside=inside):
            said += [f"**{SAID[inside]}**", "", *one_shot_table(measured, inside), ""]
            said += [*claim_table(one_shot_claims(measured, inside)), ""]
            said += [*own_lines(own_one_shot(measured, inside)), ""]
            said += [f"![Figure {n}, {inside}](pictures/online-clusters-{n}-{inside}.svg)" for n in (2, 3, 4)] + [""]
    said += ["**Time** (mean milliseconds of the CPU at the largest S, Figure 5)", ""]
    said += [*seconds_table(picked(measured, resources="1")), "", *claim_table(second_claims(measured)), ""]
    return [*said, "![Figure 5](pictures/online-clusters-5.svg)"]


def online_lines(streams: Streams, one_shot: Sequence[Row], scope: Scope) -> list[str]:
    """Figures 6 to 11."""
    if not streams.rows:
        return NOTHING
    said = [f"{len(streams.rows):,} cells; {_sound(streams)}. Measured on {measured_on(streams.rows)}.", ""]
    for data, inside in scope.kinds:
        if any(row["data"] == data and row["inside"] == inside for row in streams.rows):
            said += [*_kind_lines(streams, one_shot, data, inside, scope), ""]
    said += ["**Figures 10 and 11**", "", *claim_table(_plain(list(counted(streams, scope)))), ""]
    return [*said, *_counted_lines(streams, scope)]


def _meant(words: Mapping[str, str]) -> str:
    """'*short* 1 to 5 slots, *long* to the last slot'."""
    return ", ".join(f"*{name}* {meaning}" for name, meaning in words.items())


def _sound(streams: Streams) -> str:
    broken = sum(row["broken"] != "0" for row in streams.rows)
    return "the referee found every answer sound" if not broken else f"**{broken} answers break a rule**"


def _kind_lines(streams: Streams, one_shot: Sequence[Row], data: str, inside: str, scope: Scope) -> list[str]:
    """Figures 6 to 9 on one kind of streams."""
    said = [f"**{KINDS[data, inside].capitalize()}**: mean ratio of a proven bound to the value accepted", ""]
    means = ratio_means(one_shot, "free" if inside == FREE else "priced")
    said += [*claim_table(_plain(list(of_kind(streams, (data, inside), scope, means)))), ""]
    if inside == FREE:
        said += [*own_lines(own_online(streams, data, scope)), ""]
    methods = QUICKEST if inside == LIMITED else (*(method for method in ONLINE if method != "sampling 1.0 by price"), OFFLINE)
    for letter, settings in scope.figures(data, inside).items():
        shown = {value_of(setting, letter): setting for setting in settings}
        said += [*ratio_table(streams, letter, shown, methods), ""]
        said += [f"![Figure {FIGURES[letter][0]}](pictures/online-clusters-{FIGURES[letter]}-{word_of(data, inside)}.svg)", ""]
    said += ["Value accepted (Figure 9):", ""]
    said += [*column_table(streams, by_requests(scope.figures(data, inside)["I"]), "value", QUICKEST), ""]
    if inside == FREE:
        said += ["The same with three members, where `sampling 0.6` has the formula's n:", ""]
        small = by_requests(scope.small(data, inside))
        said += [*column_table(streams, small, "value", ("exact", "sampling 0.6", "sampling 1.0", "greedy")), ""]
    return [*said, f"![Figure 9](pictures/online-clusters-9-{word_of(data, inside)}.svg)"]


def _plain(claims: Sequence[Claim]) -> list[Claim]:
    """Claims without the kind of streams, which the heading says."""
    return [replace(claim, text=_without(claim.text)) for claim in claims]


def _without(text: str) -> str:
    for kind in KINDS.values():
        text = text.removesuffix(f" ({kind})")
    return text


def _counted_lines(streams: Streams, scope: Scope) -> list[str]:
    """Figures 10 and 11."""
    said = []
    for capacity in scope.capacities:
        said += [f"Requests accepted, C = {capacity} (Figure 10):", ""]
        said += [*column_table(streams, by_requests(scope.counted(capacity)), "winners", COUNTED), ""]
    said += ["![Figure 10](pictures/online-clusters-10.svg)", "", "Seconds of the CPU for a whole stream, V = 5 (Figure 11):", ""]
    said += [*column_table(streams, by_requests(scope.clocked()), "cpu", CLOCKED), ""]
    return [*said, "![Figure 11](pictures/online-clusters-11.svg)"]


def grid_lines(streams: Streams, scope: Scope) -> list[str]:
    """Where prices pay, and where each claim holds."""
    if not streams.rows:
        return NOTHING
    seeds = len({row["seed"] for row in streams.rows if row["method"] == BOUND})
    said = [f"{len(streams.rows):,} cells, {seeds} seeds; {_sound(streams)}. Measured on {measured_on(streams.rows)}.", ""]
    columns = f"Columns: traffic inside of a zone; values ({_meant(WORTH)}); durations ({_meant(LASTS)})."
    said += [*answer_table(streams, scope), "", columns, ""]
    for inside, words in ((FREE, "free"), (LIMITED, "limited by D_ss")):
        said += [f"**Traffic inside of a zone is {words}**", "", *grid_table(streams, inside, scope), ""]
    return said[:-1]


def parts_in(folder: Path, scope: Scope) -> dict[str, list[str]]:
    """Marker -> lines."""
    one_shot, streams, grid = one_shot_rows(folder), Streams(stream_rows(folder)), Streams(grid_rows(folder))
    return {
        ONE_SHOT: one_shot_lines(one_shot),
        ONLINE_MARKER: online_lines(streams, one_shot, scope),
        GRID_MARKER: grid_lines(grid, scope),
    }


def write_pages(folder: Path, scope: Scope, *, in_docs: bool) -> None:
    """From the CSV files of `folder` into docs/, or into tables.md and pictures beside them."""
    target = DOCS if in_docs else folder
    (target / "pictures").mkdir(exist_ok=True)
    for name, drawing in pictures(one_shot_rows(folder), Streams(stream_rows(folder)), scope).items():
        (target / "pictures" / name).write_text(drawing, encoding="utf-8")
    parts = parts_in(folder, scope)
    if in_docs:
        page = DOCS / "verbs" / "admit.md"
        text = page.read_text(encoding="utf-8")
        for marker, said in parts.items():
            text = put(text, marker, said)
        page.write_text(text, encoding="utf-8")
    else:
        heads = {ONE_SHOT: "# One cluster", ONLINE_MARKER: "# Streams", GRID_MARKER: "# Loads, durations and values"}
        text = "\n".join(line for marker, said in parts.items() for line in (heads[marker], "", *said, ""))
        (folder / "tables.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(HERE, Scope(), in_docs=True)
