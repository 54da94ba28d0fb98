// The page: five jobs, one snapshot that they are about, and the address that says which is open.
import { busy, made, say } from "./elements.js";
import { read, send, upload } from "./service.js";
import { clusterOf } from "./columns.js";
import { Overview } from "./overview.js";
import { PlanPanel } from "./plan.js";
import { RunPanel } from "./run.js";
import { AdmissionPanel } from "./admission.js";
import { CapacityPanel } from "./capacity.js";

const PANELS = { overview: Overview, plan: PlanPanel, run: RunPanel, admission: AdmissionPanel, capacity: CapacityPanel };
const LOOP = "loop";  // what the loop sees now: it becomes a snapshot when it is chosen
const TITLES = { overview: "Overview", plan: "Plan", run: "Run", admission: "Admission", capacity: "Capacity" };

class Page {
  constructor() {
    this.find = id => document.getElementById(id);
    this.snapshot = null;  // { id, name, cluster, running }
    this.panels = Object.fromEntries(Object.entries(PANELS).map(([name, Panel]) => [name, new Panel(this.find(name), this)]));
    this.find("snapshot").addEventListener("change", event => this.choose(event.target.value));
    this.find("upload").addEventListener("change", event => this.upload(event.target));
    this.find("sign-out").addEventListener("click", event => this.signOut(event.target));
    this.find("sign-in").addEventListener("submit", event => this.signIn(event));
    addEventListener("hashchange", () => this.open());
  }

  async start() {
    const session = await read("v1/session");
    this.find("sign-in").hidden = Boolean(session.role) || !session.needs_token;
    this.operator = session.role === "operator";
    document.body.classList.toggle("reader", !this.operator);
    this.find("sign-out").hidden = !session.role || !session.needs_token;
    if (!this.find("sign-in").hidden) return;
    await this.list();
    this.open();
  }

  async signIn(event) {
    event.preventDefault();
    await busy(event.submitter, async () => {
      await send("v1/session", { token: this.find("token").value });
      this.find("token").value = "";
      await this.start();
    });
  }

  async signOut(control) {
    await busy(control, () => send("v1/session", undefined, "DELETE"));
    location.reload();
  }

  // The snapshots that the service has; the newest is chosen, if none is yet.
  async list(chosen = "") {
    const { snapshots } = await read("v1/snapshots"), select = this.find("snapshot");
    const about = each => `${each.name || each.id.slice(7, 15)} (${each.machines.toLocaleString("en")} machines)`;
    const options = snapshots.filter(each => each.machines).map(each => made("option", { value: each.id }, about(each)));
    const loop = this.operator ? await read("v1/loop") : {};
    const live = loop.observed ? [made("option", { value: LOOP }, "what the loop sees now")] : [];
    select.replaceChildren(...(options.length ? options : [made("option", { value: "" }, "none yet: upload one")]), ...live);
    this.snapshots = snapshots;
    const wanted = chosen || this.snapshot?.id || options[0]?.value || "";
    select.value = wanted;
    await this.choose(wanted);
  }

  // A panel that asks a question about the snapshot waits for `chosen` first: the snapshot may still be on its way.
  choose(id) {
    this.chosen = this.load(id);
    return this.chosen;
  }

  async load(id) {
    if (!id) { this.tell(); return; }
    if (id === LOOP) { await this.chooseLoop(); return; }
    try {
      const columns = await read(`v1/snapshots/${id}/bayplan`), cluster = clusterOf(columns);
      this.snapshot = { id, name: cluster.name, cluster, running: cluster.after(0) };
      this.tell();
    } catch (fault) { say(fault.message, true); }
  }

  // The cluster as the loop saw it last becomes a snapshot like any other, so what is planned on it does not change under a person.
  async chooseLoop() {
    try { await this.list((await send("v1/loop/snapshot")).id); } catch (fault) { say(fault.message, true); }
  }

  async upload(input) {
    const [file] = input.files;
    if (!file) return;
    say(`reading ${file.name} …`);
    await busy(input, async () => {
      const { id, machines } = await upload(file);
      say(machines ? `${file.name} is read` : `${file.name} is read: it holds requests, not a cluster (see Capacity)`);
      await this.list(machines ? id : "");
      this.panels.capacity.listed?.();
    });
    input.value = "";
  }

  // The panel that is open is told at once, the others when they are opened.
  tell() {
    for (const panel of Object.values(this.panels)) panel.stale = true;
    this.refresh();
  }

  refresh() {
    const panel = this.panels[this.opened];
    if (!panel) return;
    if (panel.stale) { panel.stale = false; panel.show(this.snapshot); }
    panel.opened?.();
  }

  open() {
    const name = location.hash.slice(1) in PANELS ? location.hash.slice(1) : "overview";
    if (this.opened && this.opened !== name) this.panels[this.opened].closed?.();
    this.opened = name;
    for (const each of Object.keys(PANELS)) this.find(each).hidden = each !== name;
    for (const link of document.querySelectorAll("#tabs a")) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    document.title = `${TITLES[name]} – bayplan`;
    this.refresh();
  }
}

const page = new Page();
window.bayplan = page;
page.start().catch(fault => say(fault.message, true)).finally(() => { document.documentElement.dataset.ready = ""; });
