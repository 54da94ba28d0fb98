"""Why a container is where it is: sentences, other machines, traffic, and what blocks the other machines."""

from dataclasses import replace

from bayplan.report.names import printable_fields
from bayplan.report.table import Cell, Report, Sentence, Style, Table, TableColumn, report, share_cell, table
from bayplan.score.explain import Explanation, WorkloadExplanation
from bayplan.words import and_more, first_names

FEW = 8  # machines and partners of one container


def explain_report(explanation: object) -> Report:
    """What `explain` prints: its sentences, other machines, which workloads it talks to, and what blocks machines."""
    explanation = printable_fields(explanation)
    first, *others = str(explanation).split("\n")
    words = (Sentence(first, "strong"), *map(Sentence, others))
    if isinstance(explanation, WorkloadExplanation):
        return report(words[0], _groups(explanation))
    if not isinstance(explanation, Explanation):
        return report(*words)
    return report(*words, _alternatives(explanation).first(FEW), _partners(explanation), _blocked(explanation).first(FEW))


def _groups(explanation: WorkloadExplanation) -> Table:
    """The containers of a workload, machine by machine."""
    columns = (
        TableColumn("containers"),
        TableColumn("machine"),
        TableColumn("fits", "number", key="fits"),
        TableColumn("best other machine", key="best"),
        TableColumn("change of the objective", "number", short="change of the\nobjective", key="change"),
        TableColumn("local traffic", "share", drop=1, key="local"),
        TableColumn("what blocks the others", drop=2, key="blocked"),
    )
    rows = []
    for group in explanation.groups:
        one = group.explanation
        best = one.alternatives[0] if one.alternatives else None
        change = best.change if best and one.machine is not None else None  # from no machine only the order says something
        rows.append(
            (
                Cell(first_names(group.containers, 1)),
                Cell(one.machine or "none", style="" if one.machine is not None else "warn"),
                Cell(f"{len(one.fits):,} of {one.machines:,}", len(one.fits)),
                Cell(best.machine if best else ""),
                Cell(f"{change:+.3g}", change, "good" if change < 0 else "soft") if change is not None else Cell(""),
                share_cell(one.local) if one.local is not None else Cell(""),
                Cell(", ".join(f"{machines:,} {reason}" for reason, machines in one.blocked.items())),
            )
        )
    hidden = and_more(explanation.not_shown, "containers on other machines")
    return replace(table(columns, rows, title="Machine by machine"), footer=hidden)


def _alternatives(explanation: Explanation) -> Table:
    """The change of the objective, machine by machine; for an unplaced container only their order says something."""
    columns = (
        TableColumn("machine"),
        TableColumn("change of the objective", "number", short="change of the\nobjective", key="change"),
        TableColumn("", key="verdict"),
    )
    rows = []
    for alternative in explanation.alternatives:
        change = alternative.change
        words = ("better" if change < 0 else "worse") if explanation.machine is not None and change != 0 else ""
        style: Style = "good" if change < 0 else "soft"
        rows.append((Cell(alternative.machine), Cell(f"{change:+.3g}" if change else "0", change), Cell(words, style=style)))
    return table(columns, rows, title="If it ran elsewhere")


def _partners(explanation: Explanation) -> Table:
    columns = (TableColumn("talks to"), TableColumn("share", "share"), TableColumn("local", "share"), TableColumn("on"))
    rows = []
    for partner in explanation.partners[:FEW]:
        machines = list(partner.machines)
        where = ", ".join(filter(None, [*machines[:FEW], and_more(len(machines) - FEW)]))
        rows.append((Cell(partner.workload), share_cell(partner.share), share_cell(partner.local), Cell(where)))
    return table(columns, rows, title="Its traffic")


def _blocked(explanation: Explanation) -> Table:
    columns = (TableColumn("machine"), TableColumn("what blocks it"))
    rows = ((Cell(machine), Cell(why)) for machine, why in explanation.why.items())
    return table(columns, rows, title=f"Machines that cannot take it: {len(explanation.why):,}")
