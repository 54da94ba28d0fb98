"""The numbers of an admission for people, and its page."""

from pathlib import Path

import numpy as np

from bayplan.api.admit import Admitted
from bayplan.decide.admit import PriceHistory, PriceParameters
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import FloatArray, floats
from bayplan.report.amounts import percent, score
from bayplan.report.answers.admit_page import AdmitPageData, admit_page
from bayplan.report.answers.admit_tables import AdmitFigures, RefusedGroup
from bayplan.report.page import how_made
from bayplan.report.pictures.over_time import ShareCurve
from bayplan.report.pictures.prices import PriceBand, PriceRow, level_of, most_expensive


def figures_of(admitted: Admitted, method: str) -> AdmitFigures:
    """What a screen and a page say."""
    live = admitted.admission
    return AdmitFigures(
        method=method if live is None or method == "available" else f"{method}, {admitted.options.one_shot}",
        requests=len(admitted.requests.requests),
        accepted=admitted.accepted,
        skipped=admitted.stream.skipped,
        offered=admitted.offered_value,
        parameters=[] if live is None else parameter_words(live.parameters),
        use=tuple(admitted.use.totals()),
        ratio=admitted.ratio,
        why=[
            RefusedGroup(kind=one.cause.kind, why=one.why, requests=one.requests, value=one.value)
            for one in admitted.refusals.groups
        ],
    )


def parameter_words(known: PriceParameters) -> list[tuple[str, str]]:
    """U, alpha, lambda and T, each given or estimated; nothing where there are no prices."""
    if known.base == 1.0:
        return []
    words = [("U, value by use", f"{score(known.value_ratio)} ({known.value_ratio_from})")]
    if known.alpha_from != "not used":
        said = "the one-shot method is exact" if known.alpha_from == "exact" else known.alpha_from
        words.append(("alpha, divides the cost", f"{score(known.alpha)} ({said})"))
    if known.slots is not None:
        words.append(("T, slots", f"{known.slots:,} ({known.slots_from})"))
    return [*words, ("lambda, base of prices", score(known.base))]


def write_admit_page(path: Path, admitted: Admitted, *, name: str, method: str, command: str) -> None:
    """One self-contained HTML file."""
    write_text_atomically(path, admit_page(page_data(admitted, name=name, method=method), made=how_made(command)))


def page_data(admitted: Admitted, *, name: str, method: str) -> AdmitPageData:
    """All that the page shows."""
    zones, edge = admitted.requests.zones, admitted.use.edge
    base = 1.0 if admitted.admission is None else admitted.admission.parameters.base
    skipped = [f"{admitted.stream.skipped:,} requests were left out because of faults"] if admitted.stream.skipped else []
    links = zones.bandwidth.copy()
    np.fill_diagonal(links, 0)
    return AdmitPageData(
        name=name.partition(".")[0] if name != "-" else "stream",
        result=admitted.result,
        figures=figures_of(admitted, method),
        edge=edge,
        bands=_bands(admitted, base),
        base=base,
        use=[
            ShareCurve(name=who, share=admitted.use.total[:, k], note=f"{percent(mean)} on average")
            for k, who, mean in _used(admitted)
        ],
        value=_value(admitted, edge),
        refused=admitted.refusals.each,
        zones=len(zones.name),
        links=int((links > 0).sum()),
        notes=skipped,
    )


def _used(admitted: Admitted) -> list[tuple[int, str, float]]:
    names = [*(resource.name for resource in admitted.use.resources), "links"]
    return [(names.index(name), name, mean) for name, mean, _ in admitted.use.totals()]


def _bands(admitted: Admitted, base: float) -> list[PriceBand]:
    """The levels of prices, or of loads where nothing has a price: a band for each resource, and one for links."""
    zones, use = admitted.requests.zones, admitted.use
    zone, link = use.zone, use.link
    if admitted.admission is not None and base > 1:
        zone, link = _levels(admitted.admission.history(), use.edge, base, (zone, link))
    bands = [
        most_expensive(resource.name, [PriceRow(name=name, level=zone[:, z, r]) for z, name in enumerate(zones.name)])
        for r, resource in enumerate(zones.resources)
    ]
    pairs = np.argwhere(np.isfinite(link).any(axis=0)).tolist()
    rows = [PriceRow(name=f"{zones.name[a]} → {zones.name[b]}", level=link[:, a, b]) for a, b in pairs]
    return [*bands, most_expensive("links", rows)]


def _levels(
    history: PriceHistory, edge: FloatArray, base: float, like: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """The highest price in each piece of time, as a level; 0 where nothing was booked, nothing where nothing is."""
    found = []
    piece = np.searchsorted(edge, history.start, side="right") - 1
    inside = (piece >= 0) & (piece < len(edge) - 1)
    for price, shape in zip((history.zone, history.link), like, strict=True):
        top = np.zeros(shape.shape)
        np.maximum.at(top, piece[inside], np.nan_to_num(price[inside]))
        found.append(floats(np.where(np.isnan(shape), np.nan, level_of(top, base))))
    return found[0], found[1]


def _value(admitted: Admitted, edge: FloatArray) -> list[ShareCurve]:
    """The value that has arrived, and that was accepted, up to each moment, as shares of all value."""
    requests = admitted.requests.requests
    value = np.array([request.value for request in requests])
    piece = np.clip(np.searchsorted(edge, [request.arrival for request in requests], side="right") - 1, 0, len(edge) - 2)
    chosen = np.zeros(len(requests), dtype=np.bool_)
    if admitted.result.solution is not None:
        chosen[admitted.result.solution.accepted] = True
    total = value.sum() or 1.0
    lines = []
    for name, some in (("arrived", np.ones(len(requests), dtype=np.bool_)), ("accepted", chosen)):
        sums = np.bincount(piece[some], weights=value[some], minlength=len(edge) - 1)
        lines.append(ShareCurve(name=name, share=floats(np.cumsum(sums) / total), note=score(float(value[some].sum()))))
    return lines
