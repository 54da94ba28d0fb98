// Plan: choose a goal, ask what if, watch the search improve, go along the front, read every move, approve.
import { busy, button, choice, field, made, say } from "./elements.js";
import { decide, read, send } from "./service.js";
import { Chart, number } from "./chart.js";
import { clusterOf } from "./columns.js";
import { ChangeReport } from "./reports.js";
import { ClusterCard } from "./cluster_card.js";
import { WhatIfChoice } from "./what_if.js";
import { GOALS } from "./goals.js";
import { counted, percent, span } from "./report.js";

const AT_ONCE = 20000;  // containers up to which the front is computed without being asked for
const SAME = 0.5;  // of the machines of a snapshot: with more of them, it is of the loop's cluster
const SECONDS = [[500, 6], [10000, 20]], LONGEST = 60;  // containers, and seconds up to that number

export class PlanPanel {
  constructor(root, page) {
    Object.assign(this, { root, page });
    this.goal = choice("goal", GOALS.map(({ name }) => [name, name.replace("-", " ")]));
    this.about = made("p", { class: "soft about" });
    this.goal.addEventListener("change", () => this.explain());
    this.seconds = made("input", { type: "number", id: "plan-seconds", min: "1", max: "600", value: "6" });
    this.most = made("input", { type: "text", id: "plan-most", placeholder: "such as 10 or 5%", size: "14" });
    this.start = made("button", { class: "main writes", id: "plan-start" }, "Plan");
    this.stop = button("Stop, keep the best", () => this.cancel(), { id: "plan-stop", hidden: "hidden" });
    this.whatIf = new WhatIfChoice(() => this.card.bay.mark(this.whatIf.marks));
    const click = m => this.whatIf.click(m);
    this.card = new ClusterCard("plan", "Bay plan. A click on a machine changes what is asked", { select: (m, c, key) => { if (!key) click(m); }, enter: click });
    this.card.canvas.classList.add("low");
    root.append(made("header", {}, made("h1", { id: "plan-title" }, "Plan"),
      made("p", { class: "lead" }, "What should move, what that gains, and in which order.")), this.form(), this.live(), this.along(), this.answer());
    this.explain();
  }

  form() {
    const form = made("form", { class: "card planform" },
      made("div", { class: "row" }, field("Goal", this.goal), field("Seconds to search", this.seconds), field("Move at most", this.most),
        this.start, this.stop),
      this.about,
      made("details", { class: "scenario" }, made("summary", {}, "What if: drain machines, let them fail, add some"), this.whatIf.element, this.card.element));
    form.addEventListener("submit", event => { event.preventDefault(); this.plan(); });
    form.querySelector("details").addEventListener("toggle", () => this.card.bay.resize());
    return form;
  }

  live() {
    this.chart = new Chart({ label: "The best plan so far over the seconds of the search; lower is better", across: "s", up: "score of the best plan so far (lower is better)", step: true, words: [value => value.toFixed(1), number] });
    this.bar = made("progress", { max: "1", value: "0", "aria-label": "Progress of the search" });
    this.stage = made("p", { class: "soft", id: "plan-stage", role: "status" });
    this.best = made("p", { id: "plan-best" });
    this.searching = made("div", { class: "card searching", hidden: "hidden" }, made("h2", {}, "The search"), this.bar, this.stage, this.best, this.chart.element);
    return this.searching;
  }

  along() {
    this.slider = made("input", { type: "range", id: "front", min: "0", max: "0", step: "1", "aria-label": "Share of the containers that move" });
    this.point = made("output", { for: "front", id: "front-point" });
    this.slider.addEventListener("input", () => this.sayPoint());
    this.slider.addEventListener("change", () => this.planAt());
    this.front = made("div", { class: "card front", hidden: "hidden" }, made("h2", {}, "Fewer or more moves"),
      made("p", { class: "soft" }, "Drag along the front; let go, and the plan for that many moves is made."),
      made("div", { class: "row" }, made("span", { class: "soft" }, "few"), this.slider, made("span", { class: "soft" }, "many")), this.point);
    return this.front;
  }

  answer() {
    this.links = made("div", { class: "row links" });
    this.proposed = made("div", { class: "card proposal", id: "proposal", hidden: "hidden" });
    this.result = made("div", { id: "plan-result" });
    this.report = new ChangeReport(this.result);
    return made("div", {}, this.proposed, this.links, this.result);
  }

  explain() {
    this.about.textContent = GOALS.find(({ name }) => name === this.goal.value).about;
  }

  show(snapshot) {
    this.start.disabled = !snapshot;
    this.report.clear();
    this.links.replaceChildren();
    this.front.hidden = this.searching.hidden = true;
    if (!snapshot) return;
    const containers = snapshot.cluster.workload.length;
    this.seconds.value = SECONDS.find(([most]) => containers <= most)?.[1] ?? LONGEST;
    this.whatIf.show(snapshot.cluster);
    this.card.show(snapshot.running);
  }

  opened() {
    this.card.bay.resize();
    this.look();
  }

  // A plan that the loop proposes waits for a person here, too.
  async look() {
    const loop = await read("v1/loop"), plan = loop.plan?.proposed ? loop.plan : null;
    this.proposed.hidden = !plan;
    if (!plan) return;
    const approve = button("Approve", () => busy(approve, async () => {
      say((await send("v1/loop/approve", { plan: plan.id })).done);
      await this.look();
    }), { class: "main writes" });
    this.proposed.replaceChildren(made("h2", {}, `The loop proposes ${counted(plan.moves.length, "move")}`),
      made("p", {}, plan.summary[0] ?? plan.why), made("div", { class: "row" }, approve, made("a", { href: "#run" }, "Read them under Run")));
  }

  get options() {
    const most = this.most.value.trim();
    return {
      goal: this.goal.value, seconds: Number(this.seconds.value) || 6, ...this.whatIf.options,
      ...(most ? { max_moves: /^\d+$/.test(most) ? Number(most) : most } : {}),
    };
  }

  async plan() {
    await this.page.chosen;
    this.asked = this.options;
    this.front.hidden = true;
    this.shown = await this.run(this.asked);
    if (!this.shown?.details) return;
    if (this.page.snapshot.cluster.workload.length <= AT_ONCE) { await this.findFront(); return; }
    this.front.hidden = false;
    this.slider.disabled = true;
    this.point.replaceChildren(button("Compute the front", () => this.findFront()), " That takes as long as the plan took, and more.");
  }

  // What fewer and more moves would gain is found when the plan is there: a person can read that in the meantime.
  async findFront() {
    const { asked } = this;
    this.front.hidden = false;
    this.slider.disabled = true;
    this.point.textContent = "The front is being computed …";
    try {
      const job = await decide("plan", this.page.snapshot.id, { ...asked, front: true, performance: false });
      const result = await read(`v1/jobs/${job.id}/result`);
      if (asked === this.asked) this.showFront(result.details?.front ?? []);
    } catch (fault) { this.point.textContent = `There is no front: ${fault.message}`; }
  }

  async planAt() {
    const point = this.points[this.slider.value];
    if (point.chosen || !point.moved) return;
    const { max_moves, ...asked } = this.asked;
    const answer = await this.run({ ...asked, at: point.moved });
    if (answer) {
      this.points.forEach(each => { each.chosen = each === point; });
      Object.assign(point, pointOf(answer, point));
    }
    this.sayPoint();
  }

  async run(options) {
    const { snapshot } = this.page;
    this.chart.clear();
    this.searching.hidden = false;
    this.stop.hidden = false;
    this.bar.value = 0;
    this.stage.textContent = "waits for its turn";
    this.best.textContent = "";
    this.started = performance.now();
    this.limit = options.seconds;
    this.root.setAttribute("aria-busy", "true");
    const answer = await busy(this.start, async () => {
      const job = await decide("plan", snapshot.id, options, { on: (kind, data) => this.follow(kind, data), started: each => { this.job = each.id; } });
      return this.ended(job);
    });
    this.stop.hidden = true;
    this.root.removeAttribute("aria-busy");
    return answer;
  }

  follow(kind, data) {
    const seconds = data.seconds ?? (performance.now() - this.started) / 1000;
    if (kind === "progress") {
      this.bar.value = Math.min(0.99, seconds / this.limit);
      this.chart.extend(seconds);
      this.stage.textContent = `${data.stage}, ${span(Math.round(seconds))}`;
    } else if (kind === "incumbent") {
      this.chart.add("best", seconds, data.value);
      this.best.textContent = data.headline ?? "";
    } else if (kind === "state" && data.state === "running") this.stage.textContent = "begins";
  }

  async ended(job) {
    this.bar.value = 1;
    const result = await read(`v1/jobs/${job.id}/result`);
    this.stage.textContent = job.state === "done" ? `done after ${span(result.seconds ?? 0)}` : `${job.state}: this is the best that was found`;
    this.links.replaceChildren(await this.approval(job, result),
      made("a", { href: `v1/jobs/${job.id}/plan`, download: "plan.json", class: "button" }, "Download the plan"),
      made("a", { href: `v1/jobs/${job.id}/report`, target: "_blank", rel: "noopener" }, "The same as a page of its own"),
      made("span", { class: "soft" }, "To carry it out: ", made("code", {}, "bayplan apply plan.json --context NAME")));
    try { await this.report.show(`v1/jobs/${job.id}/report`); } catch (fault) {
      this.report.clear();
      say(`${job.state}; ${fault.message}`, true);
    }
    return result;
  }

  // Where there is a loop, a plan that was read can be given to it, if it is about the cluster of that loop.
  async approval(job, { moved, details }) {
    const loop = await read("v1/loop");
    if (!loop.known || !loop.observed || !moved || !details) return "";
    const there = new Set(clusterOf(await read("v1/loop/bayplan")).machines), { machines } = this.page.snapshot.cluster;
    if (machines.filter(name => there.has(name)).length < SAME * machines.length) {
      return made("span", { class: "soft" }, "This is not the cluster of the loop: choose “what the loop sees now” above to plan for it.");
    }
    const approve = button("Approve: let the loop do it", () => busy(approve, async () => {
      say((await send("v1/loop/plans", { job: job.id })).done);
      approve.replaceWith(made("a", { href: "#run", class: "button", id: "plan-follow" }, "Follow it under Run"));
    }), { class: "main writes", id: "plan-approve" });
    return approve;
  }

  async cancel() {
    await busy(this.stop, () => send(`v1/jobs/${this.job}/cancel`));
  }

  showFront(points) {
    this.points = points.map(point => point.chosen ? { ...point, ...pointOf(this.shown, point) } : point);
    this.slider.disabled = false;
    this.front.hidden = points.length < 2;
    this.slider.max = Math.max(0, points.length - 1);
    this.slider.value = Math.max(0, points.findIndex(point => point.chosen));
    if (points.length) this.sayPoint();
  }

  sayPoint() {
    const point = this.points[this.slider.value];
    const figures = point.words ?? Object.entries(point.figures ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
    const text = `${counted(point.moved, "container")} (${percent(point.share)}): gain ${number(point.gain)}${point.chosen ? ", shown below" : ""}`;
    this.point.replaceChildren(made("strong", {}, text), figures ? ` – ${figures}` : "");
    this.slider.setAttribute("aria-valuetext", text);
  }
}

// The point of the front that a plan is: the plan that is shown, not the one that the front was computed with.
function pointOf({ moved, details }, { share, moved: planned }) {
  return { moved, share: share * moved / Math.max(1, planned), gain: details.gain, words: details.sentences.join(" ") };
}
