"""One self-contained HTML page about a change: pictures, a table and a timeline that follow one selection."""

from collections.abc import Mapping

from bayplan.report.amounts import scale_of
from bayplan.report.answers.plan_tables import BatchFigures, batch_table
from bayplan.report.change_page.affinity_graph import graph_section
from bayplan.report.change_page.data import Card, ChangePageData, PageSection, Verdict, change_words
from bayplan.report.change_page.encoding import encoded
from bayplan.report.change_page.front import front_section
from bayplan.report.markup import card, html_table, items, paragraph, tag
from bayplan.report.names import name_of
from bayplan.report.page import asset, footer, page
from bayplan.report.svg import STYLE, element, escaped
from bayplan.report.table import Table

FOLDER = "change_page/assets"
STYLES = ("change_page.css", "graph.css")
SCRIPTS = (  # in the order in which they need each other
    "decode.js",
    "cluster.js",
    "bay_layout.js",
    "bay_plan.js",
    "highlight.js",
    "moves_table.js",
    "move_detail.js",
    "timeline.js",
    "pictures.js",
    "main.js",
    "start.js",
)
MOST_IN_A_ROW = 6  # cards; rows are of about the same length
MOST_BATCHES = 500  # in the table
VERDICTS: Mapping[Verdict, str] = {"better": "✓ better", "worse": "✕ worse", "same": "= same"}
SHOW = {"all": "all machines", "moves": "machines with moves", "safety": "machines above safety capacity"}

BAY_PLAN = (
    "Each column is a machine, each block a container. The height of a block is the container's share of the machine's fullest "
    "resource, so the top of a column says how full the machine is; one that requests none of it is a hairline. Only containers "
    "that move have a colour, and they are drawn on top. Upper line: capacity; amber line: safety capacity; ▲ marks a machine "
    "above it."
)


def change_page(data: ChangePageData) -> str:
    """The page. The same data gives the same bytes."""
    cluster = data.snapshot.cluster
    body = [
        _header(data),
        _cards(data.cards),
        _warnings(data.warnings),
        _bay_plans(data),
        _moves(),
        *(_section(section) for section in _sections(data)),
        _tables("In numbers", data.tables),
        footer(data.made, data.snapshot.notes),
        tag("div", id="tip", role="tooltip", hidden=""),
        tag("script", encoded(data), type="text/plain", id="data"),
    ]
    style = "\n".join(asset(f"{FOLDER}/{name}") for name in STYLES)
    script = "\n".join(asset(f"{FOLDER}/{name}") for name in SCRIPTS)
    return page(name_of(cluster), body, style=style, script=script)


def _sections(data: ChangePageData) -> list[PageSection]:
    cluster, sections = data.snapshot.cluster, list[PageSection]()
    if data.front:
        sections.append(PageSection(title="What more or fewer moves would gain", parts=(_picture(front_section(data.front)),)))
    if len(cluster.traffic.a):
        graph = graph_section(cluster, data.snapshot.placement, data.after)
        sections.append(PageSection(title="Affinity: which traffic stays on one machine", parts=(_picture(graph),)))
    if data.comparisons:
        sections.append(PageSection(title="What if", parts=tuple(map(_card, data.comparisons))))
    sections += data.sections
    if data.batches:
        sections.append(PageSection(title="Batches", parts=(card("", html_table(_batch_table(data))),)))
    return sections


def _batch_table(data: ChangePageData) -> Table:
    figures = [batch if isinstance(batch, BatchFigures) else BatchFigures(**batch) for batch in data.batches]
    return batch_table(figures).first(MOST_BATCHES)


def _header(data: ChangePageData) -> str:
    cluster = data.snapshot.cluster
    badge = tag("span", escaped(data.verdict), class_="verdict good" if data.valid else "verdict bad") if data.verdict else ""
    scale = f"{scale_of(cluster)}: {change_words(data.snapshot.placement, data.after)}"
    above = tag("p", tag("strong", escaped(name_of(cluster))), " ", escaped(scale), class_="above")
    details = paragraph(" ".join(data.details), "lead") if data.details else ""
    return tag("header", above, tag("h1", escaped(data.headline), class_="headline"), badge, details)


def _cards(cards: tuple[Card, ...]) -> str:
    columns = len(cards) if len(cards) <= MOST_IN_A_ROW else -(-len(cards) // -(-len(cards) // MOST_IN_A_ROW))
    return tag("dl", *map(_number, cards), class_="tiles changes", style=f"--columns: {columns}") if cards else ""


def _number(number: Card) -> str:
    before = tag("span", escaped(number.before), class_="was") + tag("span", "→", class_="to", aria_label="becomes")
    value = (before if number.before else "") + tag("span", escaped(number.after), class_="is")
    verdict = tag("span", VERDICTS[number.verdict], class_=f"mark {number.verdict}") if number.before else ""
    note = tag("small", escaped(number.note)) if number.note else ""
    return tag(
        "div", tag("dt", escaped(number.label)), tag("dd", value), tag("dd", verdict, note, class_="remark"), class_="tile"
    )


def _warnings(warnings: tuple[str, ...]) -> str:
    return tag("section", tag("h2", "Warnings"), items(warnings), class_="card warnings") if warnings else ""


def _bay_plans(data: ChangePageData) -> str:
    options = "".join(tag("option", words, value=value) for value, words in SHOW.items())
    show = tag("label", "Show ", tag("select", options, id="show-machines"))
    panels = "".join(_panel(side, title) for side, title in (("before", "Before"), ("after", "After")))
    arrows = element("svg", "", id="arrows", aria_hidden="true")
    return tag(
        "section",
        tag("h2", "Where everything runs"),
        paragraph(BAY_PLAN, "soft"),
        tag("p", "", id="problem", class_="bad", role="alert", hidden=""),
        tag("noscript", paragraph("Pictures, table and timeline need JavaScript. Nothing is fetched.", "bad")),
        tag("div", tag("div", show, class_="controls"), _timeline(data), class_="toolbar"),
        tag("div", panels, arrows, id="bays", class_="bayplan pair"),
        tag("div", id="legend", class_="bayplan legend"),
        class_="card plans",
    )


def _panel(side: str, title: str) -> str:
    label = f"Bay plan, {title.lower()}. Arrow keys: next and previous move."
    canvas = tag("canvas", id=f"bay-{side}", tabindex="0", role="img", aria_label=label)
    return tag("div", tag("h3", tag("span", title, id=f"title-{side}"), tag("small", id=f"state-{side}")), canvas)


def _timeline(data: ChangePageData) -> str:
    slider = element("input", type="range", id="slider", min="0", max="1", step="1", aria_label="Batch of the plan")
    play = tag("button", "Play", type="button", id="play")
    keys = "".join(
        tag("span", tag("i", class_="swatch"), words, style=f"--c: var(--{colour})")
        for colour, words in (("s0", "creates"), ("s1", "deletes"))
    )
    key = tag("span", keys, class_="bayplan legend")
    bars = tag("canvas", id="bars", role="img", aria_label="Steps of each batch over time")
    return tag(
        "div",
        tag("div", play, slider, tag("output", id="when", for_="slider", aria_live="polite"), class_="replay"),
        bars,
        key,
        id="timeline",
        hidden="" if data.plan is None or not data.plan.batches else None,
    )


def _moves() -> str:
    head = tag("table", tag("thead", tag("tr")), tag("tbody"), role="grid", aria_label="Moves")
    rows = tag("div", head, id="rows", class_="scroll", tabindex="0", role="region", aria_label="Moves; arrow keys select a row")
    fields = [
        _field("text", "Search", placeholder="name, machine, reason"),
        _field("workload", "Workload", list_="workload-names", placeholder="any"),
        _field("machine", "Machine", list_="machine-names", placeholder="from or to"),
        *(tag("label", tag("span", words), tag("select", tag("option", "any", value=""), id=f"filter-{name}")) for name, words in
          (("batch", "Batch"), ("reason", "Reason"))),
        tag("button", "Clear", type="button", id="clear"),
    ]  # fmt: skip
    lists = "".join(tag("datalist", id=f"{name}-names") for name in ("workload", "machine"))
    shown = tag("span", id="shown", class_="soft", role="status")
    return tag(
        "section",
        tag("h2", "Moves ", shown),
        tag("div", *fields, lists, class_="controls filters"),
        tag("div", rows, tag("aside", id="detail", aria_live="polite", aria_label="The selected move"), class_="beside"),
        id="moves",
        class_="card",
    )


def _field(name: str, words: str, *, list_: str | None = None, placeholder: str = "") -> str:
    field = element("input", type="search", id=f"filter-{name}", list_=list_, placeholder=placeholder, autocomplete="off")
    return tag("label", tag("span", words), field)


def _section(section: PageSection) -> str:
    return tag("section", tag("h2", escaped(section.title)), *section.parts)


def _picture(markup: str) -> str:
    return tag("div", markup.replace(STYLE, ""), class_="card picture")


def _tables(title: str, tables: tuple[Table, ...]) -> str:
    shown = tuple(_card(table) for table in tables if table.rows)
    return _section(PageSection(title=title, parts=(tag("div", *shown, class_="tables"),))) if shown else ""


def _card(table: Table) -> str:
    return card(table.title, html_table(table))
