/* page_plot.js: plots. One is drawn when it comes near the view, all of them for print; those that went
 * stale (a choice, another theme, newer data) are drawn again in the same way. */

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

/* Plotly reads tags and templates in its texts: names are shown as they are. */
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/%\{/g, "% {");
}

const colour_bar = title => ({title: {text: plain(title), side: "right"}, thickness: 12});

function axis(t, title, more) {
  return Object.assign({title: {text: title && plain(title), standoff: 8}, gridcolor: t.grid, zerolinecolor: t.grid, linecolor: t.grid,
    tickcolor: t.grid, automargin: true, exponentformat: "power"}, more);
}

/* A plot: {node, height, make, gl, revision, drawn, stale, near}. drawn: Plotly has it, as it is or as it
 * was; stale: it must be drawn (again); near: its node is in the view or close to it. */
const plots = new Set();
const plot_of = new WeakMap(); /* by node */

function draw(plot) {
  const t = theme(), narrow = plot.node.clientWidth < 520;
  t.narrow = narrow;
  const {data, layout} = plot.make(t);
  const whole = Object.assign({
    height: plot.height, autosize: true, paper_bgcolor: t.paper, plot_bgcolor: t.paper, colorway: t.lines,
    font: {color: t.ink, size: narrow ? 11 : 12, family: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'},
    margin: {l: narrow ? 48 : 64, r: narrow ? 8 : 20, t: 30, b: 46}, hovermode: "closest", dragmode: "zoom",
    legend: {orientation: "h", x: 0, xanchor: "left", y: 1.01, yanchor: "bottom"}, uirevision: `choice ${plot.revision}`,
  }, layout);
  if (whole.scene) whole.scene.uirevision = "kept"; /* the camera, whatever is chosen */
  if (printing) whole.width = 680, whole.autosize = false;
  if (plot.gl && !plot.drawn) spare_contexts(plot);
  Plotly.react(plot.node, data, whole, {responsive: true, displaylogo: false, displayModeBar: printing || narrow ? false : "hover"});
  plot.drawn = true;
  plot.stale = false;
}

/* make(theme) gives {data, layout}. */
function add_plot(parent, height, make, gl) {
  const plot = {node: h("div", {class: "plot", style: `height:${height}px`}), height, make, gl: !!gl, revision: 0, drawn: false, stale: true, near: false};
  parent.append(plot.node);
  plots.add(plot);
  plot_of.set(plot.node, plot);
  watcher.observe(plot.node);
  return plot;
}

/* After a choice: what was zoomed is shown whole again. */
function redraw(plot) {
  plot.revision++;
  plot.stale = true;
  if (plot.near && window.Plotly) draw(plot);
}

/* What Plotly holds of a plot is given back; it will be drawn anew. */
function forget(plot) {
  if (plot.drawn) Plotly.purge(plot.node);
  plot.drawn = false;
  plot.stale = true;
}

const middle = node => {
  const box = node.getBoundingClientRect();
  return (box.top + box.bottom) / 2;
};

/* Browsers keep some 16 contexts of WebGL, and a plot takes up to three: those farthest away give theirs
 * back. */
function spare_contexts(plot) {
  const MOST = 4, here = middle(plot.node), distance = p => Math.abs(middle(p.node) - here);
  const others = [...plots].filter(p => p.gl && p.drawn && p !== plot).sort((a, b) => distance(b) - distance(a));
  others.filter(p => !p.near).slice(0, Math.max(0, others.length + 1 - MOST)).forEach(forget);
}

const watcher = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const plot = plot_of.get(entry.target);
    if (plot) plot.near = entry.isIntersecting;
  }
  draw_waiting();
}, {rootMargin: "300px 0px"});

/* plotly.js is a text of the page at first: what is read is on the screen before it is compiled. */
function start_plots() {
  const text = document.getElementById("plotly");
  if (window.Plotly || !text) return;
  const script = document.createElement("script");
  script.textContent = text.textContent;
  text.replaceWith(script);
  draw_waiting();
}

let turn = 0; /* of the timer for the next plot; 0: none waits */

/* From top to bottom, one after the other, so that what is on the screen is there at once. When nothing
 * is left to draw, the document's data-drawn is "all". */
function draw_waiting() {
  if (!window.Plotly || turn || printing) return;
  const waiting = [...plots].filter(plot => plot.near && plot.stale).sort((a, b) => middle(a.node) - middle(b.node));
  if (waiting.length === 0) {
    if (!document.documentElement.dataset.drawn) performance.mark("eciton-drawn");
    document.documentElement.dataset.drawn = "all";
    return;
  }
  draw(waiting[0]);
  turn = setTimeout(() => { turn = 0; draw_waiting(); }, 0);
}

function all_stale() {
  for (const plot of plots) plot.stale = true;
  draw_waiting();
}

/* Parts that are filled once they are opened; `printed`: paper has them too. */
function folded(parent, title, open, fill, printed) {
  let filled = false;
  const body = h("div"), node = h("details", {open, "data-printed": printed}, h("summary", null, title), body);
  node.fill = () => {
    if (!filled) fill(body);
    filled = true;
  };
  node.addEventListener("toggle", () => { if (node.open) node.fill(); });
  parent.append(node);
  if (open) node.fill();
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
  if (has_webgl) return add_plot(parent, height, make, true);
  parent.append(h("p", {class: "note"}, "This plot needs WebGL, which the browser does not offer."));
  return null;
}

dark_query.addEventListener("change", all_stale);

let unfolded = []; /* for paper */
window.addEventListener("beforeprint", () => {
  start_plots();
  printing = true;
  unfolded = [...document.querySelectorAll("details[data-printed]:not([open])")];
  for (const node of unfolded) {
    node.open = true;
    node.fill();
  }
  for (const plot of plots)
    if (plot.node.offsetParent !== null) draw(plot);
});
window.addEventListener("afterprint", () => {
  printing = false;
  for (const node of unfolded) node.open = false;
  all_stale();
});
