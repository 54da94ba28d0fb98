// The page: draw both bay plans, and let table, pictures and timeline follow one selection.
class ChangePage {
  constructor(cluster) {
    this.cluster = cluster;
    this.find = id => document.getElementById(id);
    this.selection = new Selection();
    this.tooltip = new Tooltip(this.find("tip"));
    this.before = cluster.after(0);
    this.end = cluster.after(cluster.batches || 1);
    this.now = this.end;
    this.plans = { before: new BayPlan(this.find("bay-before"), cluster), after: new BayPlan(this.find("bay-after"), cluster) };
    this.arrows = new Arrows(this.find("arrows"), this.plans.before, this.plans.after);
    this.timeline = new Timeline(this.find("timeline"), cluster, this.tooltip, batch => this.replay(batch));
    this.show = this.find("show-machines");
    this.show.addEventListener("change", () => this.draw());
    this.draw();
    this.detail = new MoveDetail(this.find("detail"), cluster, this.selection, { before: this.before, after: this.end });
    this.table = new MovesTable(this.find("moves"), cluster, this.selection);
    this.pictures = new Pictures(document, this.tooltip);
    this.legend();
    this.timeline.say();
    this.selection.listen(() => { this.arrows.show(this.selection.shown); this.pictures.show(this.selection.shown); });
    for (const plan of Object.values(this.plans)) this.listen(plan);
    this.follow();
  }

  replay(batch) {
    this.now = this.cluster.after(this.cluster.batches ? batch : 1);
    this.drawAfter();
  }

  draw() {
    const { cluster, before, end } = this;
    this.colours = coloursIn(this.find("bays"));
    this.width = this.find("bays").clientWidth;  // 0 while the page is not laid out, as in a window that is not shown yet
    const machines = shownMachines(cluster, this.show.value, before, end), width = this.find("bay-before").clientWidth || 560;
    const pen = this.find("bay-before").getContext("2d");
    pen.font = `11px ${this.colours.font}`;
    const longest = machines.length > 200 ? 100 : Math.max(0, ...machines.map(m => pen.measureText(cluster.shortName(m)).width));
    const aside = before.unplaced.length || end.unplaced.length ? 100 : 0;
    const top = Math.max(1, before.highest, end.highest) * 1.02;
    this.layout = new BayLayout(cluster, machines, width, { top, names: Math.min(100, longest), aside });
    if (!this.layout.single) this.layout.aside = 0;
    this.plans.before.show(before, this.layout, this.colours);
    this.find("state-before").textContent = this.plans.before.words;
    this.drawAfter();
    this.timeline.draw();
  }

  drawAfter() {
    const { batches } = this.cluster, { batch } = this.timeline;
    this.plans.after.show(this.now, this.layout, this.colours);
    this.find("state-after").textContent = this.plans.after.words;
    const between = batch ? `After batch ${batch} of ${batches}` : "Before the first batch";
    this.find("title-after").textContent = batch < batches ? between : "After";
    this.arrows.show(this.selection.shown);
  }

  legend() {
    const { cluster, table } = this, { ranked, index } = cluster.colour, root = this.find("legend");
    for (const [w, moves] of ranked.slice(0, OWN_COLOURS)) {
      const style = `--c: var(--s${index.get(w)})`, title = "Show these moves in the table";
      const button = made("button", { type: "button", style, title });
      button.append(made("i", { class: "swatch" }), cluster.workloadName(w), made("small", {}, moves.toLocaleString("en")));
      button.addEventListener("click", () => table.filter("workload", cluster.workloadName(w)));
      root.append(button);
    }
    const others = ranked.slice(OWN_COLOURS), moves = others.reduce((sum, [, number]) => sum + number, 0);
    const key = (colour, ...words) => {
      root.append(made("span", { style: `--c: var(--${colour})` }, made("i", { class: "swatch" }), ...words));
    };
    if (others.length) key("other", counted(others.length, "other workload"), made("small", {}, moves.toLocaleString("en")));
    key("stays", "does not move");
  }

  listen(plan) {
    const { canvas } = plan, { selection, tooltip, cluster } = this;
    const moveOf = container => cluster.moves[cluster.moveOf[container]] ?? null;
    canvas.addEventListener("pointermove", event => {
      const { machine, container } = plan.at(event.offsetX, event.offsetY), move = moveOf(container);
      selection.point(move);
      if (machine === NONE) tooltip.hide();
      else tooltip.show(this.words(plan, machine, container, move), event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", () => { selection.point(null); tooltip.hide(); });
    canvas.addEventListener("click", event => this.table.choose(moveOf(plan.at(event.offsetX, event.offsetY).container)));
    canvas.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") selection.select(null);
      if (!step || !this.table.rows.length) return;
      event.preventDefault();
      const { rows } = this.table, at = rows.indexOf(selection.selected);
      this.table.choose(rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]);
    });
  }

  words(plan, machine, container, move) {
    const { cluster } = this, about = plan.running.machineWords(machine);
    if (container === NONE) return about;
    const w = cluster.workload[container], workload = cluster.workloadName(w), service = cluster.serviceName(w);
    const amounts = cluster.requests(container).map(pair => pair.join(" "));
    const belongs = `workload ${workload}` + (service === workload ? "" : `, service ${service}`);
    const lines = [`${cluster.containerName(container)} (${belongs})`, amounts.join(", ")];
    if (move) {
      const ends = [move.source, move.target].map(m => cluster.machineName(m)).join(" → ");
      lines.push(move.batch ? `${ends}, batch ${move.batch}` : ends);
    }
    return [...lines, "", about].join("\n");
  }

  // Draw again when the window, the colours or the medium change.
  follow() {
    const bays = this.find("bays"), { signal } = this.closed = new AbortController();
    const sizes = new ResizeObserver(() => { if (bays.clientWidth && bays.clientWidth !== this.width) this.draw(); });
    sizes.observe(bays);
    signal.addEventListener("abort", () => { sizes.disconnect(); this.timeline.stop(); });
    const again = () => { this.draw(); this.detail.show(); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal });
    matchMedia("print").addEventListener("change", ({ matches }) => { again(); this.table.print(matches); }, { signal });
    addEventListener("beforeprint", () => this.table.print(true), { signal });
    addEventListener("afterprint", () => this.table.print(false), { signal });
  }

  // Follow nothing any more: another plan takes its place.
  close() { this.closed.abort(); }
}
