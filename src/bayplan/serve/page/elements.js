// Small pieces of the document.
import { made } from "./report.js";

export { made };

export function button(words, onClick, attributes = {}) {
  const element = made("button", { type: "button", ...attributes }, words);
  element.addEventListener("click", onClick);
  return element;
}

export function field(words, control, note = "") {
  return made("label", { class: "field" }, made("span", {}, words), control, note ? made("small", {}, note) : "");
}

export function choice(id, options, chosen = "") {
  const select = made("select", { id });
  select.append(...options.map(([value, words]) => made("option", { value, ...(value === chosen ? { selected: "selected" } : {}) }, words)));
  return select;
}

export function tiles(numbers) {  // [label, number, remark, class]
  const each = ([label, number, remark = "", class_ = ""]) => made("div", { class: "tile" },
    made("dt", {}, label), made("dd", {}, number, remark ? made("small", { class: class_ }, remark) : ""));
  return made("dl", { class: "tiles" }, ...numbers.map(each));
}

export function list(lines, attributes = {}) {
  return made("ul", { class: "plain", ...attributes }, ...lines.map(line => made("li", {}, line)));
}

export function table(heads, rows, label) {  // heads: [words, numeric?]
  const head = heads.map(([words, numeric]) => made("th", { scope: "col", class: numeric ? "n" : "" }, words));
  const body = rows.map(cells => made("tr", {}, ...cells.map((cell, k) => made("td", { class: heads[k][1] ? "n" : "" }, cell))));
  const whole = made("table", {}, made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, ...body));
  return made("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, whole);
}

const notice = document.getElementById("notice");
let fading = 0;

// Say something at the top: what was done, or what went wrong.
export function say(words, bad = false) {
  clearTimeout(fading);
  notice.textContent = words;
  notice.hidden = !words;
  notice.classList.toggle("bad", bad);
  if (!bad) fading = setTimeout(() => { notice.hidden = true; }, 6000);
}

// Run what a button does: it cannot be pressed again until that has ended, and a fault is said in words.
export async function busy(control, work) {
  control.disabled = true;
  try { return await work(); } catch (fault) {
    if (fault.name !== "AbortError") say(fault.message, true);
    return null;
  } finally { control.disabled = false; }
}
