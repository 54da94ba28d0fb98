// The plan in time: a bar for each batch, and a slider that replays them on the second bay plan.
const BARS_TALL = 56, TICK = 16;
const PLAY_SECONDS = 12, SLOWEST = 1.2, FASTEST = 0.08;  // of a whole replay; per batch

class Timeline {
  constructor(root, cluster, tooltip, onChange) {
    Object.assign(this, { root, cluster, onChange, batch: cluster.batches || 1, playing: null });
    this.slider = root.querySelector("#slider");
    this.button = root.querySelector("#play");
    this.canvas = root.querySelector("#bars");
    this.output = root.querySelector("#when");
    root.hidden = !cluster.batches;
    this.arrived = new Int32Array(cluster.batches + 1);
    for (const move of cluster.moves) if (move.batch) this.arrived[move.batch]++;
    for (let k = 1; k < this.arrived.length; k++) this.arrived[k] += this.arrived[k - 1];
    this.slider.max = cluster.batches;
    this.slider.value = cluster.batches;  // after the highest value is known
    this.slider.addEventListener("input", () => { this.stop(); this.go(Number(this.slider.value)); });
    this.button.addEventListener("click", () => this.playing ? this.stop() : this.play());
    this.canvas.addEventListener("click", event => { this.stop(); this.go(this.batchAt(event.offsetX)); });
    this.canvas.addEventListener("pointermove", event => {
      tooltip.show(this.words(this.batchAt(event.offsetX)), event.clientX, event.clientY);
    });
    this.canvas.addEventListener("pointerleave", () => tooltip.hide());
  }

  go(batch) {
    this.batch = batch;
    this.slider.value = batch;
    this.say();
    this.draw();
    this.onChange(batch);
  }

  play() {
    const { batches } = this.cluster;
    if (this.batch >= batches) this.go(0);
    this.button.textContent = "Pause";
    const pause = 1000 * Math.min(SLOWEST, Math.max(FASTEST, PLAY_SECONDS / batches));
    this.playing = setInterval(() => {
      this.go(this.batch + 1);
      if (this.batch >= batches) this.stop();
    }, pause);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
  }

  say() {
    if (!this.cluster.batches) return;
    const { cluster, batch } = this, { batch_end, timed } = cluster.arrays, last = cluster.batches;
    const time = timed[0] && last ? `, ${span(batch ? batch_end[batch - 1] : 0)} of about ${span(batch_end[last - 1])}` : "";
    const text = batch ? `after batch ${batch} of ${last}` : "before the first batch";
    const arrived = `${this.arrived[batch].toLocaleString("en")} of ${counted(cluster.moves.length, "container")} arrived`;
    this.output.textContent = `${text}${time}: ${arrived}`;
    this.slider.setAttribute("aria-valuetext", this.output.textContent);
  }

  words(batch) {
    const { batch_start, batch_end, timed } = this.cluster.arrays, [creates, deletes] = this.counts()[batch - 1];
    const time = timed[0] ? `\nfrom ${span(batch_start[batch - 1])} to ${span(batch_end[batch - 1])}` : "";
    return `batch ${batch}: ${counted(creates, "create")}, ${counted(deletes, "delete")}${time}`;
  }

  get end() { return this.cluster.batches ? this.cluster.arrays.batch_end[this.cluster.batches - 1] || 1 : 1; }

  batchAt(x) {
    const moment = x / this.canvas.clientWidth * this.end, { batch_end } = this.cluster.arrays;
    const found = batch_end.findIndex(end => end >= moment);
    return found < 0 ? this.cluster.batches : found + 1;
  }

  draw() {
    if (this.root.hidden) return;
    const { cluster, canvas } = this, { arrays } = cluster, colours = coloursIn(document.querySelector("#bays"));
    const wide = canvas.clientWidth || 600, ratio = Math.min(2, window.devicePixelRatio || 1), tall = BARS_TALL + TICK;
    canvas.width = wide * ratio;
    canvas.height = tall * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const counts = this.counts(), most = Math.max(1, ...counts.map(([creates, deletes]) => creates + deletes));
    counts.forEach(([creates, deletes], k) => {
      const x = arrays.batch_start[k] / this.end * wide, right = arrays.batch_end[k] / this.end * wide;
      const drawn = Math.max(0.75, right - x - (right - x > 4 ? 1.5 : 0)), scale = (BARS_TALL - 4) / most;
      pen.globalAlpha = k < this.batch ? 1 : 0.32;
      pen.fillStyle = colours.workload[0];
      pen.fillRect(x, BARS_TALL - creates * scale, drawn, creates * scale);
      pen.fillStyle = colours.workload[1];
      pen.fillRect(x, BARS_TALL - (creates + deletes) * scale, drawn, deletes * scale);
    });
    pen.globalAlpha = 1;
    this.scale(pen, wide, colours);
  }

  scale(pen, wide, colours) {
    const { timed, batch_end } = this.cluster.arrays;
    pen.fillStyle = colours.line;
    pen.fillRect(0, BARS_TALL, wide, 1);
    const now = this.batch ? batch_end[this.batch - 1] / this.end * wide : 0;
    pen.fillRect(Math.min(wide - 2, Math.max(0, now - 1)), 0, 2, BARS_TALL + 5);
    pen.font = `11px ${colours.font}`;
    words(pen, timed[0] ? "0 s" : "start", 0, BARS_TALL + TICK - 2, colours.soft, "left");
    words(pen, timed[0] ? span(this.end) : counted(this.cluster.batches, "batch"), wide, BARS_TALL + TICK - 2, colours.soft, "right");
  }

  counts() {
    const { batch_steps, step_creates } = this.cluster.arrays;
    let at = 0;
    return Array.from(batch_steps, steps => {
      let creates = 0;
      for (let k = at; k < at + steps; k++) creates += step_creates[k];
      at += steps;
      return [creates, steps - creates];
    });
  }
}
