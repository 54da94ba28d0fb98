// What if: machines that are clicked are drained, fail, or are added once more; the list says what was chosen.
import { button, made } from "./elements.js";

const MARKS = { drain: ["drain", "hot"], fail: ["fails", "over"], add: ["+", "ink"] };

export class WhatIfChoice {
  constructor(onChange) {
    Object.assign(this, { onChange, machines: new Map(), cluster: null });  // machine -> ["drain"] | ["fail"] | ["add", how many]
    const radio = ([value, words], k) => made("label", {},
      made("input", { type: "radio", name: "what-if", value, ...(k ? {} : { checked: "checked" }) }), ` ${words}`);
    const ways = [["drain", "drain it"], ["fail", "let it fail"], ["add", "add one like it"]];
    this.ways = made("fieldset", { class: "ways" }, made("legend", {}, "A click on a machine, or Enter, means:"), ...ways.map(radio));
    this.list = made("ul", { class: "chips", "aria-live": "polite" });
    this.element = made("div", { class: "whatif" }, this.ways, this.list);
  }

  show(cluster) {
    this.cluster = cluster;
    this.machines.clear();
    this.draw();
  }

  get way() { return this.ways.querySelector("input:checked").value; }

  click(m) {
    if (m < 0) return;
    const [kind, number = 0] = this.machines.get(m) ?? [];
    if (this.way === "add") this.machines.set(m, ["add", kind === "add" ? number + 1 : 1]);
    else if (kind === this.way) this.machines.delete(m);
    else this.machines.set(m, [this.way]);
    this.draw();
  }

  // As the options of a plan state it; nothing if nothing is changed.
  get options() {
    const names = kind => [...this.machines].filter(([, [each]]) => each === kind).map(([m]) => this.cluster.machines[m]);
    const added = [...this.machines].filter(([, [kind]]) => kind === "add").map(([m, [, number]]) => `${number}:${this.cluster.machines[m]}`);
    const stated = { drain: names("drain"), remove_machines: names("fail"), add_machines: added };
    const used = Object.fromEntries(Object.entries(stated).filter(([, each]) => each.length));
    return Object.keys(used).length ? { what_if: used } : {};
  }

  get marks() {
    return new Map([...this.machines].map(([m, [kind, number]]) => [m, kind === "add" ? [`+${number}`, "ink"] : MARKS[kind]]));
  }

  draw() {
    const words = { drain: "drain ", fail: "without ", add: "" };
    const chips = [...this.machines].map(([m, [kind, number]]) => {
      const text = kind === "add" ? `${number} more like ${this.cluster.machines[m]}` : `${words[kind]}${this.cluster.machines[m]}`;
      return made("li", {}, text, button("×", () => { this.machines.delete(m); this.draw(); }, { "aria-label": `not: ${text}` }));
    });
    this.list.replaceChildren(...chips);
    this.onChange();
  }
}
