r"""The exact model of a window: which items run on which of a few machines, everything else fixed.

Variables: x_cm items of class c on machine m of the window M, whole; all others are continuous, but u. Let n_c be the items of
a class, q_cr its request, L_mr the load of what stays, K_mr what else m is charged, X_wg the containers that a row w (a set
of workloads) counts in a group g of machines: those that stay, and a_cw of each item of class c that is there.

    min   sum over_r o_mr + weight_e b_me + U_r - gain_e z_em - gain_cd y_cdg + price_cm x_cm + move d_km + busiest t        (1)
    s.t.  sum_m x_cm = n_c                                          every c                (2)  all stay placed
          K_mr + sum_c q_cr x_cm <= limit_mr                        every m, r             (3)  capacity, on the way too
          o_mr >= L_mr + sum_c q_cr x_cm - safety_mr                every m, r             (4)  overload
          b_me >= f1 A_m,r1 - f2 A_m,r2                             every m, pair e        (5)  balance; A is the free amount
          z_em <= by_a X_am, z_em <= by_b X_bm                      every edge e, m        (6)  gained affinity
          y_cdg <= X_cg, y_cdg <= X_dg                              pairs that talk, g     (7)  communication that stays local
          s_p >= 2 p v - p^2 for all p                              every square v^2 of U  (8)  tangents, added as they are needed
          d_km >= ran_km - sum_{c of kind k} x_cm                   every k, m             (9)  moved, replicas interchangeable
          t >= moved of service s                                   every s                (10) GMRP: the busiest service
          X_wg <= limit_w                                           every rule, g          (11) anti-affinity
          u_g >= x_cm / n_c,  X_bg <= limit + B (1 - u_g)           every rule, g          (12) interference, c counts for a
          h_g <= X_sg, h_g <= 1, sum_g h_g >= minimum               every rule             (13) spread
          x_cm <= n_c X_on,g(m)                                     every rule, c, m       (14) dependency of what moves
          X_on,g >= 1                                               every rule, g          (15) dependency of what stays
          sum d_km <= moves left                                                           (16) churn budget
          l <= X_wg,  X_wg - l <= limit + B (1 - u_g)               every rule, g          (17) skew, u_g as in (12)

Limits that are passed now may stay passed, but not by more. An overfull machine takes nothing that it has not.
`window_rules` writes (11) to (15) and (17).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.kernels.search import state as layout
from bayplan.search.window_mip.window import Window
from bayplan.solvers.program import LinearExpression, ProgramBuilder, sum_of

MAX_COLUMNS = 4000  # larger windows are refused: they would not be solved in time
MAX_PAIRS = 400  # pairs of items that talk to each other
TANGENTS = np.linspace(-1.0, 1.0, 9)  # where squares are touched at first, in utilisations


class Square(NamedTuple):
    """A column that must not be less than the square of a line."""

    column: int
    line: LinearExpression


class WindowModel:
    """The draft of the program, the columns x, and the squares that are touched from below only. Costs; rules come after."""

    def __init__(self, window: Window) -> None:
        self.window, self.views, self.draft = window, window.views, ProgramBuilder()
        self.squares: list[Square] = []
        n_c, n_m = window.placed.shape
        price = self._prices()
        may = self._may_stand()
        self.x = np.array(
            [
                [
                    self.draft.column(
                        price[c][p], upper=size if may[c][p] else 0.0, integral=True, start=float(window.placed[c, p])
                    )
                    for p in range(n_m)
                ]
                for c, size in enumerate(map(len, window.items))
            ],
            dtype=np.int64,
        ).reshape(n_c, n_m)
        for c, items in enumerate(window.items):
            self.draft.row(LinearExpression(self.x[c].tolist(), [1.0] * n_m), at_least=len(items), at_most=len(items))  # (2)
        self.rows = {row for row in window.counted if len(window.groups(row)) > 1}  # counts of the others are fixed
        self._loads()
        self._utilisation()
        self._affinity()
        self._communication()
        self._moves()
        self._busiest()

    # ---- where, and at which price ---------------------------------------------------------------------------------------------

    def _may_stand(self) -> list[list[bool]]:
        """(class, machine) allowed, and not on an overfull machine unless it is there."""
        window, of = self.window, self.views.of
        allowed = of["allowed"].reshape(-1, self.views.size["machines"])
        charge, limit = (self.views.machine[window.machines, part] for part in (layout.CHARGE, layout.LIMIT))
        full: list[bool] = np.any(charge > limit, axis=1).tolist()
        may = []
        for c, k in enumerate(window.kind):
            only = window.only[c]
            ok = [bool(allowed[of["allow_row"][k], m]) and only in (layout.NOWHERE, m) for m in window.machines]
            may.append([bool(window.placed[c, p] > 0) or (ok[p] and not full[p]) for p in range(len(ok))])
        return may

    def _prices(self) -> list[list[float]]:
        """(class, machine) what GMRP charges for a move, but for the busiest service; less what outsiders pull."""
        window, of = self.window, self.views.of
        n_m, by_machine = self.views.size["machines"], of["move_price"][layout.BY_MACHINE] > 0
        price = []
        for c, (k, home) in enumerate(zip(window.kind, window.home, strict=True)):
            row = [0.0 if home in (layout.NOWHERE, m) else float(of["leaving_cost"][k]) for m in window.machines]
            if by_machine and home != layout.NOWHERE:
                size = float(of["size"][k])
                move_cost = [size * float(of["machine_move_cost"][home * n_m + m]) * (m != home) for m in window.machines]
                row = [cost + more for cost, more in zip(row, move_cost, strict=True)]
            price.append([cost - gain for cost, gain in zip(row, self._local_gain(c), strict=True)])
        return price

    def _local_gain(self, c: int) -> list[float]:
        """(machine,) gain of an item of class c from what stays."""
        window, gain = self.window, [0.0] * len(self.window.machines)
        rows, where = self.views.entries("local_row", window.kind[c])
        for (row,), by in zip(rows.tolist(), self.views.of["local_gain"][where].tolist(), strict=True):
            for group, places in window.groups(row).items():
                stays = self.window.stays(row, group)
                for p in places:
                    gain[p] += by * stays
        return gain

    def count(self, row: int, group: int, places: list[int]) -> LinearExpression:
        """X of a row and a group."""
        columns, amounts = [], []
        for c, by in self.window.counted.get(row, ()):
            columns.extend(self.x[c, places].tolist())
            amounts.extend([float(by)] * len(places))
        return LinearExpression(columns, amounts, float(self.window.stays(row, group)))

    def counts(self, row: int) -> Iterator[tuple[int, list[int], LinearExpression]]:
        """(group, machines of the window in it, X) for every group that the window touches."""
        for group, places in self.window.groups(row).items():
            yield group, places, self.count(row, group, places)

    # ---- costs -----------------------------------------------------------------------------------------------------------------

    def _loads(self) -> None:
        window, of = self.window, self.views.of
        fixed, about = window.fixed_load, self.views.machine[window.machines]
        for r in range(self.views.size["resources"]):
            charged = window.charged(r)
            for p in range(len(window.machines)):
                load = LinearExpression(self.x[:, p].tolist(), window.request[:, r].tolist(), float(fixed[p, r]))
                if of["overload"][r] > 0 and any(load.by):
                    self.draft.excess(
                        load._replace(constant=load.constant - float(about[p, layout.SAFETY, r])), float(of["overload"][r])
                    )  # (4)
                if about[p, layout.LIMIT, r] != layout.NO_LIMIT and charged[:, p].any():
                    other = int(about[p, layout.CHARGE, r]) - int(charged[:, p] @ window.placed[:, p])
                    most = max(int(about[p, layout.LIMIT, r]), int(about[p, layout.CHARGE, r])) - other
                    self.draft.row(LinearExpression(self.x[:, p].tolist(), charged[:, p].tolist()), at_most=most)  # (3)
        self._balance()

    def _balance(self) -> None:
        window, of = self.window, self.views.of
        about, fixed = self.views.machine[window.machines], window.fixed_load
        terms = zip(
            of["pair"].reshape(-1, layout.PAIR_WIDTH).tolist(),
            of["pair_by"].reshape(-1, layout.PAIR_BY_WIDTH).tolist(),
            strict=True,
        )
        for (r1, r2, both), (weight, f1, f2) in terms:
            by = f2 * window.request[:, r2] - f1 * window.request[:, r1]
            for p in range(len(window.machines)):
                c1, c2 = about[p, layout.CAPACITY, [r1, r2]].tolist()
                if not both or (c1 > 0 and c2 > 0):
                    free = f1 * (c1 - int(fixed[p, r1])) - f2 * (c2 - int(fixed[p, r2]))
                    self.draft.excess(LinearExpression(self.x[:, p].tolist(), by.tolist(), free), weight)  # (5)

    def _utilisation(self) -> None:
        """n V = sum over M of (u_m - mean)^2 + sum over the others of the same, which is N mean^2 - 2 S mean + a constant."""
        window, of = self.window, self.views.of
        n_r = self.views.size["resources"]
        slope = of["slope"].reshape(-1, n_r)
        for r in range(n_r):
            has = [p for p, m in enumerate(window.machines) if slope[m, r] > 0]
            n = int((slope[:, r] > 0).sum())
            each = float(of["mean"][r]) * n  # weight / n
            if not each or not has:
                continue
            used = [self._used(p, r, float(slope[window.machines[p], r])) for p in has]
            outside = float(of["utilisation_sum"][r]) - sum(self.draft.at_start(line) for line in used)
            mean = sum_of([line.times(1.0 / n) for line in used], outside / n)
            for line in used:
                self._square(sum_of([line, mean.times(-1.0)]), each)
            others = n - len(has)
            if others:  # N (mean - S / N)^2
                self._square(sum_of([mean], -outside / others), each * others)

    def _used(self, p: int, r: int, slope: float) -> LinearExpression:
        by = (slope * self.window.request[:, r]).tolist()
        return LinearExpression(self.x[:, p].tolist(), by, slope * float(self.window.fixed_load[p, r]))

    def _square(self, line: LinearExpression, cost: float) -> None:
        now = self.draft.at_start(line)
        square = Square(self.draft.column(cost, start=now * now), line)
        self.squares.append(square)
        span = sum(map(abs, line.by)) or 1.0
        for step in TANGENTS.tolist():
            self.touch(square, now + step * min(1.0, span))

    def touch(self, square: Square, at: float) -> None:
        """One more tangent."""
        line = square.line.times(2.0 * at)
        self.draft.row(LinearExpression([*line.column, square.column], [*line.by, -1.0], line.constant), at_most=at * at)  # (8)

    def _affinity(self) -> None:
        window, of = self.window, self.views.of
        edges = {}
        for k in set(window.kind):
            entries, where = self.views.entries("affinity_edge", k)
            for entry, by in zip(
                entries.tolist(), of["affinity_by"].reshape(-1, layout.AFFINITY_BY_WIDTH)[where].tolist(), strict=True
            ):
                edges[entry[0], entry[1]] = by
        for (a, b), (weight, by_a, by_b) in sorted(edges.items()):
            for group, places in window.groups(a).items():
                ends = [self.count(row, group, places).times(by) for row, by in ((a, by_a), (b, by_b))]
                met = self.draft.column(-weight, start=min(map(self.draft.at_start, ends)))
                for end in ends:
                    self.draft.row(
                        LinearExpression([*end.column, met], [*(-by for by in end.by), 1.0], -end.constant), at_most=0.0
                    )  # (6)

    def _communication(self) -> None:
        window = self.window
        for c, d, level, gain in traffic_pairs(window):
            for places in window.groups_of[level].values():
                both = [LinearExpression(self.x[i, places].tolist(), [1.0] * len(places)) for i in (c, d)]
                together = self.draft.column(-gain, upper=1.0, start=min(map(self.draft.at_start, both)))
                for line in both:
                    self.draft.row(
                        LinearExpression([*line.column, together], [*(-by for by in line.by), 1.0]), at_most=0.0
                    )  # (7)

    def _moves(self) -> None:
        """Items of a kind of one are moved if they are not at home; of others those count that a machine lacks."""
        window, of = self.window, self.views.of
        price, most = float(of["move_price"][layout.EACH_MOVE]), int(of["tally"][layout.MAX_MOVES])
        if not price and most == layout.NO_LIMIT:
            return
        surplus = of["surplus"].reshape(-1, self.views.size["machines"])
        moved: list[tuple[int, float]] = []
        for k in sorted(set(window.kind)):
            classes, row = [c for c, kind in enumerate(window.kind) if kind == k], int(of["surplus_row"][k])
            for p, m in enumerate(window.machines):
                now = int(window.placed[classes, p].sum())
                ran = sum(window.home[c] == m for c in classes) if row == layout.NOWHERE else now - int(surplus[row, m])
                if ran > 0:
                    gone = LinearExpression(self.x[classes, p].tolist(), [-1.0] * len(classes), float(ran))
                    moved.append((self.draft.excess(gone, price * float(of["size"][k])), float(of["size"][k])))  # (9)
        if most != layout.NO_LIMIT and moved:
            now_moved = sum(self.draft.start[column] * size for column, size in moved)
            moves_left = max(0, most - int(of["tally"][layout.MOVED])) + now_moved
            self.draft.row(
                LinearExpression([column for column, _ in moved], [size for _, size in moved]), at_most=moves_left
            )  # (16)

    def _busiest(self) -> None:
        window, of = self.window, self.views.of
        price = float(of["move_price"][layout.BUSIEST_MOVE])
        if not price:
            return
        away: dict[int, LinearExpression] = {}
        for c, (k, home) in enumerate(zip(window.kind, window.home, strict=True)):
            if home != layout.NOWHERE:
                places = [p for p, m in enumerate(window.machines) if m != home]
                for s, size in self.views.entries("service", k)[0].tolist():
                    cost = LinearExpression(self.x[c, places].tolist(), [float(size)] * len(places))
                    away[s] = sum_of([away[s], cost]) if s in away else cost
        moved = of["moved_of"].astype(np.float64)
        others = np.delete(moved, list(away)).max(initial=0.0)
        top = self.draft.column(price, start=float(moved.max(initial=0.0)))
        self.draft.row(LinearExpression([top], [1.0]), at_least=float(others))
        for s, line in away.items():
            stays = float(moved[s]) - self.draft.at_start(line)
            self.draft.row(LinearExpression([*line.column, top], [*line.by, -1.0], stays), at_most=0.0)  # (10)


def traffic_pairs(window: Window) -> Iterator[tuple[int, int, int, float]]:
    """(class, class, level, gain) of classes that pull each other, once per pair."""
    views = window.views
    level_of = views.of["row_level"]
    for c, k in enumerate(window.kind):
        rows, where = views.entries("local_row", k)
        gains = list(zip(rows[:, 0].tolist(), views.of["local_gain"][where].tolist(), strict=True))
        gains = [(row, by) for row, by in gains if len(window.groups(row)) > 1]
        for d in range(c + 1, len(window.kind) if gains else 0):
            gain: dict[int, float] = {}
            for row, by in gains:
                if row in views.adds(window.kind[d]):
                    level = int(level_of[row])
                    gain[level] = gain.get(level, 0.0) + by * views.adds(window.kind[d])[row]
            for level, by in gain.items():
                yield c, d, level, by
