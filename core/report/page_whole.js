/* page_whole.js: head and end of the page, and the page as a whole: drawn at first, and again from newer
 * data. */

/* ---- head and end ---- */

function section(title) {
  return h("section", null, h("h2", null, title));
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
  if (DATA.live) node.append(h("p", {class: "soft", id: "unfinished"}, `This run goes on; the page follows it. As of ${time_text(DATA.written)}.`));
  else if (run && ENDS[run.status]) node.append(h("p", {class: "warn", id: "unfinished"}, ENDS[run.status]));
  return node;
}

function page_environment() {
  const run = DATA.run, node = section("Environment");
  const rows = [["folder", DATA.folder], ["page written", time_text(DATA.written)], ["by Eciton", DATA.version]];
  if (run) rows.push(["run's status", run.status], ["run by Eciton", run.version], ["script", run.script], ["data", run.data || "–"],
    ["backend", run.backend], ["device", run.device || "–"], ["instruction set", run.isa || "–"], ["--seed", run.seed || "–"],
    ...run.settings.map(([name, value]) => [`--set ${name}`, value]));
  node.append(h("div", {class: "paths"}, table(["", ""], rows)));
  return node;
}

function page_script() {
  const node = section("Script");
  node.append(h("pre", null, DATA.run.text));
  return node;
}

/* ---- the page as a whole ---- */

/* What is on the page, in its order: {key, reads, nodes}. `reads` is the JSON of all that a part is made
 * from: while it is the same, the part stays as it is. */
let parts = [];

function page_parts() {
  const {searches, sweeps, files, scenes, files_left_out, run, folder, version, written} = DATA, about = Object.assign({}, run, {text: null});
  return [
    ...searches.map(s => ({key: `search ${s.number}`, read: [s, searches.length > 1], make: () => search_section(s)})),
    ...sweeps.map(s => ({key: `sweep ${s.number}`, read: [s], make: () => sweep_section(s)})),
    {key: "files", read: [files, scenes, files_left_out], make: files_sections},
    {key: "environment", read: [about, folder, version, written], make: page_environment},
    ...(run && run.text ? [{key: "script", read: [run.text], make: page_script}] : []),
  ];
}

/* Nodes by names that do not change when the page is drawn again: headings above, kind, number. */
function landmarks(nodes) {
  const found = new Map(), counts = new Map();
  let h2 = "", h3 = "";
  for (const top of nodes)
    for (const node of [top, ...top.querySelectorAll("h2, h3, div.plot, select, details, .scroll, pre")]) {
      if (node.tagName === "H2") h2 = node.textContent, h3 = "";
      if (node.tagName === "H3") h3 = node.textContent;
      const own = node.tagName === "SELECT" ? node.parentNode.firstChild.textContent : node.tagName === "DETAILS" ? node.firstChild.textContent.replace(/\d+/g, "") : node.classList[0];
      const name = [h2, h3, node.tagName, own].join("\n"), n = counts.get(name) || 0;
      counts.set(name, n + 1);
      found.set(`${name}\n${n}`, node);
    }
  return found;
}

/* What the reader did to a part goes to the one that takes its place: what is open, chosen, zoomed,
 * scrolled. Plots that were drawn go on with their node. */
function carry(from, to) {
  const old = landmarks(from);
  const seen = new Set();
  const unfold = () => { /* one of them: what is in it changes the names of those behind it */
    for (const [name, node] of landmarks(to)) {
      if (node.tagName !== "DETAILS" || seen.has(node)) continue;
      seen.add(node);
      if (!old.has(name)) continue;
      node.open = old.get(name).open;
      if (!node.open) continue;
      node.fill();
      return true;
    }
    return false;
  };
  while (unfold());
  const choose = () => { /* one of the choices that differ; a choice may renew others */
    for (const [name, node] of landmarks(to)) {
      const before = node.tagName === "SELECT" && old.get(name);
      const i = before ? [...node.options].findIndex(option => option.text === before.value) : -1;
      if (i < 0 || node.selectedIndex === i) continue;
      node.selectedIndex = i;
      node.dispatchEvent(new Event("change"));
      return true;
    }
    return false;
  };
  for (let n = 0; n < 20 && choose(); n++);
  for (const [name, node] of landmarks(to)) {
    const before = old.get(name), plot = plot_of.get(node), drawn = before && plot_of.get(before);
    if (!before || !plot) continue;
    if (!drawn.drawn || drawn.gl !== plot.gl) continue;
    node.replaceWith(before);
    before.style.height = node.style.height;
    watcher.unobserve(node);
    plots.delete(drawn);
    plot_of.set(before, Object.assign(plot, {node: before, revision: drawn.revision, drawn: true, work: drawn.work, near: drawn.near}));
  }
  return () => { /* once it is on the page */
    for (const [name, node] of landmarks(to)) {
      const before = scrolled.get(old.get(name));
      if (before) [node.scrollLeft, node.scrollTop] = before;
    }
  };
}

const scrolled = new WeakMap(); /* boxes that were scrolled, [left, top] */

/* Puts these nodes into `parent`, in their order; those that are there already are not touched. */
function put_nodes(parent, nodes) {
  for (const node of [...parent.childNodes]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, i) => { if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] || null); });
}

/* Where the reader is: what is at the top of the view, and how high. */
function reading() {
  if (window.scrollY < 40) return null;
  let best = null;
  for (const [name, node] of landmarks(parts.flatMap(part => part.nodes))) {
    const top = node.getBoundingClientRect().top;
    if (node.offsetParent !== null && (!best || Math.abs(top - 40) < Math.abs(best.top - 40))) best = {name, top};
  }
  return best;
}

function go_on_reading(place) {
  const node = place && landmarks(parts.flatMap(part => part.nodes)).get(place.name);
  if (node) window.scrollBy({top: node.getBoundingClientRect().top - place.top, behavior: "instant"});
}

function make_part(part) {
  try {
    return [part.make()].flat();
  } catch (error) { /* the other parts are still worth reading */
    console.error(error);
    return [h("p", {class: "warn"}, `A part of the page could not be drawn: ${error.message}`)];
  }
}

function draw_page(data) {
  const page = document.getElementById("page"), place = reading(), focus = [...landmarks([page])].find(([, node]) => node === document.activeElement);
  for (const box of page.querySelectorAll(".scroll, pre")) if (box.scrollLeft || box.scrollTop) scrolled.set(box, [box.scrollLeft, box.scrollTop]);
  DATA = data;
  const after = [], next = page_parts().map(part => {
    const before = parts.find(p => p.key === part.key), reads = JSON.stringify(part.read);
    if (before && before.reads === reads) return before;
    const made = {key: part.key, reads, nodes: make_part(part)};
    if (before) after.push(carry(before.nodes, made.nodes));
    return made;
  });
  parts = next;
  const nodes = parts.flatMap(part => part.nodes), nav = h("nav", {"aria-label": "contents"});
  nodes.filter(node => node.tagName === "SECTION").forEach((node, i) => {
    node.id = `part-${i + 1}`;
    nav.append(h("a", {href: `#${node.id}`}, node.querySelector("h2").textContent));
  });
  const empty = DATA.searches.length === 0 && DATA.sweeps.length === 0 ? [h("p", {class: "warn"}, "The store holds no search and no sweep.")] : [];
  put_nodes(page, [page_head(), ...empty, nav, ...nodes]);
  for (const plot of plots)
    if (!plot.node.isConnected && !nodes.some(node => node.contains(plot.node))) {
      give_back(plot);
      plots.delete(plot);
    }
  after.forEach(scroll => scroll());
  go_on_reading(place);
  if (focus && document.activeElement !== focus[1]) {
    const again = landmarks([page]).get(focus[0]);
    if (again) again.focus({preventScroll: true});
  }
  if (window.Plotly) draw_waiting();
  else requestAnimationFrame(() => setTimeout(start_plots, 0));
}

/* ---- newer data ---- */

let newest = null, held = false;
window.addEventListener("pointerdown", () => { held = true; }, true);
for (const name of ["pointerup", "pointercancel", "blur"]) window.addEventListener(name, () => { held = false; }, true);

/* In the midst of a drag, of a choice or of a print nothing moves. */
function is_busy() {
  let choosing = false;
  try {
    choosing = document.querySelector("select:open") !== null;
  } catch (e) { /* a browser that cannot tell */ }
  return held || printing || choosing;
}

function show_newest() {
  if (!newest) return;
  if (parts.length > 0 && is_busy()) {
    setTimeout(show_newest, 200);
    return;
  }
  const data = newest;
  newest = null;
  draw_page(data);
}

/* ecitonPage.update(data) draws the page from an object like the JSON of its element "data", at first and
 * again whenever there are newer data; data.live: true where more will come. Sections whose data are as
 * they were stay untouched; the others keep what the reader opened, chose and zoomed, and the place where
 * he reads. While he drags or chooses the page waits, and then shows the newest data that it was given.
 * Data of another format are refused with an Error. */
window.ecitonPage = {
  update(data) {
    if (!data || data.format !== "eciton report 1") throw new Error(`a page draws data of the format "eciton report 1", got ${data && data.format}`);
    const waits = newest !== null;
    newest = data;
    if (!waits) show_newest();
  },
};
