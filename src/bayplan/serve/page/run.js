// Run: the loop live. What it does, its plan on the bay plan, gates and turns, and the history of a week.
import { busy, button, made, say, table, tiles } from "./elements.js";
import { read, send } from "./service.js";
import { clusterOf } from "./columns.js";
import { ClusterCard } from "./cluster_card.js";
import { showReport } from "./reports.js";
import { counted, percent } from "./report.js";

const EVERY = 1000;  // milliseconds between two looks at the loop
const WEEK = 7 * 86400;
const TURNS = 14, EVENTS = 14, MOVES = 200;  // lines that are shown
const CLASSES = { executed: "good", proposed: "warn", "dry-run": "soft", nothing: "soft", "held-off": "warn", unsound: "bad", failed: "bad", running: "note" };
const STATES = { waits: "soft", "under way": "warn", arrived: "good", "taken back": "note", "given up": "bad" };

export class RunPanel {
  constructor(root, page) {
    Object.assign(this, { root, page, timer: 0, drawn: "", told: 0 });
    this.head = made("p", { class: "lead", id: "run-headline", role: "status" });
    this.clock = made("span", { class: "soft", id: "run-clock" });
    this.pause = button("Pause", () => this.tell("pause"), { id: "run-pause" });
    this.resume = button("Resume", () => this.tell("resume"), { id: "run-resume" });
    this.approve = button("Approve", () => this.tell("approve", { plan: this.plan.id }), { id: "run-approve", class: "main" });
    this.rollback = button("Take back", () => this.tell("rollback", { plan: this.reversible }), { id: "run-rollback" });
    this.none = made("div", { class: "card", hidden: "hidden" }, made("h2", {}, "No loop"), made("p", { id: "run-none" }));
    this.numbers = made("div");
    this.planCard = made("div", { class: "card", id: "run-plan" });
    this.card = new ClusterCard("run", "Bay plan of the cluster as the loop saw it; what the plan moves is in full colour");
    this.card.canvas.classList.add("low");
    this.gates = made("ol", { class: "turns", tabindex: "0", "aria-label": "The last turns" });
    this.events = made("ol", { class: "story", tabindex: "0", "aria-label": "The last events" });
    this.history = made("div", { id: "run-history" });
    this.week = button("Show the week", () => busy(this.week, () => this.showWeek()), { id: "run-week" });
    this.body = made("div", {}, this.numbers,
      made("div", { class: "split" },
        made("div", { class: "side" }, this.planCard, made("div", { class: "card" }, made("h2", {}, "The cluster"), this.card.element)),
        made("aside", { class: "side", "aria-label": "Turns and events" },
          made("div", { class: "card" }, made("h2", {}, "Gates and turns"), this.gates),
          made("div", { class: "card" }, made("h2", {}, "Log"), this.events))),
      made("div", { class: "card weekcard" }, made("div", { class: "row" }, made("h2", {}, "The week"), this.week), this.history));
    this.planHere = button("Plan on what it sees", () => busy(this.planHere, async () => {
      await this.page.chooseLoop();
      location.hash = "plan";
    }), { id: "run-plan-here" });
    const controls = made("div", { class: "row writes controls" }, this.approve, this.planHere, this.pause, this.resume, this.rollback);
    root.append(made("header", {}, made("h1", { id: "run-title" }, "Run"), this.clock, controls, this.head), this.none, this.body);
  }

  show() { this.drawn = ""; }

  opened() {
    this.closed();
    this.look();
    this.timer = setInterval(() => { if (!document.hidden) this.look(); }, EVERY);
  }

  closed() { clearInterval(this.timer); }

  async look() {
    if (this.looking) return;
    this.looking = true;
    try {
      const loop = await read("v1/loop");
      this.none.hidden = loop.known;
      this.body.hidden = !loop.known;
      if (loop.known) await this.draw(loop); else this.missing(loop.headline);
    } catch (fault) { say(fault.message, true); } finally { this.looking = false; }
  }

  missing(words) {
    for (const control of [this.pause, this.resume, this.approve, this.rollback, this.planHere]) control.hidden = true;
    this.root.querySelector("#run-none").textContent = `${words}. bayplan run --store FILE runs a loop, bayplan serve --record FILE shows it.`;
  }

  async tell(what, body = {}) {
    await busy(this[what], async () => { say((await send(`v1/loop/${what}`, body)).done); });
    await this.look();
  }

  async draw(loop) {
    const { plan, paused } = loop;
    this.plan = plan;
    this.head.textContent = loop.headline.replace(/; next: bayplan .*$/, "");
    this.clock.textContent = moment(loop.now);
    this.pause.hidden = Boolean(paused);
    this.resume.hidden = !paused;
    this.planHere.hidden = !loop.observed;
    this.approve.hidden = !plan?.proposed;
    this.reversible = loop.reversible;
    this.rollback.hidden = !loop.reversible;
    this.rollback.textContent = `Take plan ${loop.reversible} back`;
    this.drawNumbers(loop);
    this.drawPlan(plan, loop.approved.filter(id => id !== plan?.id));
    this.drawTurns(loop);
    const state = `${plan?.id} ${plan?.arrived} ${plan?.status} ${loop.last_turn?.id} ${loop.observed ?? this.page.snapshot?.id}`;
    if (state !== this.drawn) { this.drawn = state; await this.drawCluster(plan, loop.observed); }
  }

  drawNumbers({ last_turn: turn, plan, holds, acts, turns }) {
    const moved = turns.reduce((sum, each) => sum + each.moved, 0);
    this.numbers.replaceChildren(tiles([
      ["local traffic", turn?.local == null ? "–" : percent(turn.local), "stays on one machine"],
      ["fullest machine", turn?.fullest == null ? "–" : percent(turn.fullest), turn?.hot ? `${counted(turn.hot, "machine")} above safety` : "none above safety", turn?.hot ? "worse" : "better"],
      ["moved", moved.toLocaleString("en"), `in the last ${counted(turns.length, "turn")}`],
      ["plan", plan ? `${plan.arrived} of ${plan.moves.length}` : "–", plan ? `arrived; ${plan.status}` : "none yet"],
      ["held", String(holds.length), holds.length ? holds.map(each => each.workload).slice(0, 2).join(", ") : "no workload"],
      ["acts", acts.startsWith("no loop") ? "no loop" : "a loop", acts.startsWith("no loop") ? "" : acts.split(":")[0]],
    ]));
  }

  drawPlan(plan, following) {
    if (!plan) { this.planCard.replaceChildren(made("h2", {}, "The plan"), made("p", { class: "soft" }, "None was made yet.")); return; }
    const known = `${plan.id} ${plan.status} ${JSON.stringify(plan.batches)} ${plan.arrived} ${plan.why} ${following}`;
    if (known === this.shownPlan) return;
    this.shownPlan = known;
    const rows = plan.moves.slice(0, MOVES).map(move => [move.container, move.source || "no machine", move.target, badge(move.state, STATES[move.state]), move.why]);
    const open = this.planCard.querySelector("details")?.open ?? true;
    this.planCard.replaceChildren(
      made("h2", {}, `Plan ${plan.id} `, badge(plan.status, plan.status === "done" ? "good" : plan.open || plan.proposed ? "warn" : "soft")),
      made("p", {}, plan.summary[0] ?? ""), made("p", { class: "soft" }, plan.why),
      following.length ? made("p", {}, `Then comes ${following.map(id => `plan ${id}`).join(", ")}, which is approved.`) : "",
      made("div", { class: "batches", role: "img", "aria-label": `${counted(plan.batches.length, "batch")}: ${plan.batches.map(batchWords).join("; ")}` }, ...plan.batches.map(batchBar)),
      made("details", open ? { open: "open" } : {}, made("summary", {}, counted(plan.moves.length, "move")),
        table([["container"], ["from"], ["to"], ["state"], ["why"]], rows, "Moves of the plan"),
        plan.moves.length > MOVES ? made("p", { class: "soft" }, `and ${(plan.moves.length - MOVES).toLocaleString("en")} more`) : ""));
  }

  drawTurns({ turns, events }) {
    const recent = turns.slice(-TURNS).reverse();
    this.gates.replaceChildren(...recent.map(turn => made("li", {},
      made("time", {}, moment(turn.started).slice(-5)), badge(turn.verdict, CLASSES[turn.verdict]), made("span", {}, turn.why))));
    this.events.replaceChildren(...events.slice(-EVENTS).reverse().map(event => made("li", {},
      made("time", {}, moment(event.at).slice(-5)), made("span", {}, `${event.kind}: ${event.text}`))));
  }

  // The cluster as the loop saw it last; while it has seen nothing, the chosen snapshot.
  async drawCluster(plan, observed) {
    const running = observed ? clusterOf(await read("v1/loop/bayplan")).after(0) : this.page.snapshot?.running;
    if (!running) return;
    this.card.show(running, { keep: true });
    const moves = new Map((plan?.moves ?? []).map(move => [move.container, move]));
    const { cluster } = running;
    if (plan && (plan.open || plan.proposed)) this.card.bay.light(c => moves.has(cluster.containerName(c)));
    this.card.found.textContent = plan && (plan.open || plan.proposed) ? "in full colour: what the plan moves" : "";
  }

  async showWeek() {
    await showReport(`v1/loop/report?last=${WEEK}`, this.history);
    this.week.textContent = "Read it again";
  }
}

function badge(words, class_) { return made("span", { class: `badge ${class_}` }, words); }

function batchWords({ planned, done, failed }, k) {
  return `batch ${k + 1}: ${done} of ${Math.max(planned, done)} steps done${failed ? `, ${failed} failed` : ""}`;
}

function batchBar(batch, k) {
  const whole = Math.max(1, batch.planned, batch.begun + batch.done + batch.failed);
  const part = (number, class_) => made("i", { class: class_, style: `width: ${100 * number / whole}%` });
  return made("span", { title: batchWords(batch, k), style: `flex-grow: ${whole}` }, part(batch.done, "done"), part(batch.begun, "begun"), part(batch.failed, "failed"));
}

function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString("en-GB", { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
}
