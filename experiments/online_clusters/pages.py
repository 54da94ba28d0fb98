"""The tables, verdicts and figures: into docs/verbs/admit.md, or into a folder of their own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.online_clusters.claims import (
    base_of,
    counted_claims,
    one_shot_claims,
    online_claims,
    own_lines,
    own_one_shot,
    own_online,
    settings_of,
)
from experiments.online_clusters.figures import pictures
from experiments.online_clusters.settings import COUNTED, ONLINE, READINGS, Scope
from experiments.online_clusters.tables import column_table, one_shot_table, online_table, seconds_table
from experiments.results import ROOT, Row, measured_on, picked, put, rows
from experiments.verdicts import RULE, claim_table

HERE = Path(__file__).parent
DOCS = ROOT / "docs"
ONE_SHOT, ONLINE_MARKER = "one-shot", "online-clusters"
SAID = {"free": "Traffic inside of a zone is free, as (4) says", "priced": "Traffic inside of a zone has a random price, too"}


def one_shot_lines(measured: Sequence[Row]) -> list[str]:
    """Figures 2 to 5."""
    if not measured:
        return ["Not measured."]
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
    said += ["**Time** (mean milliseconds at the largest S, Figure 5)", "", *seconds_table(picked(measured, resources="1")), ""]
    return [*said, "![Figure 5](pictures/online-clusters-5.svg)"]


def online_lines(measured: Sequence[Row], scope: Scope) -> list[str]:
    """Figures 6 to 11."""
    if not measured:
        return ["Not measured."]
    broken = sum(row["broken"] != "0" for row in measured)
    sound = "the referee found every answer sound" if not broken else f"**{broken} answers break a rule**"
    said = [f"{len(measured):,} cells; {sound}. Measured on {measured_on(measured)}.", ""]
    for data in dict.fromkeys(row["data"] for row in measured):
        said += [*_data_lines(measured, data, scope), ""]
    return said[:-1]


def _data_lines(measured: Sequence[Row], data: str, scope: Scope) -> list[str]:
    base, settings = base_of(scope), settings_of(scope)
    word = data.replace(" ", "-").lower()
    said = [f"**Streams of {data}**: mean ratio of the proven offline bound to the value accepted", ""]
    said += [*claim_table((*online_claims(measured, data, scope), *counted_claims(measured, data, scope))), ""]
    said += [*own_lines(own_online(measured, data, scope)), ""]
    for letter, figure, column in (("V", "6-v", "members"), ("S", "6-s", "zones"), ("U", "7", "ratio"), ("I", "8", "requests")):
        fixed = {name: value for name, value in base.items() if name != column}
        said += [*online_table(measured, letter, column, settings[column], data=data, **fixed), ""]
        said += [f"![Figure {figure[0]}](pictures/online-clusters-{figure}-{word}.svg)", ""]
    fixed = {name: value for name, value in base.items() if name != "requests"}
    said += ["Value accepted (Figure 9):", ""]
    said += [*column_table(measured, "I", "requests", "value", tuple(ONLINE), data=data, **fixed), ""]
    said += [f"![Figure 9](pictures/online-clusters-9-{word}.svg)"]
    if any(row["capacity"] != "0" for row in picked(measured, data=data)):
        said += ["", *_counted_lines(measured, data, fixed)]
    return said


def _counted_lines(measured: Sequence[Row], data: str, fixed: Mapping[str, str]) -> list[str]:
    """Figures 10 and 11."""
    said = []
    for capacity in sorted({row["capacity"] for row in picked(measured, data=data)} - {"0"}, key=int):
        where = {**fixed, "data": data, "capacity": capacity}
        said += [f"Requests accepted, C = {capacity} (Figure 10):", ""]
        said += [*column_table(measured, "I", "requests", "winners", COUNTED, **where), ""]
    said += ["![Figure 10](pictures/online-clusters-10.svg)", "", "Seconds for a whole stream, V = 5 (Figure 11):", ""]
    said += [*column_table(measured, "I", "requests", "seconds", COUNTED, **{**fixed, "data": data, "members": "5"}), ""]
    return [*said, "![Figure 11](pictures/online-clusters-11.svg)"]


def write_pages(folder: Path, scope: Scope, *, in_docs: bool) -> None:
    """From the CSV files of `folder` into docs/, or into tables.md and pictures beside them."""
    one_shot, online = rows(folder / "oneshot.csv"), rows(folder / "online.csv")
    target = DOCS if in_docs else folder
    (target / "pictures").mkdir(exist_ok=True)
    for name, drawing in pictures(one_shot, online, scope).items():
        (target / "pictures" / name).write_text(drawing, encoding="utf-8")
    parts = {ONE_SHOT: one_shot_lines(one_shot), ONLINE_MARKER: online_lines(online, scope)}
    if in_docs:
        page = DOCS / "verbs" / "admit.md"
        text = page.read_text(encoding="utf-8")
        for marker, said in parts.items():
            text = put(text, marker, said)
        page.write_text(text, encoding="utf-8")
    else:
        text = "\n".join(["# One cluster", "", *parts[ONE_SHOT], "", "# Streams", "", *parts[ONLINE_MARKER], ""])
        (folder / "tables.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(HERE, Scope(), in_docs=True)
