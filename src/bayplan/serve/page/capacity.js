// Capacity: how much uncertain services need at a confidence, which failures a cluster survives, how many machines serve requests.
import { busy, button, choice, field, made } from "./elements.js";
import { decide, send } from "./service.js";
import { showReport } from "./reports.js";
import { span } from "./report.js";

const QUESTIONS = {
  pack: { of: "cluster", words: "How many machines at a confidence?", about: "Puts containers whose usage varies onto machines, so that a machine overflows with at most the stated probability." },
  capacity: { of: "cluster", words: "Which failures does it survive?", about: "Every single machine and group is taken away once: is there space for what ran there?" },
  sweep: { of: "requests", words: "How many machines do timed requests need?", about: "What each number of machines serves, and the fewest that serve the stated share." },
};

export class CapacityPanel {
  constructor(root, page) {
    Object.assign(this, { root, page });
    this.question = choice("capacity-question", Object.entries(QUESTIONS).map(([value, { words }]) => [value, words]));
    this.about = made("p", { class: "soft about" });
    this.of = choice("capacity-of", [["", "none yet"]]);
    this.confidence = made("input", { type: "number", id: "capacity-confidence", min: "50", max: "99.9999", step: "any", value: "99.9" });
    this.machines = made("input", { type: "text", id: "capacity-machines", value: "2, 4, 6, 8, 12", size: "16" });
    this.share = made("input", { type: "number", id: "capacity-share", min: "1", max: "100", step: "any", value: "95" });
    this.seconds = made("input", { type: "number", id: "capacity-seconds", min: "1", max: "600", value: "8" });
    this.start = made("button", { class: "main writes", id: "capacity-start" }, "Answer");
    this.stop = button("Stop, keep the best", () => busy(this.stop, () => send(`v1/jobs/${this.job}/cancel`)), { hidden: "hidden" });
    this.stage = made("p", { class: "soft", role: "status", id: "capacity-stage" });
    this.bar = made("progress", { max: "1", value: "0", "aria-label": "Progress", hidden: "hidden" });
    this.result = made("div", { id: "capacity-result" });
    this.only = { pack: [field("Confidence in %", this.confidence)], sweep: [field("Machines to try", this.machines), field("Share to serve in %", this.share)], capacity: [] };
    const form = made("form", { class: "card planform" },
      made("div", { class: "row" }, field("Question", this.question), field("About", this.of), ...Object.values(this.only).flat(), field("Seconds", this.seconds), this.start, this.stop),
      this.about, this.bar, this.stage);
    form.addEventListener("submit", event => { event.preventDefault(); this.ask(); });
    this.question.addEventListener("change", () => this.choose());
    root.append(made("header", {}, made("h1", { id: "capacity-title" }, "Capacity"),
      made("p", { class: "lead" }, "How many machines are needed, and what they are good for.")), form, this.result);
  }

  show() { this.listed(); }

  listed() { this.choose(); }

  choose() {
    const { of, about } = QUESTIONS[this.question.value], kept = this.of.value;
    this.about.textContent = about;
    for (const [question, fields] of Object.entries(this.only)) for (const each of fields) each.hidden = question !== this.question.value;
    const fitting = (this.page.snapshots ?? []).filter(each => each.kind === of);
    const words = each => of === "cluster" ? each.name : `${each.requests.toLocaleString("en")} requests (${each.name})`;
    this.of.replaceChildren(...(fitting.length ? fitting.map(each => made("option", { value: each.id }, words(each))) : [made("option", { value: "" }, `no ${of} uploaded yet`)]));
    const uncertain = fitting.find(each => each.name.startsWith("ucac"))?.id, chosen = this.page.snapshot?.id;
    const wanted = [kept, this.question.value === "pack" ? uncertain : null, chosen].find(id => fitting.some(each => each.id === id));
    if (wanted) this.of.value = wanted;
    this.start.disabled = !fitting.length;
  }

  get options() {
    const seconds = Number(this.seconds.value) || 8;
    if (this.question.value === "pack") return { confidence: Number(this.confidence.value) / 100, seconds };
    if (this.question.value === "capacity") return { seconds };
    return { machines: this.machines.value.split(/[\s,;]+/).filter(Boolean).map(Number), serve: Number(this.share.value) / 100, seconds };
  }

  async ask() {
    this.bar.hidden = this.stop.hidden = false;
    this.bar.value = 0;
    this.stage.textContent = "waits for its turn";
    await busy(this.start, async () => {
      const job = await decide(this.question.value, this.of.value, this.options, {
        on: (kind, data) => this.follow(kind, data), started: each => { this.job = each.id; },
      });
      this.stage.textContent = job.answer?.headline ?? job.state;
      await showReport(`v1/jobs/${job.id}/report`, this.result);
      this.result.prepend(made("p", { class: "links" }, made("a", { href: `v1/jobs/${job.id}/report`, target: "_blank", rel: "noopener" }, "The same as a page of its own")));
    });
    this.bar.hidden = this.stop.hidden = true;
  }

  follow(kind, data) {
    if (kind !== "progress") return;
    this.bar.value = data.done ?? 0;
    this.stage.textContent = `${data.stage}, ${span(Math.round(data.seconds ?? 0))}`;
  }
}
