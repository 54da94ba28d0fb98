// A bay plan as pixels: every machine a stack, every container a block, written straight into an image. So a cluster of thousands
// of machines and hundreds of thousands of containers is drawn anew in every frame.
const SAFE_GAP = 4;  // pixels of height from which on blocks are apart
const NARROW = 8;  // pixels below which a line at every capacity would hide the rest

// Colours of CSS as the pixels of an image.
export function pixelReader() {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  return css => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    return new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0];
  };
}

// Where blocks stand: base and top of each, as shares of the machine, in the order of `running.item`.
export function stackEdges(running) {
  const top = new Float32Array(running.item.length), cluster = running.cluster;
  for (let m = 0; m < cluster.machines.length; m++) {
    let k = running.start[m];
    running.blocks(m, (c, base, height) => { top[k++] = base + height; });
  }
  return top;
}

export function paleOf(pixel, ground, share = 0.22) {
  let mixed = 0;
  for (const shift of [0, 8, 16]) {
    const a = (pixel >>> shift) & 255, b = (ground >>> shift) & 255;
    mixed |= Math.round(b + (a - b) * share) << shift;
  }
  return (mixed | 0xff000000) >>> 0;
}

export class BayPixels {
  constructor() { this.image = null; }

  sized(width, height) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
  }

  // `frames` visits the machines in sight: (machine, left, right, bottom, tall) in pixels.
  draw({ running, top, colour, lit }, inks, frames) {
    this.pixels.fill(inks.paper);
    frames((m, x, right, bottom, tall) => {
      this.fill(x, right, bottom - tall, bottom, inks.bay);
      this.blocks(running, m, { x, right, bottom, tall }, { top, colour, lit }, inks);
      if (running.margin[m] < 1) this.fill(x, right, bottom - running.margin[m] * tall, bottom - running.margin[m] * tall + 1, inks.hot);
      this.fill(x, right, bottom - tall, bottom - tall + 1, running.level[m] > 1 ? inks.over : right - x < NARROW ? inks.faint : inks.line);
    });
    return this.image;
  }

  blocks(running, m, { x, right, bottom, tall }, { top, colour, lit }, inks) {
    const { pixels, image } = this, { width, height } = image, { item, start } = running;
    const x0 = Math.max(0, Math.round(x)), x1 = Math.min(width, Math.round(right));
    if (x1 <= x0) return;
    let low = Math.round(bottom);
    for (let k = start[m], last = start[m + 1]; k < last; k++) {
      const high = Math.round(bottom - top[k] * tall);
      if (high >= low) continue;
      const c = item[k], gap = low - high >= SAFE_GAP ? 1 : 0;
      const ink = lit === null || lit[c] ? inks.colours[colour[c]] : inks.pale[colour[c]];
      for (let y = Math.max(0, high + gap), end = Math.min(height, low); y < end; y++) {
        const at = y * width;
        if (x1 - x0 > 12) pixels.fill(ink, at + x0, at + x1);
        else for (let p = at + x0; p < at + x1; p++) pixels[p] = ink;
      }
      low = high;
    }
  }

  fill(left, right, up, down, ink) {
    const { pixels, image } = this, { width, height } = image;
    const x0 = Math.max(0, Math.round(left)), x1 = Math.min(width, Math.round(right));
    const y1 = Math.min(height, Math.max(Math.round(up) + 1, Math.round(down)));
    if (x1 <= x0) return;
    for (let y = Math.max(0, Math.round(up)); y < y1; y++) pixels.fill(ink, y * width + x0, y * width + x1);
  }
}
