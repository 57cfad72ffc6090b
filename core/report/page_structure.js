/* page_structure.js: what a model of ec.fdtd is made of (structure.csv): boxes, plates, cylinders, spheres,
 * polygons, wires, ports and the domain, as triangles and lines. */

/* Triangles of a simple polygon, corners in cyclic order: ears are cut off (G. H. Meisters, Amer. Math.
 * Monthly 82, 1975). points: [[u, v], ...]; the answer has indices. */
function ears(points) {
  const cross = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const area = points.reduce((sum, p, i) => { const q = points[(i + 1) % points.length]; return sum + p[0] * q[1] - p[1] * q[0]; }, 0);
  const left = points.map((_, i) => i), found = [], way = area < 0 ? -1 : 1;
  const is_ear = k => {
    const n = left.length, [a, b, c] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]], [p, q, r] = [points[a], points[b], points[c]];
    if (way * cross(p, q, r) <= 0) return false;
    return left.every(i => i === a || i === b || i === c || way * cross(p, q, points[i]) < 0 || way * cross(q, r, points[i]) < 0 || way * cross(r, p, points[i]) < 0);
  };
  while (left.length > 2) {
    let k = left.findIndex((_, i) => is_ear(i));
    if (k < 0) k = 0; /* corners on one line */
    const n = left.length;
    found.push([left[(k + n - 1) % n], left[k], left[(k + 1) % n]]);
    left.splice(k, 1);
  }
  return found;
}

/* Corners and triangles of one object, and lines along its edges. low, high: [3]; axis: of its length, or
 * -1. */
function shape_of(kind, low, high, axis, inner, points) {
  const at = [], triangles = [], lines = [];
  const put = list => { const first = at.length; at.push(...list); return first; };
  const place = (a, u, v, x) => { const p = [0, 0, 0]; p[a] = x; p[(a + 1) % 3] = u; p[(a + 2) % 3] = v; return p; };
  const side = (first, second, n) => { /* between two rings of n corners */
    for (let i = 0; i < n; i++) {
      const j = (i + 1) % n;
      triangles.push([first + i, first + j, second + j], [first + i, second + j, second + i]);
    }
  };
  const ring_line = (first, n) => lines.push(Array.from({length: n + 1}, (_, i) => at[first + i % n]));
  const prism = (a, corners) => { /* a polygon from low to high along a */
    const n = corners.length, lid = ears(corners), flat = high[a] === low[a];
    const bottom = put(corners.map(p => place(a, p[0], p[1], low[a])));
    triangles.push(...lid.map(l => l.map(i => bottom + i)));
    ring_line(bottom, n);
    if (flat) return;
    const top = put(corners.map(p => place(a, p[0], p[1], high[a])));
    triangles.push(...lid.map(l => l.map(i => top + i)));
    side(bottom, top, n);
    ring_line(top, n);
    if (n < 24) for (let i = 0; i < n; i++) lines.push([at[bottom + i], at[top + i]]);
  };
  const middle = i => 0.5 * (low[i] + high[i]), circle = (u, v, r, n) => Array.from({length: n}, (_, i) => [u + r * Math.cos(2 * Math.PI * i / n), v + r * Math.sin(2 * Math.PI * i / n)]);
  if (kind === "polygon" && points.length > 2) prism(axis, points);
  else if (kind === "cylinder" && axis >= 0) {
    const u = (axis + 1) % 3, v = (axis + 2) % 3, outer = circle(middle(u), middle(v), 0.5 * (high[u] - low[u]), 40);
    if (!(inner > 0)) prism(axis, outer);
    else {
      const rings = [low[axis], high[axis]].map(x => [outer, circle(middle(u), middle(v), inner, 40)].map(c => put(c.map(p => place(axis, p[0], p[1], x)))));
      side(rings[0][0], rings[1][0], 40);
      side(rings[0][1], rings[1][1], 40);
      for (const [out, hole] of rings) side(out, hole, 40), ring_line(out, 40), ring_line(hole, 40);
    }
  } else if (kind === "sphere") {
    const r = 0.5 * (high[0] - low[0]), n = 28, rings = [];
    for (let i = 0; i <= 14; i++) {
      const theta = Math.PI * i / 14;
      rings.push(put(circle(middle(0), middle(1), r * Math.sin(theta), n).map(p => [p[0], p[1], middle(2) + r * Math.cos(theta)])));
      if (i > 0) side(rings[i - 1], rings[i], n);
    }
    ring_line(rings[7], n);
  } else { /* boxes; plates and wires are boxes without an extent along one or two axes */
    const wide = [0, 1, 2].filter(i => high[i] > low[i]);
    if (wide.length < 2) lines.push([low, high]);
    else {
      const a = wide.length === 3 ? 2 : [0, 1, 2].find(i => !wide.includes(i)), u = (a + 1) % 3, v = (a + 2) % 3;
      prism(a, [[low[u], low[v]], [high[u], low[v]], [high[u], high[v]], [low[u], high[v]]]);
    }
  }
  return {at, triangles, lines};
}

/* Rows of the file as objects. */
function structure_rows(file) {
  const get = name => file_column(file, name), columns = ["part", "kind", "name", "material", "axis", "points_m"].map(get);
  const [eps, sigma, loss, radius, inner] = ["eps_r", "conductivity_s_m", "loss_tangent", "radius_m", "inner_radius_m"].map(get);
  const ends = ["low", "high"].map(end => ["x", "y", "z"].map(c => get(`${c}_${end}_m`)));
  const text = v => v === null || v === undefined ? "" : String(v);
  return columns[0].map((part, i) => ({
    part, kind: text(columns[1][i]), name: text(columns[2][i]), material: text(columns[3][i]), axis: ["x", "y", "z"].indexOf(columns[4][i]),
    points: text(columns[5][i]).split(";").filter(p => p).map(p => p.trim().split(/\s+/).map(Number)),
    low: ends[0].map(c => c[i]), high: ends[1].map(c => c[i]), eps: eps[i], sigma: sigma[i], loss: loss && loss[i], radius: radius[i], inner: inner[i],
  })).filter(r => [...r.low, ...r.high].every(v => typeof v === "number"));
}

function material_text(r) {
  if (r.part !== "object") return "–";
  const figures = [r.eps !== null && r.material !== "air" ? `eps_r ${format(r.eps)}` : null, r.sigma > 0 ? `${format(r.sigma)} S/m` : null, r.loss > 0 ? `tan δ ${format(r.loss)}` : null].filter(x => x);
  return `${r.material || "unnamed"}${figures.length ? ` (${figures.join(", ")})` : ""}`;
}

function draw_structure(node, file) {
  const rows = structure_rows(file), objects = rows.filter(r => r.part === "object"), ports = rows.filter(r => r.part === "port"), domain = rows.find(r => r.part === "domain");
  if (rows.length === 0) return false;
  const inner = objects.length ? [...objects, ...ports] : rows;
  const span = Math.max(...[0, 1, 2].map(c => Math.max(...inner.map(r => Math.max(r.low[c], r.high[c]))) - Math.min(...inner.map(r => Math.min(r.low[c], r.high[c])))));
  const [scale, unit] = length_unit(span), scaled = p => p.map(v => v / scale);
  const extent_text = r => ["x", "y", "z"].map((c, i) => r.low[i] === r.high[i] ? `${c} ${format(r.low[i] / scale)}` : `${c} ${format(r.low[i] / scale)} … ${format(r.high[i] / scale)}`).join(", ");
  const about = r => `${r.part === "port" ? "port " : ""}${r.name || r.kind}: ${r.kind}${r.part === "object" ? `, ${material_text(r)}` : ""}<br>${extent_text(r)} ${unit}`;
  node.append(h("p", {class: "note"}, `${count(objects.length, "object")} and ${count(ports.length, "port")} of the best design.`
    .replace("of the best design", /(^|\/)structure(_\d+)?\.csv$/.test(file.name) ? "of the best design" : "of the design that was saved")));
  add_gl_plot(node, scene_height, t => structure_plot(t, {objects, ports, domain, scaled, unit, about}));
  folded(node, "Table of the structure", false, body => body.append(table(["", "kind", "name", "material", {n: `x (${unit})`}, {n: `y (${unit})`}, {n: `z (${unit})`}],
    rows.map(r => [r.part, r.kind, r.name, material_text(r), ...[0, 1, 2].map(i => r.low[i] === r.high[i] ? format(r.low[i] / scale) : `${format(r.low[i] / scale)} … ${format(r.high[i] / scale)}`)]))));
  return true;
}

function structure_plot(t, {objects, ports, domain, scaled, unit, about}) {
  const palette = ["#6fae5b", "#d9a441", "#c77373", "#6a9bd1", "#a685c4", "#c9c04a", "#5fb5ad", "#b28f6c"];
  const groups = new Map(), places = [], edges = {x: [], y: [], z: []};
  const push = (to, p, text) => {
    const q = p ? scaled(p) : [null, null, null];
    ["x", "y", "z"].forEach((c, i) => to[c].push(q[i]));
    if (to.text) to.text.push(text);
  };
  const add_lines = (to, lines, text) => {
    for (const line of lines) {
      for (const p of line) push(to, p, text);
      push(to, null, text);
    }
  };
  const add = (key, style, r) => {
    if (!groups.has(key)) groups.set(key, {style, mesh: {x: [], y: [], z: [], i: [], j: [], k: [], text: []}, lines: {x: [], y: [], z: [], text: []}});
    const g = groups.get(key), shape = shape_of(r.kind, r.low, r.high, r.axis, r.inner, r.points), first = g.mesh.x.length, text = plain_lines(about(r));
    for (const p of shape.at) push(g.mesh, p, text);
    for (const [i, j, k] of shape.triangles) g.mesh.i.push(first + i), g.mesh.j.push(first + j), g.mesh.k.push(first + k);
    add_lines(shape.triangles.length ? edges : g.lines, shape.lines, text);
    for (const c of [r.low, r.high]) places.push(scaled(c).map(v => [v]));
  };
  let n = 0;
  const styles = new Map();
  for (const r of objects) {
    const key = material_text(r), conducts = r.eps === null, air = r.material === "air";
    if (!styles.has(key)) styles.set(key, conducts ? {color: "#c77b3a", opacity: 1} : air ? {color: t.edge, opacity: 0.25} : {color: palette[n++ % palette.length], opacity: 0.4});
    add(key, styles.get(key), r);
  }
  for (const r of ports) add("ports", {color: t.limit, opacity: 0.9}, Object.assign({}, r, {kind: "box", low: r.low.map((v, i) => Math.min(v, r.high[i])), high: r.low.map((v, i) => Math.max(v, r.high[i])), points: []}));
  const data = [];
  for (const [key, {style, mesh, lines}] of groups) {
    const name = plain(key);
    if (mesh.i.length)
      data.push(Object.assign({type: "mesh3d", name, legendgroup: key, showlegend: true, flatshading: true, lighting: {ambient: 0.75, diffuse: 0.5, specular: 0.05}, hovertemplate: "%{text}<extra></extra>"}, style, mesh));
    if (lines.x.length)
      data.push(Object.assign({type: "scatter3d", mode: "lines", name, legendgroup: key, showlegend: mesh.i.length === 0, line: {color: style.color, width: 7}, connectgaps: false, hovertemplate: "%{text}<extra></extra>"}, lines));
  }
  if (edges.x.length) data.push(Object.assign({type: "scatter3d", mode: "lines", name: "edges", showlegend: false, line: {color: t.edge, width: 1.5}, connectgaps: false, hoverinfo: "skip"}, edges));
  if (ports.length) {
    const mid = i => ports.map(r => scaled(r.low.map((v, c) => 0.5 * (v + r.high[c])))[i]);
    data.push({type: "scatter3d", mode: "text", name: "names of ports", showlegend: false, x: mid(0), y: mid(1), z: mid(2), text: ports.map(r => plain(r.name)), textposition: "top center", textfont: {color: t.ink}, hoverinfo: "skip"});
  }
  if (domain) {
    const box = {x: [], y: [], z: []};
    add_lines(box, shape_of("box", domain.low, domain.high, -1, null, []).lines);
    data.push(Object.assign({type: "scatter3d", mode: "lines", name: "domain", line: {color: t.edge, width: 1.5, dash: "dot"}, connectgaps: false, hoverinfo: "skip"}, box));
    for (const c of [domain.low, domain.high]) places.push(scaled(c).map(v => [v]));
  }
  return {data, layout: scene_layout(t, ["x", "y", "z"].map(c => `${c} (${unit})`), places)};
}

/* Names as they are, with the lines that are ours. */
function plain_lines(text) {
  return text.split("<br>").map(plain).join("<br>");
}
