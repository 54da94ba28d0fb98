// A card with a bay plan: what its colours mean, a search, buttons to enlarge, a legend, and what is pointed at.
import { button, choice, made } from "./elements.js";
import { BayCanvas } from "./bay_canvas.js";
import { colourings } from "./colouring.js";
import { Tooltip, counted } from "./report.js";

const KEYS = "Arrow keys choose a machine, + and - enlarge, 0 shows all, Escape chooses none.";
const MANY = 60;  // services
const tip = new Tooltip(document.getElementById("tip"));

export class ClusterCard {
  // name: a word that its ids begin with; label: what it shows; on: { select(machine, container), enter(machine) }
  constructor(name, label, on = {}) {
    this.canvas = made("canvas", { id: `${name}-canvas`, class: "bayplan bay", tabindex: "0", role: "img", "aria-label": `${label}. ${KEYS}` });
    this.by = choice(`${name}-by`, [["service", "service"]]);
    this.search = made("input", { type: "search", id: `${name}-search`, placeholder: "name", autocomplete: "off" });
    this.found = made("span", { class: "soft found", role: "status" });
    this.legend = made("div", { class: "bayplan legend" });
    this.bay = new BayCanvas(this.canvas, {
      point: (m, c, event) => m < 0 ? tip.hide() : tip.show(this.words(m, c), event.clientX, event.clientY),
      leave: () => tip.hide(),
      select: on.select, enter: on.enter,
    });
    const zoom = [["+", "Enlarge", () => this.bay.zoom(1.6)], ["–", "Reduce", () => this.bay.zoom(1 / 1.6)], ["All", "Show all", () => this.bay.fit()]];
    this.tools = made("div", { class: "tools" },
      made("label", {}, "Colour by ", this.by), made("label", {}, "Find ", this.search), this.found,
      made("span", { class: "zoom" }, ...zoom.map(([sign, words, act]) => button(sign, act, { title: words, "aria-label": words }))));
    this.element = made("div", { class: "baycard" }, this.tools, this.canvas, this.legend);
    this.by.addEventListener("change", () => { this.chosen = true; this.colour(); });
    this.search.addEventListener("input", () => this.look());
    this.search.addEventListener("keydown", event => { if (event.key === "Enter") this.next(); });
  }

  show(running, options) {
    const { cluster } = running, ways = colourings(cluster), kept = this.by.value;
    this.by.replaceChildren(...ways.map(([value, words]) => made("option", { value }, words)));
    const many = cluster.header.services.length > MANY;  // most of them would have no colour of their own
    this.by.value = this.chosen && ways.some(([value]) => value === kept) ? kept : many ? "utilisation" : "service";
    this.bay.by = this.by.value;
    this.bay.show(running, options);
    this.colour();
    if (this.search.value) this.look(); else this.bay.light(null);
  }

  colour() {
    const legend = this.bay.colour(this.by.value);
    this.legend.replaceChildren(...legend.map(each => this.key(each)));
  }

  key({ colour, words, number, search }) {
    const swatch = colour ? made("i", { class: "swatch", style: `--c: var(--${colour})` }) : "";
    const small = number ? made("small", {}, number.toLocaleString("en")) : "";
    if (!search) return made("span", {}, swatch, words, small);
    const key = button("", () => { this.search.value = this.search.value === search ? "" : search; this.look(); }, { title: "Show only these" });
    key.append(swatch, words, small);
    return key;
  }

  // Light up what has the text in its name: containers, workloads, services, machines.
  look() {
    const part = this.search.value.trim().toLowerCase(), { cluster, running } = this.bay;
    if (!part) { this.bay.light(null); this.found.textContent = ""; this.matches = []; return; }
    const exact = cluster.header.workloads.some(name => name.toLowerCase() === part)
      || cluster.header.services.some(name => name.toLowerCase() === part);
    const fits = name => exact ? name.toLowerCase() === part : name.toLowerCase().includes(part);
    const machines = new Set(cluster.machines.flatMap((name, m) => name.toLowerCase().includes(part) && !exact ? [m] : []));
    const owners = cluster.header.workloads.map((name, w) => fits(name) || fits(cluster.serviceName(w)));
    const number = this.bay.light(c => owners[cluster.workload[c]] || machines.has(running.machine[c])
      || (!exact && cluster.containerName(c).toLowerCase().includes(part)));
    this.matches = machines.size ? [...machines] : [...new Set(Array.from(this.bay.lit, (on, c) => on ? running.machine[c] : -1))].filter(m => m >= 0);
    this.at = -1;
    this.found.textContent = `${counted(number, "container")} on ${counted(this.matches.length, "machine")}`;
  }

  next() {
    if (!this.matches?.length) return;
    this.at = (this.at + 1) % this.matches.length;
    this.bay.choose(this.matches[this.at]);
    this.bay.on.select?.(this.matches[this.at], -1, true);
  }

  words(m, c) {
    const { running, cluster } = this.bay, about = running.machineWords(m);
    if (c < 0) return about;
    return `${containerWords(cluster, c)}\n\n${about}`;
  }
}

export function containerWords(cluster, c) {
  const w = cluster.workload[c], workload = cluster.workloadName(w), service = cluster.serviceName(w);
  const belongs = `workload ${workload}` + (service === workload ? "" : `, service ${service}`);
  return `${cluster.containerName(c)} (${belongs})\n${cluster.requests(c).map(pair => pair.join(" ")).join(", ")}`;
}
