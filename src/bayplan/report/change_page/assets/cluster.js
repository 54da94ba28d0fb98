// The cluster, its moves, and what runs where after any batch of the plan.
const NONE = -1;  // no machine
const INFINITE = 1.25;  // a machine that runs what it has none of is drawn at least this high

class Cluster {
  constructor({ header, arrays }) {
    Object.assign(this, { header, arrays });
    this.machines = header.machines;
    this.resources = header.resources;
    this.kinds = Math.max(1, this.resources.length);
    this.workload = expanded(arrays.replicas);  // (container,)
    this.first = offsets(arrays.replicas);  // (workload,) its first container
    this.moves = Array.from(arrays.container, (container, k) => this.move(container, k));
    this.moveOf = new Int32Array(this.workload.length).fill(NONE);  // (container,)
    this.moves.forEach((move, k) => { this.moveOf[move.container] = k; });
    this.batches = arrays.batch_steps.length;
    this.colour = coloursOf(this.moves);
  }

  move(container, k) {
    const { arrays, header } = this, labels = header.gains.length;
    const gain = Array.from(arrays.gain.subarray(k * labels, (k + 1) * labels), value => value / 1e6);
    return {
      index: k, container, workload: this.workload[container], source: arrays.source[k], target: arrays.target[k],
      batch: arrays.batch[k], net: arrays.net[k] / 1e6, gain, reason: header.reasons[arrays.reason[k]], why: header.why[k],
    };
  }

  containerName(c) {
    const w = this.workload[c], k = c - this.first[w], odd = this.header.names[w];
    return odd ? odd[k] : `${this.header.workloads[w]}-${k}`;
  }

  workloadName(w) { return this.header.workloads[w]; }

  machineName(m) { return m === NONE ? "no machine" : this.machines[m]; }

  shortName(m) { return this.header.short[m] ?? this.machines[m]; }

  serviceName(w) {
    const { services, workloads } = this.header;
    return services.length ? services[this.arrays.service[w]] : workloads[this.arrays.service[w]];
  }

  request(c, r) { return this.resources.length ? this.arrays.request[this.workload[c] * this.kinds + r] : 0; }

  requests(c) {  // resource and amount, in words
    const amounts = this.resources.map((resource, r) => [resource.name, this.request(c, r), resource]);
    return amounts.filter(([, value]) => value).map(([name, value, resource]) => [name, amount(value, resource)]);
  }

  // The machine of each container, and the second one of those that run twice, after a number of batches.
  after(batches) {
    const { arrays } = this;
    const machine = Int32Array.from(arrays.before), second = new Int32Array(machine.length).fill(NONE);
    if (!this.batches) {
      if (batches) this.moves.forEach(move => { machine[move.container] = move.target; });
      return new Running(this, machine, second);
    }
    arrays.twice.forEach((c, k) => { second[c] = arrays.twice_machine[k]; });
    let steps = 0;
    for (let k = 0; k < batches; k++) steps += arrays.batch_steps[k];
    for (let s = 0; s < steps; s++) {
      const c = arrays.step_container[s], m = arrays.step_machine[s];
      if (arrays.step_creates[s]) {
        if (machine[c] === NONE) machine[c] = m; else second[c] = m;
      } else {
        if (machine[c] === m) machine[c] = second[c];
        second[c] = NONE;
      }
    }
    return new Running(this, machine, second);
  }
}

// What runs where: containers by machine, those that the plan moves on top; loads, and how full each machine is.
class Running {
  constructor(cluster, machine, second) {
    Object.assign(this, { cluster, machine, second });
    this.stack();
    this.fill();
  }

  stack() {
    const { cluster, machine, second } = this, size = cluster.machines.length;
    const start = new Int32Array(size + 1), unplaced = [];
    const each = visit => {
      for (const top of [false, true]) {
        for (let c = 0; c < machine.length; c++) {
          if ((cluster.moveOf[c] !== NONE) !== top) continue;
          visit(c, machine[c]);
          if (second[c] !== NONE) visit(c, second[c]);
        }
      }
    };
    each((c, m) => { if (m === NONE) unplaced.push(c); else start[m + 1]++; });
    for (let m = 0; m < size; m++) start[m + 1] += start[m];
    const item = new Int32Array(start[size]), next = start.slice();
    each((c, m) => { if (m !== NONE) item[next[m]++] = c; });
    Object.assign(this, { start, item, unplaced });
  }

  fill() {
    const { cluster } = this, { capacity, safety } = cluster.arrays, kinds = cluster.kinds, size = cluster.machines.length;
    this.load = new Float64Array(size * kinds);
    this.fullest = new Int32Array(size);
    this.level = new Float64Array(size);  // share of the fullest resource
    this.margin = new Float64Array(size).fill(1);  // safety share of it
    this.state = new Int8Array(size);  // 1: above safety, 2: over capacity
    let highest = INFINITE;
    for (let m = 0; m < size; m++) {
      let most = -Infinity;
      for (let r = 0; r < kinds; r++) {
        let load = 0;
        for (let k = this.start[m]; k < this.start[m + 1]; k++) load += cluster.request(this.item[k], r);
        const at = m * kinds + r, has = cluster.resources.length ? capacity[at] : 0;
        const share = has ? load / has : load ? Infinity : -1;
        this.load[at] = load;
        if (share > most) { most = share; this.fullest[m] = r; }
        if (has && load > safety[at]) this.state[m] = Math.max(this.state[m], 1);
        if (load > has) this.state[m] = 2;
      }
      this.level[m] = Math.max(0, most);
      const at = m * kinds + this.fullest[m];
      if (capacity[at]) this.margin[m] = safety[at] / capacity[at];
      if (Number.isFinite(most)) highest = Math.max(highest, most);
    }
    this.endless = this.level.map(level => level === Infinity ? 1 : 0);
    this.level = this.level.map(level => Math.min(level, highest));
    this.highest = this.level.reduce((a, b) => Math.max(a, b), 0);
  }

  // Visit the blocks of a machine from the bottom up: container, base and height as shares of the machine.
  blocks(m, visit) {
    const { cluster } = this, r = this.fullest[m], at = m * cluster.kinds + r;
    const whole = this.endless[m] ? this.load[at] / this.level[m] : cluster.arrays.capacity[at];
    let base = 0;
    for (let k = this.start[m]; k < this.start[m + 1]; k++) {
      const c = this.item[k], height = whole ? cluster.request(c, r) / whole : 0;
      visit(c, base, height);
      base += height;
    }
  }

  machineWords(m) {
    const { cluster } = this, lines = [`${cluster.machines[m]}: ${counted(this.start[m + 1] - this.start[m], "container")}`];
    cluster.resources.forEach((resource, r) => {
      const at = m * cluster.kinds + r, has = cluster.arrays.capacity[at];
      if (has) lines.push(`${resource.name}: ${percent(this.load[at] / has)} of ${amount(has, resource)}`);
      else if (this.load[at]) lines.push(`${resource.name}: it has none, but runs what needs it`);
    });
    if (this.state[m]) lines.push(this.state[m] === 2 ? "over capacity" : "above its safety capacity");
    return lines.join("\n");
  }
}

const OWN_COLOURS = 11;  // workloads with a colour of their own: more cannot be told apart

// (workload -> colour) those with most moves first; the others share one.
function coloursOf(moves) {
  const count = new Map();
  for (const { workload } of moves) count.set(workload, (count.get(workload) ?? 0) + 1);
  const ranked = [...count].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const index = new Map(ranked.map(([w], k) => [w, Math.min(k, OWN_COLOURS)]));
  return { index, ranked };
}

function expanded(replicas) {
  const total = replicas.reduce((a, b) => a + b, 0), owner = new Int32Array(total);
  let at = 0;
  replicas.forEach((number, w) => { owner.fill(w, at, at + number); at += number; });
  return owner;
}

function offsets(replicas) {
  const first = new Int32Array(replicas.length);
  for (let w = 1; w < replicas.length; w++) first[w] = first[w - 1] + replicas[w - 1];
  return first;
}
