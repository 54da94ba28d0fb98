// Calls of the service: JSON in and out, faults in words, events of jobs as they come.
const WRITES = { "X-Bayplan": "page" };  // a page of another site cannot send this header

export class Problem extends Error {
  constructor(status, body) {
    super(problemWords(status, body));
    Object.assign(this, { status, body });
  }
}

// What went wrong and what to do; the text has the fault numbers of bayplan.
function problemWords(status, body) {
  const [fault] = body?.faults ?? [], said = body?.detail || body?.title || `the service answered ${status}`;
  return fault?.action ? `${said}; ${fault.action}` : said;
}

async function answered(response) {
  if (response.ok) return response;
  const text = await response.text();
  let body = null;
  try { body = JSON.parse(text); } catch { /* not JSON: the status says enough */ }
  throw new Problem(response.status, body);
}

export async function read(path) {
  return (await answered(await fetch(path, { headers: { Accept: "application/json" } }))).json();
}

export async function text(path) {
  return (await answered(await fetch(path))).text();
}

export async function send(path, body, method = "POST") {
  const headers = { ...WRITES, Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const response = await answered(await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
  return response.status === 204 ? null : response.json();
}

export async function upload(file) {
  const packed = file.name.endsWith(".gz"), headers = { ...WRITES, ...(packed ? { "Content-Encoding": "gzip" } : {}) };
  return (await answered(await fetch("v1/snapshots", { method: "POST", headers, body: file }))).json();
}

const ENDED = new Set(["done", "failed", "cancelled", "interrupted"]);

// Follow a job until it ends: `on` is called with the kind of each event and its data. Resolves with the job.
export function follow(id, on, signal) {
  return new Promise((resolve, reject) => {
    const source = new EventSource(`v1/jobs/${id}/events`);
    const end = async () => {
      source.close();
      try { resolve(await read(`v1/jobs/${id}`)); } catch (fault) { reject(fault); }
    };
    signal?.addEventListener("abort", () => { source.close(); reject(new DOMException("another question was asked", "AbortError")); });
    for (const kind of ["state", "progress", "incumbent", "ended"]) {
      source.addEventListener(kind, event => {
        const data = event.data ? JSON.parse(event.data) : {};
        on(kind, data);
        if (kind === "ended" || (kind === "state" && ENDED.has(data.state))) end();
      });
    }
    source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) end(); });
  });
}

// Start a job and follow it to its end; a job that did not end well is a fault with its reason.
export async function decide(verb, snapshot, options, { on = () => {}, started = () => {}, signal } = {}) {
  const job = await send("v1/jobs", { verb, ...(snapshot ? { snapshot } : {}), options });
  started(job);
  const ended = await follow(job.id, on, signal);
  if (ended.state === "failed") throw new Problem(500, ended.failure ?? { detail: "the job failed" });
  return ended;
}
