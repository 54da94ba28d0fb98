// One bay plan to look around in: drag, wheel and pinch, or arrow keys, + and -; point at a container, select a machine.
import { fitted, percent } from "./report.js";
import { BayPixels, paleOf, pixelReader, stackEdges } from "./bay_pixels.js";
import { BayView } from "./bay_view.js";
import { coloured } from "./colouring.js";

const NAMED = ["paper", "bay", "line", "faint", "hot", "over", "ink", "soft"];
const BLOCK_NAME = { wide: 64, tall: 13 };  // pixels from which on a block has its name

export class BayCanvas {
  // on: { point(machine, container, event), select(machine, container), leave() }
  constructor(canvas, on = {}) {
    Object.assign(this, { canvas, on, cluster: null, running: null, by: "service", lit: null, selected: -1, marks: new Map(), dirty: false });
    this.pixels = new BayPixels();
    this.pointers = new Map();
    this.listen();
    new ResizeObserver(() => { if (canvas.clientWidth) this.resize(); }).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (this.cluster) this.ink(); });
  }

  show(running, { keep = false } = {}) {
    const same = keep && this.view && this.cluster?.machines.length === running.cluster.machines.length;
    Object.assign(this, { running, cluster: running.cluster, edges: stackEdges(running) });
    if (same) this.view.cluster = running.cluster; else { this.view = new BayView(running.cluster); this.selected = -1; }
    this.colour(this.by);
    this.resize();
  }

  colour(by) {
    this.by = by;
    this.colouring = coloured(this.running, by);
    this.ink();
    return this.colouring.legend;
  }

  // Read the colours of the style sheet: they differ in light and dark.
  ink() {
    const style = getComputedStyle(this.canvas), read = name => style.getPropertyValue(`--${name}`).trim(), pixel = pixelReader();
    this.css = { ...Object.fromEntries(NAMED.map(name => [name, read(name)])), font: style.fontFamily };
    this.inks = Object.fromEntries(NAMED.map(name => [name, pixel(this.css[name])]));
    this.inks.colours = Uint32Array.from(this.colouring.names, name => pixel(read(name)));
    this.inks.pale = Uint32Array.from(this.inks.colours, each => paleOf(each, this.inks.bay));
    this.redraw();
  }

  resize() {
    if (!this.running) return;
    const { canvas } = this, ratio = Math.min(2, window.devicePixelRatio || 1);
    this.ratio = ratio;
    canvas.width = Math.round(canvas.clientWidth * ratio) || 600;
    canvas.height = Math.round(canvas.clientHeight * ratio) || 400;
    this.pixels.sized(canvas.width, canvas.height);
    this.view.layOut(canvas.width / ratio, canvas.height / ratio, Math.max(1, this.running.highest));
    this.redraw();
  }

  // Only containers that pass are in full colour; null: all are.
  light(test) {
    this.lit = test ? Uint8Array.from({ length: this.cluster.workload.length }, (_, c) => test(c) ? 1 : 0) : null;
    this.redraw();
    return this.lit ? this.lit.reduce((sum, each) => sum + each, 0) : this.cluster.workload.length;
  }

  mark(marks) {  // machine -> [letter, colour's name]
    this.marks = marks;
    this.redraw();
  }

  choose(m, { reveal = true } = {}) {
    this.selected = m;
    if (m >= 0 && reveal) this.view.reveal(m);
    this.redraw();
  }

  redraw() {
    if (this.dirty || !this.view) return;
    this.dirty = true;
    requestAnimationFrame(() => { this.dirty = false; this.draw(); });
  }

  draw() {
    const { canvas, view, ratio, running } = this, pen = canvas.getContext("2d");
    if (!running || !view.slots) return;
    const what = { running, top: this.edges, colour: this.colouring.of, lit: this.lit };
    const image = this.pixels.draw(what, this.inks, visit => {
      view.frames((m, x, right, bottom, tall) => visit(m, x * ratio, right * ratio, bottom * ratio, tall * ratio));
    });
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.putImageData(image, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.words(pen);
    for (const [m, [letter, colour]] of this.marks) this.outline(pen, m, this.css[colour] ?? this.css.ink, letter);
    if (this.selected >= 0) this.outline(pen, this.selected, this.css.ink, "");
    canvas.style.touchAction = view.scale > 1 ? "none" : "pan-y";  // a finger scrolls the page while all is in sight
  }

  // Names of machines and blocks, and how full a machine is, where there is space for them.
  words(pen) {
    const { view, css, running, cluster } = this, { foot } = view.space;
    if (!foot) return;
    pen.font = `11px ${css.font}`;
    let group = -1;
    view.frames((m, x, right, bottom, tall) => {
      if (cluster.header.groups.length > 1 && cluster.arrays.group[m] !== group) {
        group = cluster.arrays.group[m];
        pen.textAlign = "left";
        pen.fillStyle = css.soft;
        pen.fillText(cluster.header.groups[group], x, bottom - tall * view.top - 17);
      }
      const wide = right - x, middle = x + wide / 2, state = running.state[m];
      pen.textAlign = "center";
      pen.fillStyle = css.ink;
      pen.fillText(fitted(pen, wide > 70 ? cluster.machines[m] : cluster.shortName(m), wide + 8), middle, bottom + 14);
      pen.fillStyle = [css.soft, css.hot, css.over][state];
      const full = running.endless[m] ? "over" : wide < 34 ? percent(running.level[m]).slice(0, -2) : percent(running.level[m]);
      pen.fillText(fitted(pen, (state ? "▲ " : "") + full, wide + 10), middle, bottom - Math.max(1, running.level[m]) * tall - 6);
      if (wide >= BLOCK_NAME.wide) this.blockNames(pen, m, { x, wide, bottom, tall });
    });
  }

  blockNames(pen, m, { x, wide, bottom, tall }) {
    pen.textAlign = "left";
    pen.fillStyle = "#10151c";
    this.running.blocks(m, (c, base, height) => {
      const y = bottom - (base + height / 2) * tall;
      if (height * tall < BLOCK_NAME.tall || y < 0 || y > this.view.height || (this.lit && !this.lit[c])) return;
      pen.fillText(fitted(pen, this.cluster.containerName(c), wide - 8), x + 4, y + 4);
    });
  }

  outline(pen, m, colour, letter) {
    const { x, right, bottom, tall } = this.view.box(m);
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.strokeRect(x - 2, bottom - tall * this.view.top - 2, right - x + 4, tall * this.view.top + 4);
    if (!letter) return;
    pen.font = `600 12px ${this.css.font}`;
    pen.textAlign = "center";
    const wide = pen.measureText(letter).width + 8, middle = (x + right) / 2, y = bottom - tall / 2;
    pen.fillStyle = colour;
    pen.fillRect(middle - wide / 2, y - 10, wide, 17);
    pen.fillStyle = this.css.paper;
    pen.fillText(letter, middle, y + 3);
  }

  // What is at a place of the canvas.
  at(x, y) {
    const m = this.view.machineAt(x, y);
    if (m < 0) return [-1, -1];
    const { bottom, tall } = this.view.box(m), { start, item } = this.running, share = (bottom - y) / tall;
    for (let k = start[m]; k < start[m + 1]; k++) if (share >= 0 && share <= this.edges[k]) return [m, item[k]];
    return [m, -1];
  }

  listen() {
    const { canvas, pointers } = this;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      this.view?.zoom(Math.exp(-event.deltaY * 0.0018), event.offsetX, event.offsetY);
      this.redraw();
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => this.move(event));
    const up = event => {
      if (pointers.delete(event.pointerId) && !pointers.size && this.moved < 5 && event.type === "pointerup" && this.view) {
        const [m, c] = this.at(event.offsetX, event.offsetY);
        this.choose(m, { reveal: false });
        this.on.select?.(m, c);
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.on.leave?.());
    canvas.addEventListener("keydown", event => this.key(event));
  }

  move(event) {
    const { pointers } = this, last = pointers.get(event.pointerId);
    if (!this.view) return;
    if (!last) {
      const [m, c] = this.at(event.offsetX, event.offsetY);
      this.on.point?.(m, c, event);
      return;
    }
    const here = [event.offsetX, event.offsetY], others = [...pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) {  // two fingers: apart is nearer
      const [other] = others[0].slice(1), apart = point => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.view.zoom(apart(here) / Math.max(1, apart(last)), other[0], other[1]);
    } else this.view.pan(here[0] - last[0], here[1] - last[1]);
    this.moved += Math.hypot(here[0] - last[0], here[1] - last[1]);
    pointers.set(event.pointerId, here);
    if (this.moved >= 5) this.on.leave?.();
    this.redraw();
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in steps) {
      event.preventDefault();
      this.choose(this.view.beside(this.selected, ...steps[event.key]));
      this.on.select?.(this.selected, -1, true);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") { this.choose(-1); this.on.select?.(-1, -1, true); }
    else if (event.key === "Enter" && this.selected >= 0) this.on.enter?.(this.selected);
  }

  zoom(factor) { this.view.zoom(factor); this.redraw(); }

  fit() { this.view.fit(); this.redraw(); }
}
