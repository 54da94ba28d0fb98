// The columns of a snapshot, as the service sends them, as the cluster that the pages of plans know.
import { Cluster } from "./report.js";

const NO_MOVES = { gains: [], noted: false, reasons: [], why: [] };

export function clusterOf(columns) {
  const { machines, workloads, containers, services, resources } = columns;
  const level = machines.levels.find(each => each.name === machines.grouped_by);
  const header = {
    ...NO_MOVES, resources, services, machines: machines.name, short: machines.short, workloads: workloads.name,
    names: containers.names, groups: level ? level.group : [""],
  };
  const none = () => new Int32Array(0);
  const arrays = {
    capacity: Float64Array.from(machines.capacity), safety: Float64Array.from(machines.safety), order: Int32Array.from(machines.order),
    group: level ? Int32Array.from(level.of) : new Int32Array(machines.name.length), service: Int32Array.from(workloads.service),
    request: Float64Array.from(workloads.request), replicas: Int32Array.from(workloads.replicas), before: Int32Array.from(containers.machine),
    twice: none(), twice_machine: none(), container: none(), source: none(), target: none(), gain: none(), net: none(), reason: none(),
    batch: none(), step_creates: none(), step_container: none(), step_machine: none(), batch_steps: none(), batch_start: none(),
    batch_end: none(), timed: Int32Array.of(0),
  };
  const cluster = new Cluster({ header, arrays });
  cluster.name = columns.name;
  cluster.levels = machines.levels.map(each => ({ ...each, of: Int32Array.from(each.of) }));
  return cluster;
}
