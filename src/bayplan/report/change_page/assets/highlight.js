// What is pointed at or selected, everywhere at once: in both bay plans, with an arrow between them, and in a tooltip.
class Selection {
  constructor() { Object.assign(this, { selected: null, pointed: null, listeners: [] }); }

  get shown() { return this.pointed ?? this.selected; }

  select(move) { if (move !== this.selected) { this.selected = move; this.tell(); } }

  point(move) { if (move !== this.pointed) { this.pointed = move; this.tell(); } }

  listen(listener) { this.listeners.push(listener); }

  tell() { for (const listener of this.listeners) listener(); }
}

class Tooltip {
  constructor(element) { this.element = element; }

  show(text, x, y) {
    const { element } = this;
    element.textContent = text;
    element.hidden = false;
    const { width, height } = element.getBoundingClientRect();
    const left = x + 16 + width > innerWidth - 8 ? x - width - 14 : x + 16;
    const top = y + 18 + height > innerHeight - 8 ? y - height - 12 : y + 18;
    element.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }

  hide() { this.element.hidden = true; }
}

const SVG = "http://www.w3.org/2000/svg";

function svgElement(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const BELOW_TITLE = 32;  // pixels: arrows do not cross the titles of the plans

// An outline around the container in both plans, and an arrow from where it ran to where it goes.
class Arrows {
  constructor(layer, before, after) { Object.assign(this, { layer, before, after }); }

  show(move) {
    const { layer } = this;
    for (const old of layer.querySelectorAll(".lit, .arrow")) old.remove();
    if (!move) return;
    const from = this.box(this.before, move, move.source), to = this.box(this.after, move, move.target);
    const still = this.after.running.machine[move.container] === move.target ? null : this.box(this.after, move, move.source);
    for (const [box, side] of [[from, "from"], [to, "to"], [still, "still"]]) {
      if (!box) continue;
      const around = { x: box.x - 2, y: box.y - 2, width: box.wide + 4, height: box.tall + 4, rx: 2 };
      layer.append(svgElement("rect", { ...around, class: `lit ${side}` }));
    }
    if (from && to) layer.append(...this.arrow(from, to));
  }

  arrow(from, to) {
    const x1 = from.x + from.wide / 2, y1 = from.y + from.tall / 2, x2 = to.x + to.wide / 2, y2 = to.y - 4;
    const apart = Math.hypot(x2 - x1, y2 - y1), lift = Math.min(90, 20 + apart * 0.16);
    const turn = { x: x2 - (x2 - x1) * 0.1, y: Math.max(BELOW_TITLE, y2 - lift) }, angle = Math.atan2(y2 - turn.y, x2 - turn.x) * 180 / Math.PI;
    const path = `M${x1} ${y1}C${x1 + (x2 - x1) * 0.25} ${Math.max(BELOW_TITLE, y1 - lift)} ${turn.x} ${turn.y} ${x2} ${y2}`;
    const head = { d: "M0 0L-10 -5L-8 0L-10 5Z", transform: `translate(${x2} ${y2 + 2}) rotate(${angle})`, class: "arrow head" };
    return [svgElement("path", { d: path, class: "arrow" }), svgElement("path", head)];
  }

  box(plan, move, machine) {
    const box = plan.boxOf(move.container, machine);
    if (!box) return null;
    const frame = this.layer.getBoundingClientRect(), canvas = plan.canvas.getBoundingClientRect();
    return { ...box, x: box.x + canvas.left - frame.left, y: box.y + canvas.top - frame.top };
  }
}
