/* page_files.js: the tables among the files of --out. What a table is its columns say: elements of an
 * array, cuts and maps of a pattern, S-parameters, channel matrices, antennas, paths, coverage. */

const file_column = (file, name) => {
  const i = file.columns.indexOf(name);
  return i < 0 ? null : file.values[i];
};
const has_columns = (file, ...names) => names.every(name => file.columns.includes(name));
/* A table of paths between antennas: with several frequencies the gain of each, gain_db[1] and on. */
const gain_of = file => (file.columns || []).find(name => name === "gain_db" || name === "gain_db[1]");
const is_paths = file => file.columns !== undefined && file.columns.includes("points") && gain_of(file) !== undefined;
const is_numeric = list => list.every(v => v === null || typeof v === "number");

function thinned_note(file) {
  if (file.strongest !== null)
    return h("p", {class: "note"}, `Of the file's ${count(file.total, "path")} those are drawn that are among the ${file.strongest} strongest of their pair of antennas.`);
  return file.shown < file.total ? h("p", {class: "note"}, file.grid
    ? `Of ${file.total.toLocaleString("en")} points of the grid ${file.grid[0]} x ${file.grid[1]} are drawn.`
    : `Of ${file.total.toLocaleString("en")} rows ${file.shown.toLocaleString("en")}, evenly chosen, are drawn.`) : null;
}

/* The name of the file that belongs to one: "search_2/antennas_3.csv" to "search_2/paths_3.csv". */
const beside = (name, from, to) => name.replace(new RegExp(`(^|/)${from}`), `$1${to}`);

const to_scale = more => Object.assign({scaleanchor: "x", scaleratio: 1}, more);

/* ---- arrays ---- */

function draw_elements(node, file) {
  const [x, y, z, a, p] = ["x", "y", "z", "amplitude", "phase_deg"].map(name => file_column(file, name));
  const flat = list => { const e = extent(list); return !e || e[1] - e[0] <= 1e-9 * Math.max(1, Math.abs(e[0]), Math.abs(e[1])); };
  const text = a.map((v, i) => `element ${i + 1}: amplitude ${format(v)}, phase ${format(p[i])} deg`);
  let shown = 0;
  const colour = () => [a, p][shown], title = () => ["amplitude", "phase (deg)"][shown];
  const marker = (t, size) => ({size, color: colour(), colorscale: SCALE, showscale: true, colorbar: colour_bar(t, title())});
  const choices = h("div", {class: "choices"});
  node.append(h("p", {class: "note"}, `${count(file.total, "element")}; lengths in m, or in wavelengths where the script has a wavelength of 1.`), choices);
  let plot;
  if (flat(z) && flat(y)) {
    plot = add_plot(node, 260, t => ({
      data: [{x, y: colour(), type: "bar", width: (extent(x)[1] - extent(x)[0] || 1) / Math.max(400, 3 * x.length), marker: {color: t.accent}, hoverinfo: "skip"},
        {x, y: colour(), mode: "markers", marker: {size: 7, color: t.accent}, text, hovertemplate: "x %{x:.6g}<br>%{text}<extra></extra>"}],
      layout: {showlegend: false, xaxis: axis(t, "x"), yaxis: axis(t, title())},
    }));
  } else if (flat(z)) {
    plot = add_plot(node, true_height(x, y), t => ({
      data: [{x, y, mode: "markers", type: x.length > 4000 && has_webgl ? "scattergl" : "scatter", marker: marker(t, x.length > 1000 || t.narrow ? 4 : 8), text, hovertemplate: "x %{x:.6g}, y %{y:.6g}<br>%{text}<extra></extra>"}],
      layout: {xaxis: axis(t, "x", {constrain: "domain"}), yaxis: axis(t, "y", to_scale({constrain: "domain"}))},
    }), x.length > 4000);
  } else {
    plot = add_gl_plot(node, scene_height, t => {
      const data = [{type: "scatter3d", mode: "markers", x, y, z, marker: marker(t, t.narrow ? 2.5 : 4), text, hovertemplate: "x %{x:.6g}, y %{y:.6g}, z %{z:.6g}<br>%{text}<extra></extra>"}];
      return {data, layout: scene_layout(t, ["x", "y", "z"], [[x, y, z]])};
    });
  }
  if (plot) choices.append(choice("quantity", ["amplitude", "phase"], 0, i => { shown = i; redraw(plot); }));
}

const ANGLES = ["u", "v", "theta_deg", "phi_deg"];

/* A cut, with the limits of its mask. */
function draw_cut(node, file) {
  const name = file.columns[0], x = file.values[0], level = file_column(file, "level_db");
  const top = extent(level), limits = extent(["max_db", "min_db"].flatMap(c => file_column(file, c) || []).filter(v => v !== null));
  const floor = Math.min(top ? Math.max(top[0], top[1] - 60) : -60, limits ? Math.max(limits[0] - 5, (top ? top[1] : 0) - 120) : 0);
  const ceiling = Math.max(top ? top[1] : 0, limits ? limits[1] : -Infinity) + 3;
  add_plot(node, 360, t => {
    const data = [{x, y: level, mode: "lines", name: "level", line: {color: t.accent, width: 1.5}, hovertemplate: `${plain(name)} %{x:.6g}<br>%{y:.3f} dB<extra></extra>`}];
    for (const [column, title] of [["max_db", "upper limit"], ["min_db", "lower limit"]]) {
      const limit = file_column(file, column);
      if (limit && any(limit))
        data.push({x, y: limit, mode: "lines", name: title, connectgaps: false, line: {color: t.limit, width: 2, dash: column === "max_db" ? "solid" : "dash"}, hovertemplate: `${title} %{y:.3f} dB<extra></extra>`});
    }
    return {data, layout: {showlegend: data.length > 1, xaxis: axis(t, label_of(name)), yaxis: axis(t, "level (dB)", {range: [floor, ceiling]})}};
  });
}

/* A table on a tensor grid of its first two columns: a map of each of the others. */
function draw_grid(node, file) {
  const [n0, n1] = file.grid, [a, b] = file.columns;
  const numeric = file.columns.map((_, i) => i).slice(2).filter(i => is_numeric(file.values[i]) && any(file.values[i]));
  if (numeric.length === 0) return false;
  const level = numeric.find(i => file.columns[i] === "level_db");
  let shown = Math.max(0, numeric.indexOf(level));
  const equal = [["u", "v"], ["x", "y"], ["x", "z"], ["y", "z"], ["x_m", "y_m"], ["x_m", "z_m"], ["y_m", "z_m"]].some(([p, q]) => p === a && q === b);
  if (numeric.length > 1)
    node.append(h("div", {class: "choices"}, choice("quantity", numeric.map(i => label_of(file.columns[i])), shown, i => { shown = i; redraw(plot); })));
  const plot = add_plot(node, equal ? true_height(file.values[0], file.values[1]) : 420, t => {
    const column = numeric[shown], values = file.values[column], name = file.columns[column];
    const z = Array.from({length: n1}, (_, j) => Array.from({length: n0}, (_, i) => values[i * n1 + j]));
    const e = extent(values), map = {type: "heatmap", x: file.values[0], y: file.values[1], z, colorscale: SCALE, colorbar: colour_bar(t, label_of(name)), hoverongaps: false,
      hovertemplate: `${plain(label_of(a))} %{x:.6g}<br>${plain(label_of(b))} %{y:.6g}<br>${plain(label_of(name))} %{z:.6g}<extra></extra>`};
    if (name === "level_db" && e && e[1] - e[0] > 60) map.zmin = e[1] - 60, map.zmax = e[1];
    return {data: [map], layout: {xaxis: axis(t, label_of(a), {constrain: "domain"}), yaxis: axis(t, label_of(b), equal ? to_scale({constrain: "domain"}) : {})}};
  });
  return true;
}

/* ---- S-parameters ---- */

function frequency_unit(list) {
  const top = extent(list)[1];
  return top >= 1e9 ? [1e9, "GHz"] : top >= 1e6 ? [1e6, "MHz"] : top >= 1e3 ? [1e3, "kHz"] : [1, "Hz"];
}

function hertz(f) {
  const [scale, unit] = frequency_unit([f]);
  return `${format(f / scale)} ${unit}`;
}

function draw_sparameters(node, file) {
  const f = file.values[0], [scale, unit] = frequency_unit(f);
  const x = f.map(v => v / scale);
  const names = file.columns.filter(c => /^s_\d+_\d+_db$/.test(c)).map(c => c.slice(0, -3));
  for (const [ending, title] of [["_db", "magnitude (dB)"], ["_phase_deg", "phase (deg)"]])
    add_plot(node, 320, t => ({
      data: names.map((name, i) => { /* S12 over S21 is dashed: both are seen */
        const s = "S" + name.slice(2).replace("_", names.some(n => /\d\d/.test(n)) ? "," : "");
        return {x, y: file_column(file, name + ending), mode: "lines", name: s, line: {dash: ["solid", "solid", "dash", "dot"][i % 4]}, hovertemplate: `${s} %{y:.4f}<br>%{x:.6g} ${unit}<extra></extra>`};
      }),
      layout: {showlegend: true, xaxis: axis(t, `frequency (${unit})`), yaxis: axis(t, title)},
    }));
}

/* ---- fields ---- */

/* Figures over two axes at each frequency. figures: {name, values}. */
function draw_at_frequencies(node, file, axes, figures, more) {
  const frequency = file_column(file, "frequency_hz"), frequencies = unique(frequency);
  let at = 0, shown = 0;
  const choices = h("div", {class: "choices"}, choice("quantity", figures.map(f => f.name), 0, i => { shown = i; redraw(plot); }));
  if (frequencies.length > 1) choices.append(choice("frequency", frequencies.map(hertz), 0, i => { at = i; redraw(plot); }));
  node.append(choices);
  const plot = add_plot(node, more ? true_height(axes[0].values, axes[1].values) : 440, t => {
    const rows = frequency.map((_, i) => i).filter(i => frequency[i] === frequencies[at] && figures[shown].values[i] !== null), [x, y] = axes;
    if (unique(rows.map(i => y.values[i])).length === 1) return sweep_line(t, x, figures[shown], rows);
    if (unique(rows.map(i => x.values[i])).length === 1) return sweep_line(t, y, figures[shown], rows);
    const {data, layout} = sweep_map(t, x, y, figures[shown], rows);
    layout.xaxis = axis(t, x.name, more);
    layout.yaxis = axis(t, y.name, more && to_scale(more));
    return {data, layout};
  });
}

/* A plane of a field: sizes of E and H, then the parts of their components. */
function draw_plane(node, file) {
  const size = letter => {
    const parts = ["x", "y", "z"].flatMap(c => [file_column(file, `${letter}${c}_re`), file_column(file, `${letter}${c}_im`)]);
    return parts[0].map((_, i) => { const s = Math.hypot(...parts.map(p => p[i])); return s > 0 ? 20 * Math.log10(s) : null; });
  };
  const figures = [{name: "|E| (dB over 1 V/m)", values: size("e")}, {name: "|H| (dB over 1 A/m)", values: size("h")},
    ...file.columns.map((name, i) => ({name, values: file.values[i]})).slice(4)];
  const places = ["x", "y", "z"].map(name => file_column(file, name)), spans = places.map(extent).map(e => e ? e[1] - e[0] : 0);
  const [scale, unit] = length_unit(Math.max(...spans));
  const axes = places.map((list, i) => ({name: `${"xyz"[i]} (${unit})`, values: list.map(v => v / scale)})).filter((_, i) => spans[i] > 0);
  if (axes.length < 2) return draw_columns(node, file);
  draw_at_frequencies(node, file, axes.slice(0, 2), figures, {constrain: "domain"});
  return true;
}

/* The far field of a structure. */
function draw_directions(node, file) {
  const names = ["directivity_dbi", "gain_dbi", "realized_gain_dbi"].filter(name => any(file_column(file, name)));
  if (names.length === 0) return false;
  draw_at_frequencies(node, file, ["theta_deg", "phi_deg"].map(name => ({name: label_of(name), values: file_column(file, name)})),
    names.map(name => ({name: label_of(name), values: file_column(file, name)})));
  return true;
}

/* ---- links ---- */

/* Singular values of an m x n matrix of complex numbers, largest first, by one-sided Jacobi rotations of
 * its columns (M. Hestenes, J. SIAM 6, 1958). re, im: [row][column], overwritten. Columns that are but
 * rounding are left alone: of those beyond the rank rotations would make ever smaller numbers, in the end
 * ones without digits. */
function singular_values(re, im) {
  if (re.length < re[0].length) {
    const turned = list => list[0].map((_, k) => list.map(row => row[k]));
    return singular_values(turned(re), turned(im));
  }
  const m = re.length, n = re[0].length;
  const all = [...re, ...im].flat().reduce((sum, x) => sum + x * x, 0);
  for (let round = 0; round < 60; round++) {
    let rotated = false;
    for (let p = 0; p < n - 1; p++)
      for (let q = p + 1; q < n; q++) {
        let a = 0, b = 0, gr = 0, gi = 0;
        for (let i = 0; i < m; i++) {
          a += re[i][p] ** 2 + im[i][p] ** 2;
          b += re[i][q] ** 2 + im[i][q] ** 2;
          gr += re[i][p] * re[i][q] + im[i][p] * im[i][q];
          gi += re[i][p] * im[i][q] - im[i][p] * re[i][q];
        }
        const g = Math.hypot(gr, gi);
        if (g <= 1e-14 * Math.sqrt(a * b) || Math.min(a, b) <= 1e-30 * all) continue;
        rotated = true;
        const zeta = (b - a) / (2 * g), t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const c = 1 / Math.hypot(1, t), s = c * t, er = gr / g, ei = gi / g;
        for (let i = 0; i < m; i++) { /* column q turned by the product's phase, then a real rotation */
          const pr = re[i][p], pi = im[i][p], qr = re[i][q] * er + im[i][q] * ei, qi = im[i][q] * er - re[i][q] * ei;
          re[i][p] = c * pr - s * qr;
          im[i][p] = c * pi - s * qi;
          re[i][q] = s * pr + c * qr;
          im[i][q] = s * pi + c * qi;
        }
      }
    if (!rotated) break;
  }
  const squares = Array.from({length: n}, (_, k) => re.reduce((sum, row, i) => sum + row[k] ** 2 + im[i][k] ** 2, 0));
  return squares.map(Math.sqrt).sort((a, b) => b - a);
}

/* Of each whole matrix of a channel file: {frequency, receiver, values}. */
function channel_values(file) {
  const [f, r, i, k, re, im] = ["frequency_hz", "receiver", "rx", "tx", "re", "im"].map(name => file_column(file, name));
  const rows = Math.max(...unique(i)), columns = Math.max(...unique(k)), found = [];
  for (let at = 0; at + rows * columns <= f.length; at += rows * columns) {
    const block = list => Array.from({length: rows}, (_, y) => list.slice(at + y * columns, at + (y + 1) * columns));
    found.push({frequency: f[at], receiver: r[at], values: singular_values(block(re), block(im))});
  }
  return found;
}

function draw_channel(node, file) {
  if (file.shown < file.total) {
    node.append(h("p", {class: "note"}, "The file is too large for its singular values to be drawn."));
    return;
  }
  const found = channel_values(file), frequencies = unique(found.map(m => m.frequency)), receivers = unique(found.map(m => m.receiver));
  const over_frequency = frequencies.length > receivers.length;
  const fixed = over_frequency ? receivers : frequencies;
  let at = 0;
  const db = v => v > 0 ? 20 * Math.log10(v) : null;
  if (fixed.length > 1)
    node.append(h("div", {class: "choices"}, choice(over_frequency ? "receiver" : "frequency", fixed.map(over_frequency ? format : hertz), 0, i => { at = i; redraw(plot); })));
  node.append(h("p", {class: "note"}, "Singular values of H, as 20 lg of each."));
  const plot = add_plot(node, 340, t => {
    const shown = found.filter(m => (over_frequency ? m.receiver : m.frequency) === fixed[at]);
    const levels = shown.map(m => m.values.map(db)), numbers = levels[0].map((_, k) => k + 1);
    if (shown.length === 1) /* one matrix */
      return {data: [{x: numbers, y: levels[0], mode: "markers", marker: {size: 10, color: t.accent}, hovertemplate: "value %{x}: %{y:.4f} dB<extra></extra>"}],
        layout: {xaxis: axis(t, "number of the singular value", {dtick: 1}), yaxis: axis(t, "singular value (dB)")}};
    const [scale, unit] = over_frequency ? frequency_unit(frequencies) : [1, ""];
    const x = shown.map(m => over_frequency ? m.frequency / scale : m.receiver);
    return {
      data: numbers.map(k => ({x, y: levels.map(l => l[k - 1]), mode: over_frequency ? "lines" : "markers", name: `${k}`, marker: {size: 6},
        hovertemplate: `${over_frequency ? `%{x:.6g} ${unit}` : "receiver %{x}"}<br>value ${k}: %{y:.4f} dB<extra></extra>`})),
      layout: {showlegend: true, xaxis: axis(t, over_frequency ? `frequency (${unit})` : "receiver", over_frequency ? {} : whole_ticks(x)), yaxis: axis(t, "singular value (dB)")},
    };
  });
}

/* Places with quantities: cells of a lattice in each plane of z, or points; on a line along an axis a curve. */
function draw_places(node, file) {
  const [x, y, z] = ["x", "y", "z"].map(name => file_column(file, name)), heights = unique(z);
  const values = file.columns.map((_, i) => i).slice(4).filter(i => is_numeric(file.values[i]) && any(file.values[i]));
  if (values.length === 0) return false;
  let shown = 0, plane = 0;
  const flat_z = heights.length > 9, choices = h("div", {class: "choices"});
  node.append(choices);
  choices.append(choice("quantity", values.map(i => label_of(file.columns[i])), 0, i => { shown = i; redraw(plot); }));
  if (heights.length > 1 && !flat_z) choices.append(choice("z (m)", heights.map(format), 0, i => { plane = i; redraw(plot); }));
  const marks = DATA.files.filter(f => f.columns && has_columns(f, "side", "x_m", "y_m") && beside(f.name, "antennas", "coverage") === file.name);
  const plot = add_plot(node, true_height(x, y), t => {
    const rows = x.map((_, i) => i).filter(i => flat_z || z[i] === heights[plane]), column = file.values[values[shown]], title = label_of(file.columns[values[shown]]);
    const px = {name: "x", values: x}, py = {name: "y", values: y}, pz = {name: title, values: column};
    if (unique(rows.map(i => x[i])).length === 1 || unique(rows.map(i => y[i])).length === 1) {
      const along = unique(rows.map(i => x[i])).length === 1 ? {name: "y (m)", values: y} : {name: "x (m)", values: x};
      return sweep_line(t, along, pz, rows);
    }
    const {data, layout} = sweep_map(t, px, py, pz, rows);
    data[0].name = "receivers";
    for (const f of marks) {
      const side = file_column(f, "side"), tx = side.map((_, i) => i).filter(i => side[i] === "tx");
      data.push({type: "scatter", mode: "markers", name: "transmitting antennas", x: tx.map(i => file_column(f, "x_m")[i]), y: tx.map(i => file_column(f, "y_m")[i]),
        marker: {symbol: "triangle-up", size: 13, color: "#ffffff", line: {color: "#000000", width: 1.5}}, hovertemplate: "transmitting antenna<br>%{x:.4g}, %{y:.4g}<extra></extra>"});
    }
    layout.xaxis = axis(t, "x (m)", {constrain: "domain"});
    layout.yaxis = axis(t, "y (m)", to_scale({constrain: "domain"}));
    layout.showlegend = marks.length > 0;
    return {data, layout};
  });
  return true;
}

/* Antennas, and the strongest of the paths between them. */
function draw_antennas(node, file) {
  const [side, x, y, z] = ["side", "x_m", "y_m", "z_m"].map(name => file_column(file, name));
  const link = DATA.files.find(f => f.columns && is_paths(f) && has_columns(f, "receiver", "rx", "tx") && f.name === beside(file.name, "antennas", "paths"));
  const receivers = link ? unique(file_column(link, "receiver")) : [];
  /* links of one scene have one file of it */
  const scene = DATA.scenes.find(s => s.name === beside(file.name, "antennas", "scene").replace(/csv$/, "vtk")) || (DATA.scenes.length === 1 ? DATA.scenes[0] : undefined);
  if (scene && scene.why === null && scene.shown < scene.total) node.append(h("p", {class: "note"}, `Of the scene's ${scene.total.toLocaleString("en")} triangles ${scene.shown.toLocaleString("en")} coarser ones are drawn.`));
  if (scene && scene.why !== null) node.append(h("p", {class: "note"}, `The scene is not drawn: ${scene.why}.`));
  let at = 0;
  if (receivers.length > 1)
    node.append(h("div", {class: "choices"}, choice("paths to receiver", [...receivers.map(String), "none"], 0, i => { at = i; redraw(plot); })));
  const plot = add_gl_plot(node, scene_height, t => {
    const data = [], places = [[x, y, z]];
    for (const [end, title, symbol] of [["tx", "transmitting", "diamond"], ["rx", "receiving", "circle"]]) {
      const rows = side.map((_, i) => i).filter(i => side[i] === end), get = list => rows.map(i => list[i]);
      const antenna = file_column(file, "antenna"), receiver = file_column(file, "receiver");
      data.push({type: "scatter3d", mode: "markers", name: title, x: get(x), y: get(y), z: get(z), marker: {size: (end === "tx" ? 6 : 3) * (t.narrow ? 0.6 : 1), symbol},
        text: rows.map(i => `${title}${end === "rx" && receiver && receiver[i] !== null ? `, receiver ${receiver[i]}` : ""}, antenna ${antenna ? antenna[i] : ""}`),
        hovertemplate: "%{text}<br>%{x:.4g}, %{y:.4g}, %{z:.4g} m<extra></extra>"});
    }
    if (scene && scene.why === null) data.push({type: "mesh3d", name: "scene", x: scene.x, y: scene.y, z: scene.z, i: scene.i, j: scene.j, k: scene.k,
      color: t.edge, opacity: 0.16, flatshading: true, hoverinfo: "skip", showlegend: true});
    if (link && at < receivers.length) data.push(path_lines(t, file, link, receivers[at]));
    if (scene && scene.why === null) places.push([scene.x, scene.y, scene.z]);
    else if (data[2]) places.push([data[2].x, data[2].y, data[2].z]);
    return {data, layout: scene_layout(t, ["x (m)", "y (m)", "z (m)"], places)};
  });
  if (link) node.append(h("p", {class: "note"}, `Lines are the paths of the file for this receiver, from a transmitting antenna over their points to a receiving one, coloured by gain${gain_of(link) === "gain_db" ? "" : " at the first frequency"}.`), thinned_note(link) || "");
}

function path_lines(t, antennas, link, receiver) {
  const where = (end, number, of) => {
    const [side, r, a] = ["side", "receiver", "antenna"].map(name => file_column(antennas, name));
    const i = side.findIndex((s, k) => s === end && a[k] === number && (end === "tx" || r[k] === null || r[k] === of));
    return i < 0 ? null : ["x_m", "y_m", "z_m"].map(name => file_column(antennas, name)[i]);
  };
  const [r, rx, tx, points, gain] = ["receiver", "rx", "tx", "points", gain_of(link)].map(name => file_column(link, name));
  const lines = {type: "scatter3d", mode: "lines", name: "paths", x: [], y: [], z: [], text: [], line: {width: 2.5, color: [], colorscale: SCALE, showscale: true, colorbar: Object.assign(colour_bar(t, "gain (dB)"), t.narrow ? {} : {len: 0.7})}, hovertemplate: "%{text}<extra></extra>"};
  r.forEach((of, i) => {
    const from = where("tx", tx[i], of), to = where("rx", rx[i], of);
    if (of !== receiver || !from || !to) return;
    const between = points[i] ? String(points[i]).split(";").map(p => p.trim().split(/\s+/).map(Number)) : [];
    for (const p of [from, ...between, to, [null, null, null]]) {
      ["x", "y", "z"].forEach((name, c) => lines[name].push(p[c]));
      lines.text.push(`${format(gain[i])} dB, tx ${tx[i]} to rx ${rx[i]}`);
      lines.line.color.push(gain[i]);
    }
  });
  return lines;
}

/* ---- which variables matter ---- */

/* Indices of S1 and ST of each factor, with their confidence; an output is chosen. */
function draw_indices(node, file) {
  const output = file_column(file, "output"), factor = file_column(file, "factor"), names = [...new Set(output)];
  let shown = 0;
  if (names.length > 1) node.append(h("div", {class: "choices"}, choice("output", names, 0, i => { shown = i; redraw(plot); })));
  const plot = add_plot(node, 320, t => {
    const rows = output.map((_, i) => i).filter(i => output[i] === names[shown]);
    return {
      data: [["S1", "S1: of the variance by the variable alone"], ["ST", "ST: with its interactions"]].map(([name, title]) => ({type: "bar", name: title, x: rows.map(i => plain(factor[i])), y: rows.map(i => file_column(file, name)[i]),
        error_y: {type: "data", array: rows.map(i => file_column(file, `${name}_conf`)[i]), color: t.ink, thickness: 1}, hovertemplate: `%{x}: ${name} %{y:.4f} ± %{error_y.array:.4f}<extra></extra>`})),
      layout: {barmode: "group", showlegend: true, xaxis: axis(t, "", {type: "category"}), yaxis: axis(t, `share of the variance of ${names[shown]}`)},
    };
  });
}

/* ---- any other ---- */

/* Columns over the first one, where that goes up. */
function draw_columns(node, file) {
  const x = file.values[0];
  if (!is_numeric(x) || file.shown < 2 || x.some((v, i) => v === null || (i > 0 && v < x[i - 1]))) return false;
  const numeric = file.columns.map((_, i) => i).slice(1).filter(i => is_numeric(file.values[i]) && any(file.values[i]));
  if (numeric.length === 0) return false;
  let shown = 0;
  if (numeric.length > 1)
    node.append(h("div", {class: "choices"}, choice("column", numeric.map(i => label_of(file.columns[i])), 0, i => { shown = i; redraw(plot); })));
  const plot = add_plot(node, 340, t => {
    const name = label_of(file.columns[numeric[shown]]);
    return {data: [{x, y: file.values[numeric[shown]], mode: x.length < 80 ? "lines+markers" : "lines", marker: {size: 5}, hovertemplate: `%{x:.7g}<br>${plain(name)} %{y:.7g}<extra></extra>`}],
      layout: {xaxis: axis(t, label_of(file.columns[0])), yaxis: axis(t, name)}};
  });
  return true;
}

const KINDS = [ /* title, whether a file is of it, how it is drawn (false: it cannot be) */
  ["Structure", f => has_columns(f, "part", "kind", "x_low_m", "z_high_m", "points_m"), draw_structure],
  ["Antennas and paths", f => has_columns(f, "side", "antenna", "x_m", "y_m", "z_m"), draw_antennas],
  ["Coverage", f => f.columns.length > 4 && f.columns.slice(1, 4).join() === "x,y,z" && f.columns[0] !== "frequency_hz" && !has_columns(f, "amplitude"), draw_places],
  ["Channel", f => has_columns(f, "frequency_hz", "receiver", "rx", "tx", "re", "im") && !has_columns(f, "points"), draw_channel],
  ["Elements", f => has_columns(f, "x", "y", "z", "amplitude", "phase_deg"), draw_elements],
  ["Pattern", f => ANGLES.includes(f.columns[0]) && f.columns[1] === "level_db", draw_cut],
  ["Field in a plane", f => has_columns(f, "frequency_hz", "x", "y", "z", "ex_re", "ez_im", "hx_re", "hz_im"), draw_plane],
  ["Far field", f => has_columns(f, "frequency_hz", "theta_deg", "phi_deg", "directivity_dbi", "gain_dbi", "realized_gain_dbi"), draw_directions],
  ["S-parameters", f => f.columns[0] === "frequency_hz" && f.columns.some(c => /^s_\d+_\d+_db$/.test(c)), draw_sparameters],
  ["Sensitivity", f => has_columns(f, "output", "factor", "S1", "S1_conf", "ST", "ST_conf"), draw_indices],
  ["Pattern over two angles", f => f.grid !== null && ANGLES.includes(f.columns[0]) && ANGLES.includes(f.columns[1]), draw_grid],
  ["Map", f => f.grid !== null, draw_grid],
  ["Table", f => true, draw_columns],
];

function files_sections() {
  const sections = new Map(), rest = [];
  for (const file of DATA.files) {
    const kind = file.why === null && file.shown > 0 && !(is_paths(file) && DATA.files.some(f => f.name === beside(file.name, "paths", "antennas") && f !== file))
      ? KINDS.find(([, test]) => test(file)) : null;
    const node = h("div", null, h("h3", null, file.name));
    if (!kind || kind[2](node, file) === false) {
      if (!is_paths(file)) rest.push([file.name, file.why || `${file.total} rows of ${file.columns.join(", ")}`]);
      continue;
    }
    const note = thinned_note(file);
    if (note) node.append(note);
    if (!sections.has(kind)) sections.set(kind, []);
    sections.get(kind).push(node);
  }
  const parts = [];
  for (const kind of KINDS)
    if (sections.has(kind)) {
      const node = section(kind[0] === "Table" ? "Other tables" : kind[0]);
      node.append(...sections.get(kind));
      parts.push(node);
    }
  if (rest.length || DATA.files_left_out) {
    const node = section("Files without a plot");
    if (rest.length) node.append(table(["file", ""], rest));
    if (DATA.files_left_out) node.append(h("p", {class: "note"}, `${DATA.files_left_out} more tables are not on this page.`));
    parts.push(node);
  }
  return parts;
}
