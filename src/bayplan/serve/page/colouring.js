// What a colour means: the service, workload or group of a container, how full its machine is, or what a failure would take.
import { percent } from "./report.js";

const OWN = 11;  // services or workloads with a colour of their own: more cannot be told apart
const GREYS = ["s12", "s13", "s14"];  // of all others, in turn, so that neighbours can be told apart
const HEAT = 10;  // steps from nothing to all
const HOT = "h10", OVER = "h11";

export function colourings(cluster) {  // [value, words]
  const levels = cluster.levels.map(level => [`level:${level.name}`, level.name]);
  return [["service", "service"], ["workload", "workload"], ...levels, ["utilisation", "utilisation"], ["risk", "risk"]];
}

// For a way of colouring: the colour of each container as the name of a CSS variable's index in `names`, and its legend.
export function coloured(running, by) {
  if (by === "utilisation") return byUtilisation(running);
  if (by === "risk") return byRisk(running);
  if (by.startsWith("level:")) return byLevel(running, by.slice(6));
  return byOwner(running, by);
}

function byOwner(running, by) {
  const { cluster } = running, { workload } = cluster;
  const owner = by === "service" ? w => cluster.arrays.service[w] : w => w;
  const name = by === "service" ? k => serviceNamed(cluster, k) : k => cluster.workloadName(k);
  const size = new Map();
  for (const w of workload) size.set(owner(w), (size.get(owner(w)) ?? 0) + 1);
  const ranked = [...size].sort((a, b) => b[1] - a[1] || a[0] - b[0]), rank = new Map(ranked.map(([k], place) => [k, place]));
  const names = [...Array.from({ length: OWN }, (_, k) => `s${k}`), ...GREYS], of = new Uint8Array(workload.length);
  const ofWorkload = cluster.header.workloads.map((_, w) => {
    const place = rank.get(owner(w)) ?? 0;
    return place < OWN ? place : OWN + place % GREYS.length;
  });
  for (let c = 0; c < of.length; c++) of[c] = ofWorkload[workload[c]];
  const own = ranked.slice(0, OWN).map(([k, number], place) => ({ colour: `s${place}`, words: name(k), number, search: name(k) }));
  const others = ranked.slice(OWN), rest = others.reduce((sum, [, number]) => sum + number, 0);
  const more = others.length ? [{ colour: "s12", words: `${others.length.toLocaleString("en")} others`, number: rest }] : [];
  return { names, of, legend: [...own, ...more] };
}

function serviceNamed(cluster, s) {
  return cluster.header.services[s] ?? String(s);
}

function byLevel(running, name) {
  const { cluster } = running, level = cluster.levels.find(each => each.name === name);
  const names = [...Array.from({ length: 12 }, (_, k) => `s${k}`), "s12"], of = new Uint8Array(cluster.workload.length);
  for (let c = 0; c < of.length; c++) of[c] = running.machine[c] < 0 ? 12 : level.of[running.machine[c]] % 12;
  const legend = level.group.slice(0, 12).map((words, k) => ({ colour: `s${k}`, words }));
  const more = level.group.length > 12 ? [{ colour: "s12", words: `${level.group.length - 12} more; colours repeat` }] : [];
  return { names, of, legend: [...legend, ...more] };
}

const RAMP = [...Array.from({ length: HEAT }, (_, k) => `h${k}`), HOT, OVER];

function byUtilisation(running) {
  const { cluster } = running, of = new Uint8Array(cluster.workload.length);
  const step = Uint8Array.from(running.level, (level, m) => running.state[m] ? HEAT - 1 + running.state[m] : heat(level));
  for (let c = 0; c < of.length; c++) of[c] = running.machine[c] < 0 ? OVER_INDEX : step[running.machine[c]];
  const legend = [0.1, 0.5, 0.9].map(share => ({ colour: `h${heat(share)}`, words: `${percent(share)} full` }));
  return { names: RAMP, of, legend: [...legend, { colour: HOT, words: "above safety" }, { colour: OVER, words: "over capacity" }] };
}

const OVER_INDEX = RAMP.length - 1;

// Of each container: the share of its workload that runs on its machine, and would be lost with it.
function byRisk(running) {
  const { cluster, machine } = running, of = new Uint8Array(cluster.workload.length), count = new Map();
  const key = c => cluster.workload[c] * (cluster.machines.length + 1) + machine[c] + 1;
  for (let c = 0; c < of.length; c++) count.set(key(c), (count.get(key(c)) ?? 0) + 1);
  for (let c = 0; c < of.length; c++) {
    const share = count.get(key(c)) / cluster.arrays.replicas[cluster.workload[c]];
    of[c] = share >= 1 ? (cluster.arrays.replicas[cluster.workload[c]] > 1 ? OVER_INDEX : OVER_INDEX - 1) : heat(share);
  }
  const legend = [0.1, 0.5, 0.9].map(share => ({ colour: `h${heat(share)}`, words: percent(share) }));
  const about = { words: "of the workload runs on this machine, and would be lost with it" };
  return { names: RAMP, of, legend: [...legend, { colour: HOT, words: "the only container" }, { colour: OVER, words: "all of several" }, about] };
}

function heat(share) {
  return Math.min(HEAT - 1, Math.max(0, Math.floor(share * HEAT)));
}
