/* page_plot.js: plots. One is drawn when it comes near the view, all of them for print; those that went
 * stale (a choice, another theme, newer data) are drawn again in the same way. */

const dark_query = window.matchMedia("(prefers-color-scheme: dark)");
const PAPER = 680; /* px, the width of a plot in print */
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

/* Beside the plot, below it where there is no room. */
function colour_bar(t, title) {
  const own = {title: {text: plain(title), side: t.narrow ? "top" : "right"}, thickness: 12, exponentformat: "SI"};
  return t.narrow ? Object.assign(own, {orientation: "h", y: -55 / (t.height - 150), yanchor: "top", x: 0.5, xanchor: "center", len: 0.9, thickness: 9}) : own;
}

function axis(t, title, more) {
  return Object.assign({title: {text: title && plain(title), standoff: 8}, gridcolor: t.grid, zerolinecolor: t.grid, linecolor: t.grid,
    tickcolor: t.grid, automargin: true, exponentformat: "power"}, more);
}

/* A plot: {node, height, make, gl, revision, drawn, work, stale, near}. work: a promise of Plotly's end; drawn: Plotly has it, as it is or as it
 * was; stale: it must be drawn (again); near: its node is in the view or close to it. */
const plots = new Set();
const plot_of = new WeakMap(); /* by node */

/* Of whole numbers only whole ones are named. */
function whole_ticks(values) {
  const e = extent(values);
  return e && e[1] - e[0] < 10 && values.every(v => v === null || Number.isInteger(v)) ? {dtick: 1} : {};
}

/* The height of a plot whose axes have one scale, for these lists of places. */
function true_height(x, y) {
  const a = extent(x), b = extent(y), ratio = a && b && a[1] > a[0] ? (b[1] - b[0]) / (a[1] - a[0]) : 1;
  return width => Math.min(560, Math.max(220, Math.round(width < 520 ? (width - 70) * ratio + 150 : (width - 190) * ratio + 90)));
}

/* Axes of space with one scale, of a 3-D plot that shows these lists of places, each [x, y, z] of lists: the
 * whole of them is in the view, however long or flat it is. */
function scene_layout(t, titles, places) {
  const spans = [0, 1, 2].map(c => places.map(p => extent(p[c])).filter(e => e).reduce((a, e) => [Math.min(a[0], e[0]), Math.max(a[1], e[1])], [Infinity, -Infinity]));
  const most = Math.max(...spans.map(e => e[1] - e[0])) || 1;
  const ranges = spans.map(e => { const pad = Math.max(0.03 * (e[1] - e[0]), 0.02 * most); return [e[0] - pad, e[1] + pad]; });
  const size = ranges.map(r => r[1] - r[0]), scale = 1.75 / Math.hypot(...size);
  const far = 1.3 * Math.max(1, 1.15 * t.height / t.width);
  const own = i => ({title: {text: plain(titles[i])}, range: ranges[i], nticks: Math.max(3, Math.round(8 * size[i] / most)), showspikes: false,
    gridcolor: t.grid, zerolinecolor: t.grid, color: t.ink, backgroundcolor: t.paper});
  return {scene: {camera: {eye: {x: -0.75 * far, y: -1.3 * far, z: 0.8 * far}, center: {x: 0, y: 0, z: -0.1}}, xaxis: own(0), yaxis: own(1), zaxis: own(2), aspectmode: "manual",
    aspectratio: {x: size[0] * scale, y: size[1] * scale, z: size[2] * scale}, bgcolor: t.paper},
  margin: {l: 0, r: 0, t: 0, b: 0}, legend: {x: 0, y: 1, yanchor: "top", bgcolor: "rgba(0,0,0,0)"}};
}

const scene_height = width => width < 520 ? 400 : 520;

function draw_now(plot) {
  const t = theme(), width = printing ? PAPER : plot.node.clientWidth, narrow = width < 520;
  t.narrow = narrow;
  t.width = width;
  t.height = typeof plot.height === "function" ? plot.height(width) : plot.height;
  plot.node.style.height = `${t.height}px`;
  const {data, layout} = plot.make(t);
  const whole = Object.assign({
    height: t.height, autosize: true, paper_bgcolor: t.paper, plot_bgcolor: t.paper, colorway: t.lines,
    font: {color: t.ink, size: narrow ? 11 : 12, family: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'},
    margin: {l: narrow ? 48 : 64, r: narrow ? 8 : 20, t: 30, b: 46}, hovermode: "closest", dragmode: "zoom",
    legend: {orientation: "h", x: 0, xanchor: "left", y: 1.01, yanchor: "bottom"}, uirevision: `choice ${plot.revision}`,
  }, layout);
  if (whole.scene) whole.scene.uirevision = "kept"; /* the camera, whatever is chosen */
  if (printing) whole.width = width, whole.autosize = false;
  if (plot.gl && !plot.drawn && !printing) spare_contexts(plot);
  plot.drawn = true;
  plot.work = Promise.resolve(Plotly.react(plot.node, data, whole, {responsive: true, displaylogo: false, displayModeBar: printing || narrow ? false : "hover"}));
}


/* A plot that cannot be drawn leaves the others alone. */
function draw(plot) {
  plot.stale = false;
  try {
    draw_now(plot);
  } catch (error) {
    console.error(error);
    give_back(plot);
    plots.delete(plot);
    plot.node.replaceWith(h("p", {class: "warn"}, `This plot could not be drawn: ${error.message}`));
  }
}

/* make(theme) gives {data, layout}; theme has the width and height in px, and whether it is narrow, too.
 * height: px, or a function of the width. */
function add_plot(parent, height, make, gl) {
  const plot = {node: h("div", {class: "plot", style: `height:${typeof height === "function" ? height(1100) : height}px`}), height, make, gl: !!gl, revision: 0, drawn: false, stale: true, near: false};
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

/* What Plotly holds of a plot is given back, once it has come to the end of drawing it. */
function give_back(plot) {
  const node = plot.node;
  watcher.unobserve(node);
  if (plot.drawn) plot.work.then(() => Plotly.purge(node));
}

/* The same of one that stays on the page: it will be drawn anew. */
function forget(plot) {
  const node = h("div", {class: "plot", style: `height:${plot.node.style.height}`});
  give_back(plot);
  plot.node.replaceWith(node);
  plot_of.set(node, Object.assign(plot, {node, drawn: false, stale: true, near: false}));
  watcher.observe(node);
}

const middle = node => {
  const box = node.getBoundingClientRect();
  return (box.top + box.bottom) / 2;
};

/* Browsers keep some 16 contexts of WebGL, and a plot takes up to three: those farthest away give theirs
 * back. */
const MOST_CONTEXTS = 4; /* plots that have some */
function spare_contexts(plot) {
  const here = middle(plot.node), distance = p => Math.abs(middle(p.node) - here);
  const others = [...plots].filter(p => p.gl && p.drawn && p !== plot).sort((a, b) => distance(b) - distance(a));
  others.filter(p => !p.near).slice(0, Math.max(0, others.length + 1 - MOST_CONTEXTS)).forEach(forget);
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

let unfolded = [], stand_ins = []; /* for paper */

/* A picture of a plot in its place, whose contexts of WebGL go to the next one. Returns what takes it away
 * again. */
function stand_in(plot) {
  const node = plot.node, copy = node.cloneNode(true), pictures = copy.querySelectorAll("canvas"), layout = node._fullLayout;
  for (const name of (layout && layout._subplots && layout._subplots.gl3d) || []) layout[name]._scene.glplot.redraw();
  node.querySelectorAll("canvas").forEach((canvas, i) => {
    const size = canvas.getBoundingClientRect();
    pictures[i].replaceWith(h("img", {src: canvas.toDataURL(), class: canvas.className, alt: "", style: `${canvas.style.cssText};width:${size.width}px;height:${size.height}px`}));
  });
  forget(plot);
  plot.node.replaceWith(copy);
  return () => copy.replaceWith(plot.node);
}

window.addEventListener("beforeprint", () => {
  start_plots();
  printing = true;
  unfolded = [...document.querySelectorAll("details[data-printed]:not([open])")];
  for (const node of unfolded) {
    node.open = true;
    node.fill();
  }
  const shown = [...plots].filter(plot => plot.node.offsetParent !== null), many = shown.filter(plot => plot.gl).length > MOST_CONTEXTS;
  for (const plot of shown) {
    draw(plot);
    if (plot.gl && many) stand_ins.push(stand_in(plot));
  }
});
window.addEventListener("afterprint", () => {
  printing = false;
  for (const restore of stand_ins) restore();
  stand_ins = [];
  for (const node of unfolded) node.open = false;
  all_stale();
});
