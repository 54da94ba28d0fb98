// One move in detail: its sentence, its gains, and its two machines before and after, large enough to read.
const HOW = "Point at a row or at a coloured container to see where it goes. "
  + "Click, or use the arrow keys in the table, to keep it selected.";
const STACK_WIDE = 46, STACK_TALL = 150;

class MoveDetail {
  constructor(root, cluster, selection, { before, after }) {
    Object.assign(this, { root, cluster, selection, before, after });
    selection.listen(() => this.show());
    this.show();
  }

  show() {
    const { root, cluster, selection } = this, move = selection.shown;
    if (!move) {
      root.replaceChildren(made("p", { class: "soft" }, cluster.moves.length ? HOW : "Nothing moves."));
      return;
    }
    const name = cluster.containerName(move.container), workload = cluster.workloadName(move.workload);
    const service = cluster.serviceName(move.workload);
    const facts = [
      ["from", cluster.machineName(move.source)], ["to", cluster.machineName(move.target)], ["workload", workload],
      ...(service === workload ? [] : [["service", service]]),
      ...cluster.requests(move.container),
      ...(move.batch ? [["batch", `${move.batch} of ${cluster.batches}`]] : []),
    ];
    root.replaceChildren(
      made("h3", {}, name),
      move.why ? made("p", { class: "why" }, move.why) : "",
      this.picture(move),
      made("dl", { class: "facts" }, ...facts.flatMap(([label, value]) => [made("dt", {}, label), made("dd", {}, value)])),
      this.gains(move),
    );
  }

  gains(move) {
    const { gains, noted } = this.cluster.header;
    if (!noted) return "";
    const lines = [...gains.map((label, k) => [label, move.gain[k]]), ["net, after the price of the move", move.net]];
    const cells = lines.map(([label, value]) => [made("dt", {}, label), made("dd", { class: sign(value) }, points(value))]);
    return made("dl", { class: "facts gains" }, ...cells.flat());
  }

  picture(move) {
    const { cluster } = this, machines = [move.source, move.target].filter(m => m !== NONE);
    const ratio = Math.min(2, window.devicePixelRatio || 1), wide = 300, tall = STACK_TALL + 52;
    const states = machines.map(m => `${cluster.machines[m]}: ${this.use(this.before, m)} before, ${this.use(this.after, m)} after`);
    const size = { width: wide * ratio, height: tall * ratio }, label = states.join("; ");
    const canvas = made("canvas", { ...size, role: "img", "aria-label": label });
    const pen = canvas.getContext("2d"), colours = coloursIn(document.querySelector("#bays"));
    pen.scale(ratio, ratio);
    const top = Math.max(1, ...machines.map(m => Math.max(this.before.level[m], this.after.level[m]))) * 1.02;
    machines.forEach((m, k) => this.machine(pen, m, move, { x: 12 + 150 * k, top }, colours));
    return canvas;
  }

  machine(pen, m, move, { x, top }, colours) {
    const bottom = STACK_TALL + 20, tall = STACK_TALL / top;
    [this.before, this.after].forEach((running, k) => {
      const left = x + k * (STACK_WIDE + 20);
      drawStack(pen, running, m, { x: left, bottom, wide: STACK_WIDE, tall }, colours);
      boxes(running, m, { x: left, bottom, wide: STACK_WIDE, tall }, (c, box) => {
        if (c !== move.container) return;
        pen.strokeStyle = colours.ink;
        pen.lineWidth = 2;
        pen.strokeRect(left - 1, box.bottom - box.tall, STACK_WIDE + 2, box.tall);
        pen.lineWidth = 1;
      });
      pen.font = `${running.state[m] ? "600 " : ""}11px ${colours.font}`;
      const colour = [colours.soft, colours.hot, colours.over][running.state[m]];
      const text = (running.state[m] ? "▲ " : "") + this.use(running, m), y = bottom - Math.max(1, running.level[m]) * tall - 6;
      words(pen, text, left + STACK_WIDE / 2, y, colour, "center");
    });
    pen.font = `11px ${colours.font}`;
    words(pen, "→", x + STACK_WIDE + 10, bottom - STACK_TALL / 2, colours.soft, "center");
    const resource = this.cluster.resources[this.after.fullest[m]]?.name ?? "";
    words(pen, fitted(pen, this.cluster.machines[m], 126), x + STACK_WIDE + 10, bottom + 15, colours.ink, "center");
    words(pen, fitted(pen, resource, 126), x + STACK_WIDE + 10, bottom + 29, colours.soft, "center");
  }

  use(running, m) { return running.endless[m] ? "over" : percent(running.level[m]); }
}
