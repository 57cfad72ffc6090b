/* page.js: what the other parts of the page share, its head and its end. The data are the JSON that
 * core/cli_page*.c wrote; every text of them goes into the page as text, never as HTML. */

const DATA = JSON.parse(document.getElementById("data").textContent);
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

/* ---- plots ---- */

const dark_query = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;

function theme() {
  const dark = dark_query.matches && !printing;
  return dark
    ? {ink: "#e6e9ec", grid: "#363c42", paper: "#15181b", accent: "#6cb6f0", edge: "#8a939b", limit: "#ff8a70", winner: "#ffb347",
       lines: ["#6cb6f0", "#ffb347", "#4fd1a5", "#e79ac5", "#f0e068", "#ff8a70", "#b9a4ff", "#9aa5ad"]}
    : {ink: "#1c2024", grid: "#e0e4e7", paper: "#ffffff", accent: "#0b66a8", edge: "#7d868e", limit: "#c8371b", winner: "#d55e00",
       lines: ["#0b66a8", "#d55e00", "#00856a", "#b0407f", "#8a7500", "#c8371b", "#5e48b8", "#5b636b"]};
}

const plots = []; /* {node, height, make, drawn} */

/* Plotly reads tags and templates in its texts: names are shown as they are. */
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/%\{/g, "% {");
}

const colour_bar = title => ({title: {text: plain(title), side: "right"}, thickness: 12});

function axis(t, title, more) {
  return Object.assign({title: {text: title && plain(title), standoff: 8}, gridcolor: t.grid, zerolinecolor: t.grid, linecolor: t.grid,
    tickcolor: t.grid, automargin: true, exponentformat: "power"}, more);
}

function draw(plot) {
  const t = theme(), narrow = plot.node.clientWidth < 520;
  t.narrow = narrow;
  const {data, layout} = plot.make(t);
  const whole = Object.assign({
    height: plot.height, autosize: true, paper_bgcolor: t.paper, plot_bgcolor: t.paper, colorway: t.lines,
    font: {color: t.ink, size: narrow ? 11 : 12, family: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'},
    margin: {l: narrow ? 48 : 64, r: narrow ? 8 : 20, t: 30, b: 46}, hovermode: "closest", dragmode: "zoom",
    legend: {orientation: "h", x: 0, xanchor: "left", y: 1.01, yanchor: "bottom"},
  }, layout);
  if (printing) whole.width = 680, whole.autosize = false;
  Plotly.react(plot.node, data, whole, {responsive: true, displaylogo: false, displayModeBar: printing || narrow ? false : "hover"});
  plot.drawn = true;
}

/* make(theme) gives {data, layout}. Drawn when its turn comes; again with redraw(). */
function add_plot(parent, height, make) {
  const plot = {node: h("div", {class: "plot", style: `height:${height}px`}), height, make, drawn: false};
  parent.append(plot.node);
  plots.push(plot);
  return plot;
}

function redraw(plot) {
  if (plot.drawn) draw(plot);
}

const is_shown = plot => plot.node.offsetParent !== null;

/* plotly.js is a text of the page at first: what is read is on the screen before it is compiled. */
function start_plots() {
  const text = document.getElementById("plotly"), script = document.createElement("script");
  script.textContent = text.textContent;
  text.replaceWith(script);
  draw_waiting();
}

/* In the order of the page, one after the other, so that what is on the screen is there at once. */
function draw_waiting() {
  if (!window.Plotly) return; /* it will begin */
  const next = plots.find(plot => !plot.drawn && is_shown(plot));
  if (!next) {
    document.documentElement.dataset.drawn = "all";
    return;
  }
  draw(next);
  setTimeout(draw_waiting, 0);
}

function draw_all() {
  for (const plot of plots)
    if (is_shown(plot)) draw(plot);
}

/* Parts that are drawn once they are opened. */
function folded(parent, title, open, fill) {
  let filled = false;
  const body = h("div"), node = h("details", {open}, h("summary", null, title), body);
  const show = () => {
    if (!node.open) return;
    if (!filled) fill(body);
    filled = true;
    setTimeout(draw_waiting, 0);
  };
  node.addEventListener("toggle", show);
  parent.append(node);
  show();
}

const has_webgl = (() => {
  try {
    return !!document.createElement("canvas").getContext("webgl");
  } catch (e) {
    return false;
  }
})();

/* 3-D and plots of many points need WebGL: without it a sentence is in their place. */
function add_gl_plot(parent, height, make) {
  if (has_webgl) return add_plot(parent, height, make);
  parent.append(h("p", {class: "note"}, "This plot needs WebGL, which the browser does not offer."));
  return null;
}

dark_query.addEventListener("change", draw_all);
window.addEventListener("beforeprint", () => {
  printing = true;
  if (!window.Plotly) start_plots();
  draw_all();
});
window.addEventListener("afterprint", () => { printing = false; draw_all(); });

/* ---- head and end ---- */

const contents = [];

function section(title) {
  const id = `part-${contents.length + 1}`, node = h("section", {id}, h("h2", null, title));
  contents.push([id, title]);
  return node;
}

function name_of(path) {
  return path ? path.replace(/.*\//, "") : null;
}

const ENDS = {
  running: "This run had not come to its end when the page was written: it goes on, or was killed. What is here is what its store held then.",
  interrupted: "This run was interrupted: what is here is what it had found by then. “eciton resume DIR” goes on with its searches.",
  failed: "This run ended with an error: what is here is what it had found by then.",
};

function page_head() {
  const run = DATA.run, title = run && run.script ? name_of(run.script) : name_of(DATA.folder);
  document.title = `${title} – Eciton report`;
  const node = h("header", null, h("h1", null, title),
    h("p", {class: "soft"}, run ? `Begun ${time_text(run.started)}` + (run.ended ? `, ended ${time_text(run.ended)} (${duration(run.ended - run.started)})` : "")
      + ` on ${run.device || run.backend}` : "The store tells of no run."));
  if (run && run.quick) node.append(h("p", {class: "warn"}, "Run with --quick: the budgets are small, the figures are not those of the whole search."));
  if (run && ENDS[run.status]) node.append(h("p", {class: "warn", id: "unfinished"}, ENDS[run.status]));
  return node;
}

function page_environment() {
  const run = DATA.run, node = section("Environment");
  const rows = [["folder", DATA.folder], ["page written", time_text(DATA.written)], ["by Eciton", DATA.version]];
  if (run) rows.push(["run's status", run.status], ["run by Eciton", run.version], ["script", run.script], ["data", run.data || "–"],
    ["backend", run.backend], ["device", run.device || "–"], ["instruction set", run.isa || "–"], ["--seed", run.seed || "–"],
    ...run.settings.map(([name, value]) => [`--set ${name}`, value]));
  node.append(table(["", ""], rows));
  return node;
}

function page_script() {
  const node = section("Script");
  node.append(h("pre", null, DATA.run.text));
  return node;
}

function page_assemble() {
  const page = document.getElementById("page"), nav = h("nav", {"aria-label": "contents"});
  const parts = [];
  for (const search of DATA.searches) parts.push(() => search_section(search));
  for (const sweep of DATA.sweeps) parts.push(() => sweep_section(sweep));
  parts.push(files_sections, page_environment);
  if (DATA.run && DATA.run.text) parts.push(page_script);
  page.replaceChildren(page_head(), nav);
  for (const part of parts) {
    const at = page.childElementCount;
    try {
      page.append(...[part()].flat());
    } catch (error) { /* the other parts are still worth reading */
      console.error(error);
      page.append(h("p", {class: "warn"}, `A part of the page could not be drawn: ${error.message}`));
    }
    if (page.childElementCount === at) continue;
  }
  if (DATA.searches.length === 0 && DATA.sweeps.length === 0) nav.before(h("p", {class: "warn"}, "The store holds no search and no sweep."));
  nav.append(...contents.map(([id, title]) => h("a", {href: `#${id}`}, title)));
  requestAnimationFrame(() => setTimeout(start_plots, 0));
}
