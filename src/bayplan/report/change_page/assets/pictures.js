// Pictures that Python drew: what their parts say when they are pointed at or focused, and the same part in the twin picture.
class Pictures {
  constructor(root, tooltip) {
    this.root = root;
    for (const part of root.querySelectorAll("[data-tip]")) {
      part.addEventListener("pointermove", event => tooltip.show(part.dataset.tip, event.clientX, event.clientY));
      part.addEventListener("pointerenter", () => this.twins(part, true));
      part.addEventListener("pointerleave", () => { this.twins(part, false); tooltip.hide(); });
      part.addEventListener("focus", () => {
        const box = part.getBoundingClientRect();
        this.twins(part, true);
        tooltip.show(part.dataset.tip, box.left + box.width / 2, box.top + box.height / 2);
      });
      part.addEventListener("blur", () => { this.twins(part, false); tooltip.hide(); });
    }
  }

  twins(part, on) {
    if (part.dataset.e === undefined) return;
    for (const twin of this.root.querySelectorAll(`.tie[data-e="${part.dataset.e}"]`)) twin.classList.toggle("lit", on);
  }

  // The traffic of the workload that moves.
  show(move) {
    for (const part of this.root.querySelectorAll(".tie, .spot[data-w]")) {
      const mine = move !== null && part.dataset.w.split(" ").includes(String(move.workload));
      part.classList.toggle("of-move", mine);
    }
  }
}
