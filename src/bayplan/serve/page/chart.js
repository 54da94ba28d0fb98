// A small line chart, drawn anew whenever a point comes.
import { made } from "./elements.js";
import { svgElement } from "./report.js";

const WIDE = 640, LEFT = 64, RIGHT = 12, TOP = 12, BOTTOM = 26;
const LINES = [["l0", "s0"], ["l1", "s1"], ["l2", "s2"], ["l3", "s3"], ["l4", "s8"], ["l5", "s6"], ["l6", "s7"]];  // class, colour
export const SERIES = LINES.length;  // lines that can be told apart

export class Chart {
  // label: what it shows; across, up: the axes in words; step: values hold until the next one; words: numbers of both axes as text
  constructor({ label, across, up, tall = 190, step = false, words = [number, number], zero = false }) {
    Object.assign(this, { label, across, up, tall, step, words, zero, series: new Map(), now: null, note: "", until: -Infinity });
    this.svg = svgElement("svg", { viewBox: `0 0 ${WIDE} ${tall}`, class: "bayplan chart", role: "img", "aria-label": label });
    this.legend = made("div", { class: "bayplan legend" });
    this.element = made("div", { class: "chartbox" }, this.svg, this.legend);
    this.draw();
  }

  clear() { this.series.clear(); this.until = -Infinity; this.draw(); }

  add(name, x, y) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    if (!this.series.has(name)) this.series.set(name, []);
    this.series.get(name).push([x, y]);
    this.draw();
  }

  // Time has passed, and nothing is better yet.
  extend(x) {
    this.until = x;
    this.draw();
  }

  set(name, points) {
    this.series.set(name, points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)));
    this.draw();
  }

  get range() {
    const points = [...this.series.values()].flat(), xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
    const [x0, x1] = [Math.min(...xs, Infinity), Math.max(...xs, this.until)], low = this.zero ? 0 : Math.min(...ys);
    const high = Math.max(...ys), pad = (high - low || Math.abs(high) || 1) * 0.08;
    return { x0, x1: x1 > x0 ? x1 : x0 + 1, y0: this.zero ? 0 : low - pad, y1: high + pad };
  }

  draw() {
    const { svg, tall, words } = this;
    this.element.hidden = ![...this.series.values()].some(points => points.length);
    if (this.element.hidden) return;
    const { x0, x1, y0, y1 } = this.range, right = WIDE - RIGHT, floor = tall - BOTTOM;
    const px = x => LEFT + (x - x0) / (x1 - x0) * (right - LEFT), py = y => floor - (y - y0) / (y1 - y0 || 1) * (floor - TOP);
    const line = (a, b, c, d, class_) => svgElement("line", { x1: a, y1: b, x2: c, y2: d, class: class_ });
    const text = (x, y, value, class_) => { const made = svgElement("text", { x, y, class: class_ }); made.textContent = value; return made; };
    const parts = [line(LEFT, floor, right, floor, "floor")];
    for (const share of [0, 0.5, 1]) {
      const y = y0 + share * (y1 - y0);
      parts.push(line(LEFT, py(y), right, py(y), "grid"), text(LEFT - 8, py(y) + 4, words[1](y), "soft small end"));
    }
    parts.push(text(LEFT, tall - 8, words[0](x0), "soft small"), text(right, tall - 8, `${words[0](x1)} ${this.across}`, "soft small end"));
    [...this.series].forEach(([, points], k) => {
      const path = points.map(([x, y], n) => n && this.step ? `H${px(x).toFixed(1)}V${py(y).toFixed(1)}` : `${n ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`);
      if (this.step && this.until > points.at(-1)?.[0]) path.push(`H${px(this.until).toFixed(1)}`);
      parts.push(svgElement("path", { d: path.join(""), class: `line ${LINES[k % SERIES][0]}` }));
      if (this.series.size === 1) parts.push(...points.map(([x, y]) => svgElement("circle", { cx: px(x), cy: py(y), r: 3.5, class: "dot" })));
    });
    if (this.now > x0 && this.now < x1) parts.push(line(px(this.now), TOP, px(this.now), floor, "safety"), text(px(this.now) + 5, TOP + 10, "now", "soft small"));
    svg.replaceChildren(...parts);
    const keys = this.series.size > 1 ? [...this.series.keys()] : [this.up];
    const key = (name, k) => made("span", { style: `--c: var(--${LINES[k % SERIES][1]})` }, made("i", { class: "swatch" }), name);
    this.legend.replaceChildren(...keys.map(key), this.note ? made("span", { class: "soft" }, this.note) : "");
  }
}

export function number(value) {
  const size = Math.abs(value);
  return size >= 1000 ? value.toLocaleString("en", { maximumFractionDigits: 0 }) : String(Number(value.toPrecision(size >= 1 ? 4 : 3)));
}
