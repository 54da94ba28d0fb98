// Overview: the bay plan of a snapshot, what is wrong with it in words, and what is chosen.
import { list, made, say, tiles } from "./elements.js";
import { read } from "./service.js";
import { ClusterCard, containerWords } from "./cluster_card.js";
import { counted, percent } from "./report.js";

const SHOWN = 40;  // containers of a chosen machine that are listed
const WORDS = { bad: "wrong", warn: "to watch", good: "good", note: "to know" };
const HOW = "Each column is a machine, each block a container; its height is the container's share of the machine's fullest resource. "
  + "Upper line: capacity; amber line: safety capacity. Drag to look around, turn the wheel to enlarge, click to choose.";

export class Overview {
  constructor(root, page) {
    Object.assign(this, { root, page });
    this.card = new ClusterCard("overview", "Bay plan: each column a machine, each block a container", { select: (m, c) => this.choose(m, c) });
    this.title = made("h1", { id: "overview-title" }, "Overview");
    this.lead = made("p", { class: "lead" });
    this.numbers = made("div");
    this.findings = made("ul", { class: "findings" });
    this.detail = made("div", { class: "detail", "aria-live": "polite" });
    this.empty = made("div", { class: "card" }, made("h2", {}, "No snapshot yet"),
      made("p", {}, "Upload one above: a file of bayplan, RASA or GMRP, or what kubectl get nodes,pods -A -o json prints; .gz is read too."),
      made("p", { class: "soft" }, "bayplan serve --demo opens on an example."));
    this.body = made("div", { class: "split" },
      made("div", { class: "card wide" }, made("p", { class: "soft how" }, HOW), this.card.element),
      made("aside", { class: "side", "aria-label": "Findings" },
        made("div", { class: "card" }, made("h2", {}, "What is wrong"), this.findings),
        made("div", { class: "card" }, made("h2", {}, "Chosen"), this.detail)));
    root.append(made("header", {}, this.title, this.lead), this.empty, this.numbers, this.body);
  }

  async show(snapshot) {
    this.empty.hidden = Boolean(snapshot);
    this.body.hidden = this.numbers.hidden = !snapshot;
    if (!snapshot) return;
    this.title.textContent = snapshot.name || "Overview";
    this.card.show(snapshot.running);
    this.choose(-1, -1);
    try {
      const found = await read(`v1/snapshots/${snapshot.id}/findings`);
      if (this.page.snapshot.id === snapshot.id) this.tell(found, snapshot);
    } catch (fault) { say(fault.message, true); }
  }

  tell({ counts, headline, findings, valid, score }, { running }) {
    this.lead.textContent = headline;
    const hot = running.state.reduce((sum, state) => sum + (state > 0), 0), number = value => value.toLocaleString("en");
    this.numbers.replaceChildren(tiles([
      ["machines", number(counts.machines), `${number(counts.machines_used)} used`],
      ["containers", number(counts.containers), counted(counts.workloads, "workload")],
      ["without a machine", number(counts.unplaced), counts.unplaced ? "to be placed" : "all are placed", counts.unplaced ? "worse" : ""],
      ["above safety", number(hot), hot ? "machines" : "no machine", hot ? "worse" : "better"],
      ["rules", number(counts.rules), valid ? "all kept" : "violated", valid ? "better" : "worse"],
      ["local traffic", counts.edges ? percent(score.affinity) : "–", counts.edges ? "of it stays on one machine" : "no traffic is known"],
    ]));
    this.findings.replaceChildren(...findings.map(finding => this.finding(finding)));
  }

  finding({ severity, text, machines, workloads }) {
    const badge = made("span", { class: `badge ${severity}` }, WORDS[severity]);
    if (!machines.length && !workloads.length) return made("li", {}, badge, text);
    const shown = made("button", { type: "button", class: "plain", title: "Show it on the bay plan" }, text);
    shown.addEventListener("click", () => this.light(machines, workloads));
    return made("li", {}, badge, shown);
  }

  light(machines, workloads) {
    const { bay } = this.card, { cluster, running } = bay;
    const places = new Set(machines.map(name => cluster.machines.indexOf(name)));
    const owners = new Set(workloads.map(name => cluster.header.workloads.indexOf(name)));
    bay.light(c => places.has(running.machine[c]) || owners.has(cluster.workload[c]));
    this.card.search.value = "";
    this.card.found.textContent = "the finding is lit up; Escape shows all";
    const [first] = places;
    if (first >= 0 && places.size === 1) { bay.choose(first); this.choose(first, -1); }
    this.card.canvas.focus({ preventScroll: true });
    if (matchMedia("(max-width: 760px)").matches) this.card.canvas.scrollIntoView({ block: "center" });
  }

  choose(m, c) {
    const { bay } = this.card;
    if (m < 0) {
      if (bay.lit && !this.card.search.value) { bay.light(null); this.card.found.textContent = ""; }
      this.detail.replaceChildren(made("p", { class: "soft" }, "Click a machine, or choose one with the arrow keys."));
      return;
    }
    const { running, cluster } = bay, [head, ...lines] = running.machineWords(m).split("\n");
    const own = Array.from(running.item.subarray(running.start[m], running.start[m + 1]));
    const names = own.slice(0, SHOWN).map(each => cluster.containerName(each));
    this.detail.replaceChildren(
      made("h3", {}, head), list(lines),
      ...(c >= 0 ? [made("h3", {}, "Container"), ...containerWords(cluster, c).split("\n").map(line => made("p", {}, line))] : []),
      made("details", {}, made("summary", {}, "Its containers"), list(names),
        own.length > SHOWN ? made("p", { class: "soft" }, `and ${own.length - SHOWN} more`) : ""));
  }
}
