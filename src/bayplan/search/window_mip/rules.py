"""The rules of a window's model: constraints (11) to (15) and (17) of `window_model`."""

import numpy as np

from bayplan.kernels.search import state as layout
from bayplan.search.window_mip.model import WindowModel
from bayplan.solvers.program import LinearExpression


def keep_rules(model: WindowModel) -> None:
    """Write down every rule that reads counts; capacity and `allow` are there already."""
    _limits(model)
    _interference(model)
    _spread(model)
    _skew(model)
    _dependencies(model)


def _limits(model: WindowModel) -> None:
    limits: dict[int, int] = {}
    for k in set(model.window.kind):
        for row, below in model.views.entries("max_count", k)[0].tolist():
            limits[row] = min(below - 1 + model.views.adds(k)[row], limits.get(row, layout.NO_LIMIT))
    for row, limit in sorted(limits.items()):
        if row in model.rows:
            for group, _, line in model.counts(row):
                model.draft.row(line, at_most=max(limit, model.window.count(row, group)))  # (11)


def _interference(model: WindowModel) -> None:
    window = model.window
    rules = {(e[0], e[1], e[4]) for k in set(window.kind) for e in model.views.entries("interference", k)[0].tolist()}
    for a, b, limit in sorted(rules):
        for group, places in window.groups(a).items() if len(window.groups(a)) > 1 else ():
            line = model.count(b, group, places)
            now = window.count(b, group)
            most = max(limit, now) if window.count(a, group) else limit
            beyond = max(
                0.0, line.constant + sum(by * model.draft.upper[x] for x, by in zip(line.column, line.by, strict=True)) - most
            )
            here = model.draft.column(0.0, upper=1.0, integral=True, start=float(window.count(a, group) > 0))
            model.draft.row(
                LinearExpression([*line.column, here], [*line.by, beyond], line.constant), at_most=most + beyond
            )  # (12)
            if window.stays(a, group) > 0:
                model.draft.row(LinearExpression([here], [1.0]), at_least=1.0)
            for c, _ in window.counted.get(a, ()):
                for p in places:
                    model.draft.row(
                        LinearExpression([int(model.x[c, p]), here], [1.0, -float(len(window.items[c]))]), at_most=0.0
                    )  # (12)


def _spread(model: WindowModel) -> None:
    of = model.views.of
    rows = {row for k in set(model.window.kind) for row, _ in model.views.entries("spread", k)[0].tolist()}
    for row in sorted(rows & model.rows):
        need = min(int(of["groups_needed"][row]), int(of["row_placed"][row]), int(of["groups_used"][row]))
        used, outside = [], int(of["groups_used"][row])
        for group, _, line in model.counts(row):
            now = model.window.count(row, group) > 0
            outside -= now
            here = model.draft.column(0.0, upper=1.0, start=float(now))
            used.append(here)
            model.draft.row(
                LinearExpression([*line.column, here], [*(-by for by in line.by), 1.0], -line.constant), at_most=0.0
            )  # (13)
        model.draft.row(LinearExpression(used, [1.0] * len(used)), at_least=need - outside)  # (13)


def _skew(model: WindowModel) -> None:
    of, table = model.views.of, model.views.of["skew_rule"].reshape(-1, layout.SKEW_RULE_WIDTH)
    rules = {entry[0] for k in set(model.window.kind) for entry in model.views.entries("skew", k)[0].tolist()}
    for number in sorted(rules):
        row, own, limit, groups, floor = table[number, : layout.SKEW_HISTOGRAM].tolist()
        if not {row, own} & model.rows:
            continue
        touched = [g for g in model.window.groups(row) if g < groups]
        now = int(of["skew_low"][number]) if floor != layout.NOWHERE else 0
        least = _lowest(model, number, touched, now) if floor != layout.NOWHERE else None
        for group in touched:
            judged = _judged(model, own, group)
            if judged is not None:
                there = model.window.count(own, group) > 0
                most = max(limit, model.window.count(row, group) - now) if there else limit
                _within(model, model.count(row, group, model.window.groups(row)[group]), judged, least, most)


def _lowest(model: WindowModel, number: int, touched: list[int], now: int) -> int:
    """A column that is at most the count of every group, and not below what groups outside of the window can bear."""
    of = model.views.of
    row, own, limit, groups, _ = of["skew_rule"].reshape(-1, layout.SKEW_RULE_WIDTH)[number, : layout.SKEW_HISTOGRAM].tolist()
    counts = (of["count"][start : start + groups] for start in (int(of["row_start"][row]), int(of["row_start"][own])))
    outside, judged = (np.delete(count, touched) for count in counts)
    least = model.draft.column(0.0, upper=float(outside.min(initial=int(of["row_size"][row]))), start=float(now))
    for group in touched:
        line = model.count(row, group, model.window.groups(row)[group])
        terms = [*line.column, least], [*(-by for by in line.by), 1.0]
        model.draft.row(LinearExpression(*terms, -line.constant), at_most=0.0)  # (17)
    borne = min(now, int(outside[judged > 0].max(initial=0)) - limit)
    model.draft.row(LinearExpression([least], [1.0]), at_least=max(0.0, borne))  # (17)
    return least


def _judged(model: WindowModel, own: int, group: int) -> int | bool | None:
    """Has the group a container of the judged workload? True, a column that says so, or None if it can never have one."""
    window = model.window
    if window.stays(own, group) > 0:
        return True
    classes = window.counted.get(own, ())
    if not classes:
        return None
    here = model.draft.column(0.0, upper=1.0, integral=True, start=float(window.count(own, group) > 0))
    for c, _ in classes:
        for p in window.groups(own)[group]:
            terms = [int(model.x[c, p]), here], [1.0, -float(len(window.items[c]))]
            model.draft.row(LinearExpression(*terms), at_most=0.0)  # (17)
    return here


def _within(model: WindowModel, line: LinearExpression, judged: int | bool, least: int | None, most: int) -> None:
    """X - l <= most, where the group is judged."""
    columns, by, beyond = [*line.column], [*line.by], 0.0
    if least is not None:
        columns, by = [*columns, least], [*by, -1.0]
    if judged is not True:
        upper = sum(b * model.draft.upper[x] for x, b in zip(line.column, line.by, strict=True))
        beyond = max(0.0, line.constant + upper - most)
        columns, by = [*columns, int(judged)], [*by, beyond]
    if columns:
        model.draft.row(LinearExpression(columns, by, line.constant), at_most=most + beyond)  # (17)


def _dependencies(model: WindowModel) -> None:
    window, views = model.window, model.views
    for c, k in enumerate(window.kind):
        for on, _ in views.entries("depends_on", k)[0].tolist():
            for group in window.groups(on) if len(window.groups(on)) > 1 else ():
                if window.stays(on, group) <= 0:
                    _need(model, c, on, group)
    pairs = {(on, of) for k in set(window.kind) for on, of in views.entries("supports", k)[0].tolist() if on in model.rows}
    for on, of in sorted(pairs):
        for group, places in window.groups(on).items():
            if window.count(on, group) and window.stays(on, group) <= 0 and window.stays(of, group) > 0:
                model.draft.row(model.count(on, group, places), at_least=1.0)  # (15)


def _need(model: WindowModel, c: int, on: int, group: int) -> None:
    """Class c depends on what moves; where it has not what it needs now, it may stay."""
    window, size = model.window, float(len(model.window.items[c]))
    line = model.count(on, group, window.groups(on)[group])
    for p in window.groups(on)[group]:
        if window.count(on, group) or not window.placed[c, p]:
            by = [*(-size * coefficient for coefficient in line.by), 1.0]
            model.draft.row(LinearExpression([*line.column, int(model.x[c, p])], by), at_most=0.0)  # (14)
