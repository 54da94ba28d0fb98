// Pages that the service makes, shown inside of this one: their pictures and tables, without a page around them.
import { made } from "./elements.js";
import { text } from "./service.js";
import { ChangePage, Cluster, Pictures, Tooltip, decode, enliven } from "./report.js";

const LEFT_OUT = "footer, #tip, noscript, script";
const STYLES = /<style[\s\S]*?<\/style>/g;  // report.css has them; the parser would report each as refused
const tip = new Tooltip(document.getElementById("tip"));

// The parts of a page at an address, in a box; `data` is what its scripts would read.
export async function reportAt(path) {
  const parsed = new DOMParser().parseFromString((await text(path)).replace(STYLES, ""), "text/html");
  const data = parsed.getElementById("data")?.textContent.trim() ?? "";
  for (const part of parsed.querySelectorAll(LEFT_OUT)) part.remove();
  for (const heading of parsed.querySelectorAll("h1")) heading.replaceWith(made("h2", { class: heading.className }, ...heading.childNodes));
  for (const scroll of parsed.querySelectorAll(".scroll:not([tabindex])")) {  // what scrolls can be reached with a keyboard
    scroll.setAttribute("tabindex", "0");
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Table");
  }
  const box = made("div", { class: "report" });
  box.append(...document.adoptNode(parsed.querySelector("main") ?? parsed.body).childNodes);
  return { box, data };
}

// Show a static page: tables can be sorted, parts of pictures say what they are.
export async function showReport(path, root) {
  const { box } = await reportAt(path);
  root.replaceChildren(box);
  enliven(box);
  new Pictures(box, tip);
  return box;
}

// Show the page of a change: both bay plans, the moves, the timeline.
export class ChangeReport {
  constructor(root) { this.root = root; }

  async show(path) {
    const { box, data } = await reportAt(path), cluster = data ? new Cluster(await decode(data)) : null;
    this.change?.close();
    this.change = null;
    this.root.replaceChildren(box);
    enliven(box);
    if (cluster) this.change = new ChangePage(cluster);
    for (const section of box.querySelectorAll(":scope > section:not(.card)")) section.replaceWith(folded(section));
    return box;
  }

  clear() {
    this.change?.close();
    this.change = null;
    this.root.replaceChildren();
  }
}

// A section that is read now and then: its heading opens it.
function folded(section) {
  const heading = section.querySelector("h2");
  const box = made("details", { class: "folded" }, made("summary", {}, heading.textContent));
  heading.remove();
  box.append(...section.childNodes);
  return box;
}
