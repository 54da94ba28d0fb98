// Where machines stand in a bay plan: one row of wide stacks for a few, many rows of thin ones for thousands.
const WIDEST = 84;  // pixels per machine when there are few
const MOST_MACHINES = 8000;  // of more, those with moves and the fullest are shown
const READABLE = 14;  // pixels per machine from which on names are written
const MANY_ROWS = 900;  // pixels of all rows together, about

function shownMachines(cluster, which, before, after) {
  const moving = new Set(cluster.moves.flatMap(move => [move.source, move.target]));
  const tests = {
    all: () => true,
    moves: m => moving.has(m),
    safety: m => before.state[m] > 0 || after.state[m] > 0,
  };
  const order = Array.from(cluster.arrays.order).filter(tests[which]);
  if (order.length <= MOST_MACHINES) return order;
  const rank = m => (moving.has(m) ? 10 : 0) + before.level[m];
  const kept = new Set([...order].sort((a, b) => rank(b) - rank(a)).slice(0, MOST_MACHINES));
  return order.filter(m => kept.has(m));
}

class BayLayout {
  // `top`: the share of a machine that the scale reaches; `names`: pixels of the longest name; `aside`: for what has no machine
  constructor(cluster, machines, width, { top, names, aside }) {
    Object.assign(this, { cluster, machines, width, top, aside });
    const group = cluster.arrays.group, gaps = breaks(machines, group).length;
    const space = width - 40 - aside - 8;
    this.single = (machines.length + gaps) * READABLE <= space;
    if (this.single) {
      this.left = 40;
      this.pitch = Math.min(WIDEST, space / (machines.length + gaps || 1));
      this.perRow = machines.length + gaps;
      this.tall = 260;
      this.slanted = names > this.pitch - 4;
      this.head = 34;
      this.foot = this.slanted ? Math.min(86, 14 + 0.72 * names) : 20;
    } else this.inRows(machines.length + gaps, width);
    this.stack = this.pitch - Math.min(14, Math.max(1, 0.22 * this.pitch));
    this.place(group);
    this.height = this.rows * (this.head + this.tall + this.foot) + 4;
  }

  // Stacks end at the capacity line; what is above reaches into the space over it.
  inRows(slots, width) {
    this.left = 2;
    const space = width - 4, rowsAt = pitch => Math.ceil(slots / Math.floor(space / pitch));
    this.pitch = [12, 10, 8, 7, 6, 5, 4, 3].find(pitch => rowsAt(pitch) * 38 <= MANY_ROWS) ?? 3;
    const rows = rowsAt(this.pitch);
    this.perRow = Math.ceil(slots / rows);
    this.pitch = space / this.perRow;
    this.tall = Math.min(130, Math.max(24, Math.floor(MANY_ROWS / rows) - 12));
    this.slanted = false;
    this.head = Math.max(this.tall > 60 ? 18 : 5, Math.min(0.5, this.top - 1) * this.tall + 4);
    this.foot = 3;
    this.top = 1;
  }

  place(group) {
    const size = this.cluster.machines.length;
    this.x = new Float64Array(size).fill(NaN);  // left edge of the stack
    this.bottom = new Float64Array(size).fill(NaN);
    this.at = new Map();  // row and slot -> machine
    this.spans = [];  // of groups: name, left, right, row
    let slot = 0, last = null;
    for (const m of this.machines) {
      if (last !== null && group[m] !== last) slot += slot % this.perRow ? 1 : 0;
      const row = Math.floor(slot / this.perRow), column = slot % this.perRow;
      this.x[m] = this.left + column * this.pitch + (this.pitch - this.stack) / 2;
      this.bottom[m] = row * (this.head + this.tall + this.foot) + this.head + this.tall;
      this.at.set(slot, m);
      const open = this.spans.at(-1);
      if (group[m] !== last || open.row !== row) this.spans.push({ group: group[m], left: this.x[m], right: 0, row });
      this.spans.at(-1).right = this.x[m] + this.stack;
      last = group[m];
      slot++;
    }
    this.rows = Math.max(1, Math.ceil(slot / this.perRow));
  }

  y(bottom, share) { return bottom - share / this.top * this.tall; }

  machineAt(x, y) {
    const row = Math.floor(y / (this.head + this.tall + this.foot)), column = Math.floor((x - this.left) / this.pitch);
    if (column < 0 || column >= this.perRow || row < 0) return NONE;
    return this.at.get(row * this.perRow + column) ?? NONE;
  }

  // The box of what has no machine: beside the first row, a column as wide as an average machine.
  get asideBox() { return { x: this.width - this.aside + 16, wide: Math.max(8, this.aside - 30), bottom: this.head + this.tall }; }
}

function breaks(machines, group) {
  return machines.filter((m, k) => k && group[m] !== group[machines[k - 1]]);
}
