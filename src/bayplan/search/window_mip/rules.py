"""The rules of a window's model: constraints (11) to (15) of `window_model`."""

from bayplan.kernels.search import state as layout
from bayplan.search.window_mip.model import WindowModel
from bayplan.solvers.program import LinearExpression


def keep_rules(model: WindowModel) -> None:
    """Write down every rule that reads counts; capacity and `allow` are there already."""
    _limits(model)
    _interference(model)
    _spread(model)
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
