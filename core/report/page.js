/* page.js: what the other parts of the page share. The data are the JSON that core/cli_page*.c wrote; every
 * text of them goes into the page as text, never as HTML.
 *
 *   page.js         elements, numbers, names
 *   page_plot.js    plots: theme, when they are drawn
 *   page_search.js  searches          page_sweep.js  sweeps
 *   page_files.js   tables of the folder; of them page_structure.js what a model of ec.fdtd is made of
 *   page_whole.js   head, end, and the page as a whole: drawn at first, and again from newer data
 */

let DATA = null; /* what the page shows; only page_whole.js sets it */
const SCALE = "Viridis";

/* ---- elements ---- */

/* h("p", {class: "note"}, "text", node, ...) */
function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  for (const child of children.flat())
    if (child !== null && child !== undefined) node.append(child);
  return node;
}

/* A number as it is read: 6 digits; all of them where the pointer rests. */
function format(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return String(Number(value.toPrecision(6)));
}

function count(n, word) {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}

function time_text(seconds) {
  return seconds === null ? "–" : new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

function duration(s) {
  if (s === null || s === undefined) return "–";
  if (s < 120) return `${Number(s.toPrecision(3))} s`;
  const whole = Math.round(s), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

/* head: names, a number column's as {n: name}; rows of numbers, texts and nodes. */
function table(head, rows) {
  const numeric = head.map(name => typeof name === "object");
  const cell = (value, i) => h("td", {class: numeric[i] ? "n" : "name", title: typeof value === "number" ? String(value) : null},
    value instanceof Node ? value : format(value));
  return h("div", {class: "scroll"}, h("table", null,
    h("thead", null, h("tr", null, head.map((name, i) => h("th", {class: numeric[i] ? "n" : null}, numeric[i] ? name.n : name)))),
    h("tbody", null, rows.map(row => h("tr", null, row.map(cell))))));
}

/* A labelled list of choices; changed(index) is called when another one is taken. */
function choice(label, names, selected, changed) {
  const select = h("select", {onchange: () => changed(select.selectedIndex)},
    names.map((name, i) => h("option", {selected: i === selected}, name)));
  return h("label", null, label, select);
}

/* What a column of a file is called where it is read, with its unit. */
const UNITS = [["_bit_s_hz", "bit/s/Hz"], ["_dbi", "dBi"], ["_dbm", "dBm"], ["_db", "dB"], ["_hz", "Hz"], ["_deg", "deg"], ["_m", "m"], ["_s", "s"]];
function label_of(name) {
  for (const [ending, unit] of UNITS) {
    const stem = name.slice(0, -ending.length);
    if (name.endsWith(ending) && stem.length > 0) return `${stem.replace(/_/g, " ")} (${unit})`;
  }
  return name.replace(/_/g, " ");
}

/* What lengths of such a span in m are shown in: [m, unit]. */
function length_unit(span) {
  return span >= 1 ? [1, "m"] : span >= 1e-3 ? [1e-3, "mm"] : [1e-6, "µm"];
}

function unique(list) {
  return [...new Set(list.filter(x => x !== null))].sort((a, b) => a - b);
}

/* Smallest and largest number of a list of any length; null without one. */
function extent(list) {
  let low = Infinity, high = -Infinity;
  for (const x of list)
    if (typeof x === "number") {
      if (x < low) low = x;
      if (x > high) high = x;
    }
  return low <= high ? [low, high] : null;
}
