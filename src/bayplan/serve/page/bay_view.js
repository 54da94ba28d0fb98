// Where machines stand on a canvas, and which part of that is in sight: rows of stacks, moved and enlarged by the person.
const CELL = 5.5;  // a machine is that much higher than it is wide, where there are many
const WIDEST = 96, ROOM = { head: 32, foot: 22 };  // pixels; above and below a stack where names are written
const MOST = 60;  // times enlarged at most, and in any case
const READABLE = 120;  // pixels of a stack can always be reached

export class BayView {
  constructor(cluster) {
    this.cluster = cluster;
    this.scale = 1;
    this.x = this.y = 0;
  }

  // Lay all machines out for a canvas of this size; what is in sight stays, if it can.
  layOut(width, height, top) {
    Object.assign(this, { width, height, top });
    const { order, group } = this.cluster.arrays, slots = [];
    order.forEach((m, k) => {
      if (k && group[m] !== group[order[k - 1]]) slots.push(-1);
      slots.push(m);
    });
    this.columns = columnsFor(slots.length, width, height);
    this.rows = Math.max(1, Math.ceil(slots.length / this.columns));
    this.slots = slots;
    this.slotOf = new Int32Array(this.cluster.machines.length).fill(-1);
    slots.forEach((m, slot) => { if (m >= 0) this.slotOf[m] = slot; });
    this.wide = Math.min(WIDEST, width / this.columns);
    this.left = (width - this.wide * this.columns) / 2;
    this.tall = height / this.rows;
    this.most = Math.max(MOST, READABLE / this.wide);
    this.keep();
  }

  // Nothing can be pushed out of sight.
  keep() {
    this.scale = Math.min(this.most, Math.max(1, this.scale));
    this.x = Math.min(0, Math.max(this.width * (1 - this.scale), this.x));
    this.y = Math.min(0, Math.max(this.height * (1 - this.scale), this.y));
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.scale;
    this.scale = Math.min(this.most, Math.max(1, before * factor));
    this.x = x - (x - this.x) * this.scale / before;
    this.y = y - (y - this.y) * this.scale / before;
    this.keep();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.keep();
  }

  fit() { Object.assign(this, { scale: 1, x: 0, y: 0 }); }

  // Bring a machine into the middle, large enough to read, if it is not in sight.
  reveal(m) {
    const slot = this.slotOf[m];
    if (slot < 0) return;
    const box = this.box(m);
    const seen = box.x >= 0 && box.right <= this.width && box.bottom <= this.height && box.bottom - box.tall >= 0;
    if (seen && box.right - box.x > 5) return;
    this.scale = Math.max(this.scale, Math.min(this.most, 18 / this.wide));
    const column = slot % this.columns, row = Math.floor(slot / this.columns);
    this.x = this.width / 2 - (this.left + (column + 0.5) * this.wide) * this.scale;
    this.y = this.height / 2 - (row + 0.5) * this.tall * this.scale;
    this.keep();
  }

  get cell() { return { wide: this.wide * this.scale, tall: this.tall * this.scale }; }

  // Space above and below a stack: for names, where they can be read; what is over capacity reaches above.
  get space() {
    const { wide, tall } = this.cell, named = wide >= 26 && tall > 110;
    return { head: named ? ROOM.head : Math.min(8, Math.max(2, 0.1 * tall)), foot: named ? ROOM.foot : 0 };
  }

  box(m) {
    const slot = this.slotOf[m], { wide, tall } = this.cell, { head, foot } = this.space;
    const column = slot % this.columns, row = Math.floor(slot / this.columns), gap = Math.min(14, Math.max(wide > 2 ? 1 : 0.3, 0.14 * wide));
    const x = this.x + this.left * this.scale + column * wide;
    const height = (tall - head - foot) / this.top, bottom = this.y + (row + 1) * tall - foot;
    return { x: x + gap / 2, right: x + wide - gap / 2, bottom, tall: height };
  }

  // Visit the machines in sight.
  frames(visit) {
    const { wide, tall } = this.cell, left = this.x + this.left * this.scale;
    const first = Math.max(0, Math.floor(-left / wide)), last = Math.min(this.columns - 1, Math.floor((this.width - left) / wide));
    const up = Math.max(0, Math.floor(-this.y / tall)), down = Math.min(this.rows - 1, Math.floor((this.height - this.y) / tall));
    for (let row = up; row <= down; row++) {
      for (let column = first; column <= last; column++) {
        const m = this.slots[row * this.columns + column];
        if (m === undefined || m < 0) continue;
        const { x, right, bottom, tall: height } = this.box(m);
        visit(m, x, right, bottom, height);
      }
    }
  }

  machineAt(x, y) {
    const { wide, tall } = this.cell;
    const column = Math.floor((x - this.x - this.left * this.scale) / wide), row = Math.floor((y - this.y) / tall);
    if (column < 0 || column >= this.columns || row < 0 || row >= this.rows) return -1;
    return this.slots[row * this.columns + column] ?? -1;
  }

  // The machine beside another: for arrow keys.
  beside(m, dx, dy) {
    const step = dx + dy * this.columns;
    let slot = m < 0 ? -1 : this.slotOf[m];
    if (m < 0) return this.slots.find(each => each >= 0) ?? -1;
    for (slot += step; slot >= 0 && slot < this.slots.length; slot += step || 1) if (this.slots[slot] >= 0) return this.slots[slot];
    return m;
  }
}

function columnsFor(slots, width, height) {
  if (slots * 26 <= width) return Math.max(1, slots);  // one row of stacks with names
  return Math.min(slots, Math.max(1, Math.ceil(Math.sqrt(slots * CELL * width / height))));
}
