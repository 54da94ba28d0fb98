// The table of moves: search, filters, sorting by any column, and only the rows that are in sight, so that thousands stay fast.
const ROW = 34, BEYOND = 12;  // pixels of a row; rows beyond the edges of what is in sight
const MOST_PRINTED = 1000;
const NET = "what the plan would lose without this move, after the price of the move";
const NAMES = new Intl.Collator("en", { numeric: true });  // web-2 before web-10

function columnsOf(cluster) {
  const { gains, noted, reasons } = cluster.header;
  const text = (title, key, name) => ({ title, key, name, compare: (a, b) => NAMES.compare(key(a), key(b)) });
  const number = (title, value, key, name) => ({ title, key, name, number: true, value, compare: (a, b) => value(a) - value(b) });
  const columns = [
    text("container", move => cluster.containerName(move.container), "container"),
    text("from", move => cluster.machineName(move.source), "machine"),
    text("to", move => cluster.machineName(move.target), "machine"),
  ];
  const batch = number("batch", move => move.batch || Infinity, move => move.batch ? String(move.batch) : "–", "batch");
  if (cluster.batches) columns.push(batch);
  if (reasons.length > 1 || noted) columns.push(text("reason", move => move.reason, "reason"));
  gains.forEach((label, k) => columns.push(number(label, move => move.gain[k], move => points(move.gain[k]), "gain")));
  if (noted) columns.push(number("net", move => move.net, move => points(move.net), "net"));
  if (cluster.header.why.some(Boolean)) columns.push(text("why", move => move.why, "why"));
  return columns;
}

class MovesTable {
  constructor(root, cluster, selection) {
    Object.assign(this, { root, cluster, selection, columns: columnsOf(cluster), sorted: null, rows: cluster.moves });
    this.area = root.querySelector("#rows");
    this.body = root.querySelector("#rows tbody");
    this.count = root.querySelector("#shown");
    this.search = cluster.moves.map(move => this.columns.map(column => column.key(move)).join("\n").toLowerCase());
    this.head();
    this.filters();
    this.area.addEventListener("scroll", () => this.draw());
    this.area.addEventListener("keydown", event => this.key(event));
    this.body.addEventListener("click", event => this.selection.select(this.moveAt(event)));
    this.body.addEventListener("pointerover", event => this.selection.point(this.moveAt(event)));
    this.body.addEventListener("pointerleave", () => this.selection.point(null));
    selection.listen(() => this.mark());
    for (const part of [this.area, root.querySelector(".filters")]) part.hidden = !cluster.moves.length;
    this.update();
  }

  head() {
    const row = this.root.querySelector("#rows thead tr");
    this.columns.forEach((column, k) => {
      const cell = made("th", { scope: "col", class: column.number ? "n" : "" });
      const button = made("button", { type: "button", title: column.name === "net" ? NET : null }, column.title);
      button.addEventListener("click", () => this.sortBy(k));
      cell.append(button);
      row.append(cell);
    });
  }

  filters() {
    const { cluster, root } = this, field = name => root.querySelector(`#filter-${name}`);
    this.fields = Object.fromEntries(["text", "workload", "machine", "batch", "reason"].map(name => [name, field(name)]));
    const named = values => [...new Set(values)].sort(NAMES.compare);
    this.workloads = cluster.moves.map(move => cluster.workloadName(move.workload));
    this.machines = cluster.moves.map(move => [cluster.machineName(move.source), cluster.machineName(move.target)]);
    choices(root.querySelector("#workload-names"), named(this.workloads));
    choices(root.querySelector("#machine-names"), named(this.machines.flat()));
    choices(this.fields.batch, named(cluster.moves.filter(move => move.batch).map(move => String(move.batch))));
    choices(this.fields.reason, cluster.header.reasons);
    this.fields.batch.parentElement.hidden = !cluster.batches;
    this.fields.reason.parentElement.hidden = cluster.header.reasons.length < 2;
    for (const input of Object.values(this.fields)) input.addEventListener("input", () => this.update());
    root.querySelector("#clear").addEventListener("click", () => {
      for (const input of Object.values(this.fields)) input.value = "";
      this.update();
    });
  }

  filter(name, value) {
    this.fields[name].value = value;
    this.update();
  }

  sortBy(k) {
    const down = this.sorted?.column === k ? !this.sorted.down : Boolean(this.columns[k].number);
    this.sorted = { column: k, down };
    this.root.querySelectorAll("#rows th").forEach((cell, at) => {
      if (at === k) cell.setAttribute("aria-sort", down ? "descending" : "ascending"); else cell.removeAttribute("aria-sort");
    });
    this.update();
  }

  // The moves that pass all filters, in order. A name that is known must be met exactly; a part of a name finds all that have it.
  update() {
    const { cluster, fields, columns, sorted } = this, value = name => fields[name].value.trim();
    const terms = value("text").toLowerCase().split(/\s+/).filter(Boolean), batch = value("batch"), reason = value("reason");
    const workload = matcher(value("workload"), this.workloads), machine = matcher(value("machine"), this.machines.flat());
    this.rows = cluster.moves.filter(move =>
      workload(this.workloads[move.index]) && this.machines[move.index].some(machine)
      && (!batch || String(move.batch) === batch) && (!reason || move.reason === reason)
      && terms.every(term => this.search[move.index].includes(term)));
    if (sorted) {
      const { compare } = columns[sorted.column], sign = sorted.down ? -1 : 1;
      this.rows.sort((a, b) => sign * compare(a, b) || a.index - b.index);
    }
    const all = cluster.moves.length, shown = this.rows.length;
    this.count.textContent = shown === all ? counted(all, "move") : `${shown.toLocaleString("en")} of ${counted(all, "move")}`;
    this.area.scrollTop = 0;
    this.area.querySelector("table").setAttribute("aria-rowcount", shown + 1);
    this.draw(true);
  }

  print(on) {
    this.printing = on;
    this.draw(true);
  }

  draw(fresh = false) {
    const all = Boolean(this.printing), first = all ? 0 : Math.max(0, Math.floor(this.area.scrollTop / ROW) - BEYOND);
    const most = all ? MOST_PRINTED : Math.ceil((this.area.clientHeight || 480) / ROW) + 2 * BEYOND;
    const last = Math.min(this.rows.length, first + most);
    if (!fresh && this.window?.[0] === first && this.window[1] === last) return;
    this.window = [first, last];
    const rest = all ? 0 : this.rows.length - last;
    const drawn = this.rows.slice(first, last).map((move, k) => this.row(move, first + k));
    this.body.replaceChildren(filler(first), ...drawn, filler(rest));
    const hidden = this.rows.length - MOST_PRINTED;
    if (!this.rows.length) this.note("No move passes these filters.");
    if (all && hidden > 0) this.note(`and ${hidden.toLocaleString("en")} more; filter to print others`);
    this.mark();
  }

  note(text) {
    this.body.append(made("tr", {}, made("td", { colspan: this.columns.length, class: "soft" }, text)));
  }

  row(move, place) {
    const row = made("tr", { "data-move": move.index, "aria-rowindex": place + 2, tabindex: "-1" });
    for (const column of this.columns) {
      const value = column.key(move), state = column.name === "gain" || column.name === "net" ? sign(column.value(move)) : "";
      const class_ = `${column.name} ${column.number ? "n" : ""} ${state}`.trim();
      row.append(made("td", { class: class_, title: column.name === "why" || value.length > 18 ? value : null }, value));
    }
    if (this.columns[0].name === "container") {
      const index = this.cluster.colour.index.get(move.workload), colour = index < OWN_COLOURS ? `s${index}` : "other";
      row.firstChild.prepend(made("i", { class: "swatch bayplan", style: `--c: var(--${colour})` }));
    }
    return row;
  }

  mark() {
    const { selected, pointed } = this.selection;
    for (const row of this.body.rows) {
      const move = row.dataset.move;
      if (move === undefined) continue;
      row.classList.toggle("pointed", pointed !== null && Number(move) === pointed.index);
      row.setAttribute("aria-selected", selected !== null && Number(move) === selected.index);
    }
  }

  moveAt(event) {
    const row = event.target.closest("tr[data-move]");
    return row ? this.cluster.moves[row.dataset.move] : null;
  }

  key(event) {
    const at = this.rows.indexOf(this.selection.selected), page = Math.floor(this.area.clientHeight / ROW) - 1;
    const jumps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: Infinity };
    if (event.key === "Escape") this.selection.select(null);
    if (!(event.key in jumps) || !this.rows.length || event.target.closest("thead")) return;
    event.preventDefault();
    this.choose(this.rows[Math.min(this.rows.length - 1, Math.max(0, jumps[event.key]))]);
  }

  // Select a move, and bring its row in sight if the filters let it pass.
  choose(move) {
    const at = this.rows.indexOf(move);
    if (at >= 0) this.reveal(at);
    this.selection.select(move);
  }

  reveal(k) {
    const head = this.area.querySelector("thead").offsetHeight, top = k * ROW, { scrollTop, clientHeight } = this.area;
    if (top < scrollTop) this.area.scrollTop = top;
    else if (top + ROW + head > scrollTop + clientHeight) this.area.scrollTop = top + ROW + head - clientHeight;
    this.draw();
  }
}

function matcher(text, names) {
  if (!text) return () => true;
  if (names.includes(text)) return name => name === text;
  const part = text.toLowerCase();
  return name => name.toLowerCase().includes(part);
}

function choices(list, values) {
  list.append(...values.map(value => made("option", { value }, value)));
}

function filler(rows) {
  return made("tr", { class: "filler", "aria-hidden": "true", style: `height: ${rows * ROW}px` });
}

function sign(value) {
  return value > 5e-7 ? "better" : value < -5e-7 ? "worse" : "";
}

function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== "") element.setAttribute(key, value);
  element.append(...children);
  return element;
}
