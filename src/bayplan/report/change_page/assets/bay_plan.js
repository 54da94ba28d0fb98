// One bay plan on a canvas: each machine a stack, each container a block, only those that the plan moves in colour.
const COLOUR_NAMES = ["paper", "ink", "soft", "faint", "bay", "line", "hot", "over", "stays", "other"];

function coloursIn(element) {
  const style = getComputedStyle(element), read = name => style.getPropertyValue(`--${name}`).trim();
  const named = Object.fromEntries(COLOUR_NAMES.map(name => [name, read(name)]));
  const own = Array.from({ length: OWN_COLOURS }, (_, k) => read(`s${k}`));
  return { ...named, workload: [...own, named.other], font: style.fontFamily };
}

class BayPlan {
  constructor(canvas, cluster) {
    Object.assign(this, { canvas, cluster, running: null, layout: null });
  }

  show(running, layout, colours) {
    Object.assign(this, { running, layout, colours });
    const ratio = Math.min(2, window.devicePixelRatio || 1), { canvas } = this;
    canvas.width = Math.round(layout.width * ratio);
    canvas.height = Math.round(layout.height * ratio);
    canvas.style.height = `${layout.height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, layout.width, layout.height);
    this.scale(pen);
    for (const m of layout.machines) this.machine(pen, m);
    if (layout.single) this.names(pen);
    if (layout.aside) this.unplaced(pen);
  }

  get words() {
    const { state, unplaced } = this.running, over = least => state.reduce((sum, value) => sum + (value >= least), 0);
    const full = over(2) ? `, ${over(2).toLocaleString("en")} of them over capacity` : "";
    const out = unplaced.length ? `; ${counted(unplaced.length, "container")} without a machine` : "";
    return `${counted(over(1), "machine")} above safety capacity${full}${out}`;
  }

  // Lines at 0, 50 and 100 % where there is one row, group names.
  scale(pen) {
    const { layout, colours, cluster } = this;
    pen.font = `11px ${colours.font}`;
    if (layout.single) {
      const bottom = layout.head + layout.tall, right = layout.width - layout.aside - 6;
      for (const share of [0, 0.5, 1]) {
        const y = layout.y(bottom, share);
        pen.strokeStyle = colours.faint;
        if (share < 1) line(pen, layout.left, y, right, y);
        words(pen, percent(share), layout.left - 6, y + 4, colours.soft, "right");
      }
    }
    if (cluster.header.groups.length > 1 && layout.head >= 18) {
      let last = null;
      for (const { group, left, right, row } of layout.spans) {
        const top = row * (layout.head + layout.tall + layout.foot), name = cluster.header.groups[group];
        if (group !== last) words(pen, fitted(pen, name, right - left + 6), left, top + 11, colours.soft, "left");
        last = group;
      }
    }
  }

  machine(pen, m) {
    const { layout, running, colours } = this, x = layout.x[m], bottom = layout.bottom[m];
    drawStack(pen, running, m, this.frame(m), colours);
    if (!layout.single || layout.pitch < 24) return;
    const state = running.state[m], share = running.endless[m] ? "over" : percent(running.level[m]);
    const text = (state ? "▲" : "") + (layout.pitch < 44 ? share.replace("\u00a0%", "") : share);
    pen.font = `${state ? "600 " : ""}11px ${colours.font}`;
    let top = Math.min(layout.y(bottom, running.level[m]), state ? layout.y(bottom, 1) : Infinity);
    boxes(running, m, this.frame(m), (c, box) => { top = Math.min(top, box.bottom - box.tall); });
    pen.strokeStyle = colours.bay;
    pen.lineWidth = 3;
    pen.textAlign = "center";
    pen.strokeText(text, x + layout.stack / 2, top - 5);
    pen.lineWidth = 1;
    words(pen, text, x + layout.stack / 2, top - 5, [colours.soft, colours.hot, colours.over][state], "center");
  }

  names(pen) {
    const { layout, cluster, colours } = this;
    pen.font = `11px ${colours.font}`;
    let free = -Infinity;
    for (const m of layout.machines) {
      const x = layout.x[m] + layout.stack / 2, y = layout.bottom[m] + 14;
      if (!layout.slanted) {
        words(pen, cluster.shortName(m), x, y, colours.ink, "center");
      } else if (x >= free) {
        pen.save();
        pen.translate(x + 3, y - 2);
        pen.rotate(-Math.PI / 4);
        words(pen, fitted(pen, cluster.shortName(m), 100), 0, 0, colours.ink, "right");
        pen.restore();
        free = x + 13;
      }
    }
  }

  // Containers without a machine, as shares of an average machine; what does not fit is counted.
  unplaced(pen) {
    const { layout, running, colours } = this, box = layout.asideBox, tall = layout.tall / layout.top;
    pen.strokeStyle = colours.soft;
    pen.setLineDash([3, 3]);
    pen.strokeRect(box.x + 0.5, box.bottom - tall + 0.5, box.wide - 1, tall - 1);
    pen.setLineDash([]);
    this.unplacedBlocks((c, base, height) => {
      block(pen, { x: box.x, wide: box.wide, bottom: box.bottom - base * tall, tall: height * tall }, this.colourOf(c), colours);
    });
    pen.font = `11px ${colours.font}`;
    words(pen, "no machine", box.x + box.wide / 2, box.bottom + 14, colours.soft, "center");
    words(pen, running.unplaced.length.toLocaleString("en"), box.x + box.wide / 2, box.bottom - tall - 5, colours.soft, "center");
  }

  unplacedBlocks(visit) {
    let base = 0;
    for (const c of this.running.unplaced) {
      const height = this.averageShare(c);
      if (base + height > 1) return;
      if (visit(c, base, height) === false) return;
      base += height;
    }
  }

  averageShare(c) {
    const { cluster } = this, { capacity } = cluster.arrays;
    this.average ??= cluster.resources.map((_, r) => {
      const has = cluster.machines.map((_, m) => capacity[m * cluster.kinds + r]).filter(amount => amount > 0);
      return has.reduce((a, b) => a + b, 0) / (has.length || 1);
    });
    return Math.max(0.02, ...this.average.map((mean, r) => mean ? cluster.request(c, r) / mean : 0));
  }

  colourOf(c) {
    const { cluster, colours } = this;
    return cluster.moveOf[c] === NONE ? null : colours.workload[cluster.colour.index.get(cluster.workload[c])];
  }

  // The box of a container in pixels of the canvas; its place on machine m if it is not there, null if that is not shown.
  boxOf(c, m) {
    const { layout, running } = this;
    let found = null;
    if (m === NONE) {
      if (!layout.aside) return null;
      const box = layout.asideBox, tall = layout.tall / layout.top;
      this.unplacedBlocks((other, base, height) => {
        if (other === c) found = { x: box.x, y: box.bottom - (base + height) * tall, wide: box.wide, tall: height * tall };
      });
      return found ?? { x: box.x, y: box.bottom - tall, wide: box.wide, tall: 2 };
    }
    if (!(layout.x[m] >= 0)) return null;
    boxes(running, m, this.frame(m), (other, box) => {
      if (other === c) found = { x: box.x, y: box.bottom - box.tall, wide: box.wide, tall: Math.max(1.5, box.tall) };
    });
    return found ?? { x: layout.x[m], y: layout.y(layout.bottom[m], running.level[m]) - 2, wide: layout.stack, tall: 2 };
  }

  frame(m) {
    const { layout } = this;
    return { x: layout.x[m], bottom: layout.bottom[m], wide: layout.stack, tall: layout.tall / layout.top };
  }

  // What is at a place: a machine, and a container of it.
  at(x, y) {
    const { layout, running } = this, m = layout.machineAt(x, y);
    if (m === NONE) return { machine: NONE, container: NONE };
    const reach = layout.single ? 0 : 2;  // pixels: thin blocks can be pointed at, too
    let container = NONE;
    boxes(running, m, this.frame(m), (c, box) => {
      if (y <= box.bottom + reach && y >= box.bottom - box.tall - reach) container = c;
    });
    return { machine: m, container };
  }
}

const THIN = 2.5, HAIRLINE = 2, WIDE_ENOUGH = 6;  // pixels

// Visit the blocks of a machine in pixels, from the bottom up. What moves but needs (almost) nothing of the machine's fullest
// resource is a hairline on top: each at a place of its own where there is space.
function boxes(running, m, { x, bottom, wide, tall }, visit) {
  let lift = 0;
  running.blocks(m, (c, base, height) => {
    const moves = running.cluster.moveOf[c] !== NONE && wide > WIDE_ENOUGH, box = { x, wide, bottom: bottom - base * tall - lift };
    const drawn = moves ? Math.max(HAIRLINE + 1, height * tall) : height * tall;
    visit(c, { ...box, tall: drawn });
    lift += drawn - height * tall;
  });
}

// One machine: its bay up to the capacity, its blocks, what is over capacity, a mark at the safety capacity.
function drawStack(pen, running, m, { x, bottom, wide, tall }, colours) {
  const { cluster } = running;
  pen.fillStyle = colours.bay;
  pen.fillRect(x, bottom - tall, wide, tall);
  let thin = null;  // blocks that stay and are too thin to be told apart, drawn as one
  const flush = () => { if (thin) block(pen, thin, null, colours); thin = null; };
  boxes(running, m, { x, bottom, wide, tall }, (c, box) => {
    const move = cluster.moveOf[c];
    if (move === NONE && box.tall < THIN) {
      thin = { ...box, bottom: thin?.bottom ?? box.bottom, tall: (thin?.tall ?? 0) + box.tall };
      return;
    }
    flush();
    const fill = move === NONE ? null : colours.workload[cluster.colour.index.get(cluster.workload[c])];
    block(pen, box, fill, colours, running.second[c] !== NONE);
  });
  flush();
  if (running.level[m] > 1) {
    const top = bottom - running.level[m] * tall;
    pen.strokeStyle = colours.over;
    pen.lineWidth = wide > WIDE_ENOUGH ? 2 : 1;
    pen.strokeRect(x + 0.5, top + 0.5, wide - 1, bottom - tall - top);
    pen.lineWidth = 1;
  }
  if (running.margin[m] < 1) {
    pen.fillStyle = colours.hot;
    pen.fillRect(x - 1, bottom - running.margin[m] * tall - 0.5, wide + 2, wide > WIDE_ENOUGH ? 1.5 : 1);
  }
  pen.fillStyle = colours.line;
  pen.fillRect(x - 1, bottom - tall - 0.5, wide + 2, wide > WIDE_ENOUGH ? 1.25 : 0.75);
}

function block(pen, { x, wide, bottom, tall }, fill, colours, twice = false) {
  const gap = tall >= 4 ? 1 : tall >= 2.5 ? 0.5 : 0, drawn = Math.max(fill ? 1 : 0.25, tall - gap);
  pen.globalAlpha = twice ? 0.45 : 1;
  pen.fillStyle = fill ?? colours.stays;
  pen.fillRect(x, bottom - drawn, wide, drawn);
  pen.globalAlpha = 1;
  if (twice && drawn > 3) {
    pen.strokeStyle = fill ?? colours.ink;
    pen.setLineDash([3, 2]);
    pen.strokeRect(x + 0.5, bottom - drawn + 0.5, wide - 1, drawn - 1);
    pen.setLineDash([]);
  }
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function words(pen, text, x, y, colour, align) {
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

function fitted(pen, text, wide) {
  if (pen.measureText(text).width <= wide) return text;
  let keep = text.length;
  const cut = () => `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
  while (keep > 1 && pen.measureText(cut()).width > wide) keep--;
  return keep > 1 ? cut() : "";
}
