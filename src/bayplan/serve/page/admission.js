// Admission: prices over time, accepted and refused requests with their reasons, and a form to offer one.
import { busy, button, choice, field, made, say, table, tiles } from "./elements.js";
import { read, send } from "./service.js";
import { Chart, SERIES, number } from "./chart.js";
import { counted, percent } from "./report.js";

const EVERY = 2000;  // milliseconds between two looks
const SHOWN = 25;  // verdicts
const USUAL = 0.03;  // of a zone: what the form begins with for each container
const EXAMPLE = {
  name: "shop", method: "learned", resources: { cpu: { scale: 1000 }, memory: { unit: "bytes" } },
  zones: ["east", "west", "north"].map(name => ({ name, capacity: { cpu: 64, memory: "256Gi" } })),
  links: ["east", "west", "north"].flatMap((a, _, all) => all.filter(b => b !== a).map(b => [a, b, 100])),
};

export class AdmissionPanel {
  constructor(root, page) {
    Object.assign(this, { root, page, timer: 0, name: "" });
    this.select = choice("admission-name", [["", "none yet"]]);
    this.select.addEventListener("change", () => { this.name = this.select.value; this.prices.clear(); this.look(); });
    this.create = button("Create one", () => busy(this.create, () => this.make()), { id: "admission-create", class: "writes" });
    this.lead = made("p", { class: "lead" }, "Requests that arrive are accepted and placed, or refused, at once; every verdict is kept before it is answered.");
    this.numbers = made("div");
    this.resource = choice("admission-resource", [["0", ""]]);
    this.resource.addEventListener("change", () => this.look());
    this.prices = new Chart({ label: "Price of one unit in each zone over time", across: "time", up: "price", step: true, zero: true, tall: 260, words: [number, number] });
    this.use = made("div", { class: "uses" });
    this.verdict = made("div", { id: "verdict", role: "status" });
    this.log = made("div");
    this.none = made("div", { class: "card" }, made("h2", {}, "No admission yet"),
      made("p", { class: "soft" }, "One is made of zones with capacities and links between them. Create one makes an example of three zones; POST /v1/admissions takes any."));
    this.body = made("div", {}, this.numbers, made("div", { class: "split" },
      made("div", { class: "side" },
        made("div", { class: "card" }, made("div", { class: "row" }, made("h2", {}, "Prices over time"), field("of", this.resource)), this.prices.element),
        made("div", { class: "card" }, made("h2", {}, "Verdicts"), this.log)),
      made("aside", { class: "side", "aria-label": "Offer a request" }, this.form(), made("div", { class: "card" }, made("h2", {}, "In use now"), this.use))));
    root.append(made("header", {}, made("h1", { id: "admission-title" }, "Admission"), made("label", {}, "Show ", this.select), this.create, this.lead), this.none, this.body);
  }

  form() {
    const input = (id, type, value, more = {}) => made("input", { id: `offer-${id}`, type, value, required: "required", ...more });
    this.fields = {
      name: input("name", "text", "web-1"), members: input("members", "number", "3", { min: "1", max: "50" }),
      value: input("value", "number", "60", { min: "0", step: "any" }), hours: input("hours", "number", "8", { min: "0.1", step: "any" }),
      traffic: input("traffic", "number", "2", { min: "0", step: "any" }),
    };
    this.amounts = made("div", { class: "row amounts" });
    this.offer = made("button", { class: "main", id: "offer-send" }, "Offer");
    const { name, members, value, hours, traffic } = this.fields;
    const form = made("form", { class: "card offer writes" }, made("h2", {}, "Offer a request"),
      made("div", { class: "row" }, field("Name", name), field("Containers", members), field("Value", value), field("Runs for", hours), field("Traffic between each two", traffic)),
      this.amounts, made("div", { class: "row" }, this.offer, button("An hour passes", () => this.advance(), { id: "offer-advance" })), this.verdict);
    form.addEventListener("submit", event => { event.preventDefault(); busy(this.offer, () => this.sendOffer()); });
    return form;
  }

  show() {}

  opened() {
    this.closed();
    this.list();
    this.timer = setInterval(() => { if (!document.hidden && this.name) this.look(); }, EVERY);
  }

  closed() { clearInterval(this.timer); }

  async list(chosen = this.name) {
    try {
      const { admissions } = await read("v1/admissions");
      const options = admissions.map(({ name, method, zones }) => made("option", { value: name }, `${name} (${counted(zones, "zone")}, ${method})`));
      this.select.replaceChildren(...(options.length ? options : [made("option", { value: "" }, "none yet")]));
      this.name = admissions.some(each => each.name === chosen) ? chosen : admissions[0]?.name ?? "";
      this.select.value = this.name;
      this.create.hidden = admissions.some(each => each.name === EXAMPLE.name);
      this.none.hidden = Boolean(this.name);
      this.body.hidden = !this.name;
      if (this.name) await this.look();
    } catch (fault) { say(fault.message, true); }
  }

  async make() {
    await send("v1/admissions", EXAMPLE);
    this.prices.clear();
    await this.list(EXAMPLE.name);
  }

  get path() { return `v1/admissions/${encodeURIComponent(this.name)}`; }

  async look() {
    const { path, name } = this;
    if (this.looking === name) return;
    this.looking = name;
    try {
      const [about, history, used] = await Promise.all([read(path), read(`${path}/history?limit=${SHOWN}`), read(`${path}/utilisation`)]);
      if (name === this.name) this.draw(about, history, used);
    } catch (fault) { say(fault.message, true); } finally { if (this.looking === name) this.looking = null; }
  }

  draw(about, history, used) {
    this.about = about;
    const refused = about.offers - about.accepted;
    this.numbers.replaceChildren(tiles([
      ["offers", about.offers.toLocaleString("en"), `${counted(about.changes, "change")} in the log`],
      ["accepted", about.accepted.toLocaleString("en"), about.offers ? percent(about.accepted / about.offers) : "none yet"],
      ["refused", refused.toLocaleString("en"), about.offers ? percent(refused / about.offers) : "none yet"],
      ["value accepted", number(about.value), "of all that was offered and taken"],
      ["running", about.running.toLocaleString("en"), "requests"],
      ["time", about.now === null ? "–" : number(about.now), about.decides_here ? "this server decides" : "another server decides"],
    ]));
    this.drawResources(about);
    this.drawPrices(history);
    this.drawUse(used);
    this.log.replaceChildren(this.verdicts(history.entries));
  }

  drawResources({ resources, name, document, accepted, value }) {
    if (this.drawnFor === name) return;
    this.drawnFor = name;
    if (accepted) this.fields.value.value = Math.round(value / accepted);  // what others are worth
    this.resource.replaceChildren(...resources.map((resource, k) => made("option", { value: k }, resource)));
    const has = document.zones[0].capacity, usual = resource => typeof has[resource] === "number" ? Math.max(1, Math.round(has[resource] * USUAL)) : "4Gi";
    this.amounts.replaceChildren(...resources.map(resource => field(`${resource} of each`,
      made("input", { type: "text", value: usual(resource), "data-resource": resource, size: "8", required: "required" }))));
  }

  drawPrices({ zones, start, price, now }) {
    const r = Number(this.resource.value) || 0;
    this.prices.now = now;
    this.prices.note = zones.length > SERIES ? `the first ${SERIES} of ${counted(zones.length, "zone")}` : "";
    zones.slice(0, SERIES).forEach((zone, z) => this.prices.set(zone, start.map((at, k) => [at, price.zone[k][z][r]])));
  }

  drawUse({ zones }) {
    const rows = Object.entries(zones).flatMap(([zone, shares]) => Object.entries(shares).map(([resource, share]) => made("div", { class: "use" },
      made("span", {}, `${zone} ${resource}`), made("meter", { min: "0", max: "1", high: "0.85", value: share, "aria-label": `${zone} ${resource}` }), made("span", { class: "n" }, percent(share)))));
    this.use.replaceChildren(...rows);
  }

  verdicts(entries) {
    const rows = entries.filter(each => each.kind === "offer").map(({ given, outcome }) => [
      outcome.name ?? given.name, verdictBadge(outcome.accepted), number(outcome.value ?? given.value ?? 0), outcome.cost == null ? "–" : number(outcome.cost),
      outcome.zones ? placed(outcome.zones) : "–", outcome.why ?? ""]);
    if (!rows.length) return made("p", { class: "soft" }, "None yet: offer a request.");
    return table([["request"], ["verdict"], ["value", true], ["cost", true], ["zones"], ["why"]], rows, "Verdicts, the newest first");
  }

  async sendOffer() {
    const { name, members, value, hours, traffic } = this.fields, count = Number(members.value);
    const start = ((await read(this.path)).now ?? 0) + 1;  // in the next slot: others may arrive in the meantime
    const each = [...this.amounts.querySelectorAll("input")].map(input => [input.dataset.resource, Array(count).fill(input.value.trim())]);
    const between = Array.from({ length: count }, (_, a) => Array.from({ length: count }, (_, b) => a === b ? 0 : Number(traffic.value)));
    const offer = {
      name: name.value.trim(), members: Array.from({ length: count }, (_, k) => `c${k}`), demand: Object.fromEntries(each),
      start, end: start + Number(hours.value), value: Number(value.value), ...(Number(traffic.value) ? { traffic: between } : {}),
    };
    const verdict = await send(`${this.path}/offers`, offer);
    this.verdict.replaceChildren(made("p", {}, verdictBadge(verdict.accepted), ` ${verdict.name}: ${verdict.why}`),
      verdict.zones ? made("p", { class: "soft" }, placed(verdict.zones)) : "");
    name.value = name.value.replace(/\d*$/, digits => String(Number(digits || 0) + 1));
    await this.look();
  }

  async advance() {
    await send(`${this.path}/advance`, { time: (this.about.now ?? 0) + 1 });
    await this.look();
  }
}

function verdictBadge(accepted) {
  return made("span", { class: `badge ${accepted ? "good" : "bad"}` }, accepted ? "accepted" : "refused");
}

function placed(zones) {  // east 2, west 1
  const count = new Map();
  for (const zone of Object.values(zones)) count.set(zone, (count.get(zone) ?? 0) + 1);
  return [...count].map(([zone, times]) => `${zone} ${times}`).join(", ");
}
