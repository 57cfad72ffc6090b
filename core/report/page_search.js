/* page_search.js: searches: convergence, the winner, designs, Pareto front. */

const STAGE = {search: 0, final: 1, winner: 2, front: 3, failed: 4};

/* ---- convergence ---- */

function history_column(search, name) {
  const i = search.history.columns.indexOf(name);
  return search.history.rows.map(row => row[i]);
}

const any = list => list.some(x => x !== null);

/* Failed designs of each interval: the history counts them from the begin. */
function differences(list) {
  return list.map((x, i) => x - (i ? list[i - 1] : 0));
}

function search_convergence(node, search) {
  if (search.history.rows.length === 0) {
    node.append(h("p", {class: "note"}, "No generation has been kept yet."));
    return;
  }
  if (search.history.rows.length === 1) {
    node.append(h("h3", null, "Convergence"), table(["after the only generation", {n: "value"}],
      [["evaluations", "evaluations"], ["best", "best"], ["median", "median of the generation"], ["failed", "failed designs"]].map(([name, title]) => [title, history_column(search, name)[0]])));
    return;
  }
  const get = name => history_column(search, name);
  const x = get("evaluations"), generation = get("generation"), best = get("best"), median = get("median");
  const objective = search.quantities.find(q => q.kind === "objective");
  const name = objective ? objective.name : "objective";
  const hover = "%{y:.7g}<br>%{x} evaluations, generation %{customdata}";
  const spread = get("spread"), failed = differences(get("failed")), violation = get("violation"), hypervolume = get("hypervolume");
  const positive = [...best, ...median].every(v => v === null || v > 0);
  const wide = (list, ratio) => { const e = extent(list); return e !== null && e[0] > 0 && e[1] > ratio * e[0]; };
  let log_y = positive && wide(best, 100), log_x = wide(x, 500);
  const mode = x.length < 40 ? "lines+markers" : "lines", small = {size: 4};
  const line = (y, label, more) => Object.assign({x, y, name: label, customdata: generation, hovertemplate: hover, mode, marker: small}, more);
  const x_axis = (t, title) => axis(t, title, Object.assign({type: log_x ? "log" : "linear", exponentformat: "SI"}, log_x ? {} : whole_ticks(x)));
  const own = [];
  node.append(h("h3", null, "Convergence"));
  if (search.history.total > x.length) node.append(h("p", {class: "note"}, `${count(x.length, "generation")} of the ${search.history.total} of the history, evenly chosen.`));
  if (!failed.some(v => v > 0)) node.append(h("p", {class: "note"}, "No design failed."));
  const choices = h("div", {class: "choices"});
  node.append(choices);
  const redraw_own = () => own.forEach(redraw);
  choices.append(choice("evaluations", ["linear", "logarithmic"], log_x ? 1 : 0, i => { log_x = i === 1; redraw_own(); }));
  if (positive) choices.append(choice(name, ["linear", "logarithmic"], log_y ? 1 : 0, i => { log_y = i === 1; redraw_own(); }));
  if (!any(best)) node.append(h("p", {class: "note"}, "No design could be scored."));
  else own.push(add_plot(node, 340, t => ({
    data: [line(best, "best", {line: {width: 2.5}}), line(median, "median of the generation", {line: {width: 1.2}})],
    layout: {xaxis: x_axis(t, "evaluations"), yaxis: axis(t, name, {type: log_y ? "log" : "linear"}), showlegend: true},
  })));
  const second = h("div", {class: "columns"});
  node.append(second);
  const extra = (title, y, type) => {
    const part = h("div", null, h("h3", null, title));
    second.append(part);
    own.push(add_plot(part, 220, t => ({data: [line(y, title)], layout: {xaxis: x_axis(t, "evaluations"), yaxis: axis(t, "", {type, nticks: 5})}})));
  };
  if (any(hypervolume)) extra("Hypervolume of the front", hypervolume, "linear");
  if (any(spread)) extra("Spread of the population (share of the variables' ranges)", spread, spread.every(v => v === null || v > 0) ? "log" : "linear");
  if (violation.some(v => v > 0)) extra("Violation of the best", violation, "linear");
  if (failed.some(v => v > 0)) extra("Failed designs since the point before", failed, "linear");
}

/* ---- winner ---- */

function bar(value, low, high) {
  if (low === null || high === null || value === null || !(high > low)) return "–";
  const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return h("span", {class: "bar", role: "img", "aria-label": `${Math.round(100 * share)} % of the range`, title: `${Math.round(100 * share)} % of the range`},
    h("i", {style: `left:${100 * share}%`}));
}

function near_bound(value, low, high) {
  if (value === null || low === null || high === null || !(high > low)) return "";
  const share = (value - low) / (high - low);
  return share < 1e-6 ? "at its minimum" : share > 1 - 1e-6 ? "at its maximum" : "";
}

function list_plot(parent, q, values) {
  const x = values.map((_, i) => i + 1);
  add_plot(parent, 240, t => {
    const all = limit => Array.isArray(limit) ? limit.slice(0, values.length) : [limit, limit];
    const level = (y, name) => ({x: Array.isArray(y) ? x : [1, Math.max(values.length, 2)], y: all(y), name, mode: "lines", line: {color: t.limit, width: 1, dash: "dash"}, hoverinfo: "skip", showlegend: false});
    const data = [{x, y: values, mode: values.length > 300 ? "lines" : "markers", name: plain(q.name), marker: {size: 6}, hovertemplate: "%{y:.8g}<br>element %{x}"}];
    if (q.minimum !== null) data.push(level(q.minimum, "minimum"));
    if (q.maximum !== null) data.push(level(q.maximum, "maximum"));
    const e = extent([...values, ...all(q.minimum), ...all(q.maximum)]) || [0, 1], pad = 0.06 * (e[1] - e[0] || Math.abs(e[0]) || 1);
    return {data, layout: {xaxis: axis(t, "element", whole_ticks(x)), yaxis: axis(t, q.name, {range: [e[0] - pad, e[1] + pad]}), showlegend: false}};
  });
  if (values.length < q.length) parent.append(h("p", {class: "note"}, `The first ${values.length} of ${q.length} elements.`));
  folded(parent, `${q.name}: its ${count(values.length, "number")}`, false, body =>
    body.append(table([{n: "element"}, {n: "value"}], values.map((v, i) => [i + 1, v]))));
}

function search_winner(node, search) {
  const w = search.winner;
  if (!w) {
    const front = search.designs.stage.includes(STAGE.front);
    if (!front) node.append(h("p", {class: "note"}, "There is no winner: no design of the store could be scored yet."));
    return;
  }
  const of = kind => search.quantities.map((q, i) => [q, w.values[i]]).filter(([q]) => q.kind === kind);
  node.append(h("h3", null, w.stage === "winner" ? (of("objective").length > 1 ? "Winner (one of the front)" : "Winner") : `Best so far, of generation ${w.generation}`));
  if (w.stage !== "winner") node.append(h("p", {class: "note"}, "The search has no winner yet: this is the best of the designs that the store keeps, with its figures of the search. Constraints and recorded quantities are computed at the end."));
  if (w.reason) node.append(h("p", {class: "warn"}, `This design failed: ${w.reason}`));
  else if (w.violation > 0) node.append(h("p", {class: "warn"}, `Not feasible: the violation is ${format(w.violation)}.`));
  const columns = h("div", {class: "columns"});
  node.append(columns);
  const part = (title, body) => columns.append(h("div", null, h("h3", null, title), body));
  if (of("objective").length) part(of("objective").length > 1 ? "Objectives" : "Objective", table(["", {n: "value"}, ""], of("objective").map(([q, v]) => [q.name, v, q.goal ? `${q.goal}d` : ""])));
  const constraints = of("constraint").filter(([, v]) => typeof v === "number");
  if (constraints.length)
    part("Constraints", table(["", {n: "beyond its limit by"}, ""], constraints.map(([q, v]) => [q.name, v, v <= 0 ? "met" : "violated"])));
  const recorded = of("recorded").filter(([, v]) => !Array.isArray(v) && v !== null);
  if (recorded.length) part("Recorded", table(["", {n: "value"}], recorded.map(([q, v]) => [q.name, v])));
  const row = (name, v, low, high) => [name, v, low, high, bar(v, low, high), near_bound(v, low, high)];
  const bound = (limit, k) => Array.isArray(limit) ? limit[k] : limit;
  const rows = [];
  for (const [q, v] of of("variable"))
    if (!Array.isArray(v)) rows.push(row(q.name, v, q.minimum, q.maximum));
    else if (v.length <= 12) v.forEach((x, k) => rows.push(row(`${q.name}[${k + 1}]`, x, bound(q.minimum, k), bound(q.maximum, k))));
  if (rows.length) node.append(h("h3", null, "Variables and their bounds"), table(["", {n: "value"}, {n: "min"}, {n: "max"}, "its place", ""], rows));
  for (const [q, v] of [...of("variable").filter(([, v]) => Array.isArray(v) && v.length > 12), ...of("recorded").filter(([, v]) => Array.isArray(v))])
    node.append(h("h3", null, q.kind === "recorded" ? `${q.name} (recorded)` : q.name)), list_plot(node, q, v);
}

/* ---- designs ---- */

function column_name(owner, c) {
  const q = owner.quantities[c.quantity];
  return c.element === null ? q.name : `${q.name}[${c.element}]`;
}

/* Columns with their values in these rows, less those without any. */
function columns_of(owner, data, rows, kinds) {
  return data.columns.map((c, i) => ({name: column_name(owner, c), kind: owner.quantities[c.quantity].kind, quantity: owner.quantities[c.quantity],
    values: rows.map(r => data.values[i][r])}))
    .filter(c => kinds.includes(c.kind) && any(c.values));
}

function left_out_columns(owner, kind, data) {
  const all = owner.quantities.filter(q => q.kind === kind).reduce((n, q) => n + Math.max(1, q.length), 0);
  const here = data.columns.filter(c => owner.quantities[c.quantity].kind === kind).length;
  return all > here ? `Of ${all} elements of variables the first ${here} are drawn. ` : "";
}

/* Every n-th of a list, so that at most so many are left. */
function thin(list, most) {
  const step = Math.ceil(list.length / most);
  return step > 1 ? list.filter((_, i) => i % step === 0) : list;
}

function parallel_plot(parent, columns, colour, note) {
  const shown = columns.slice(0, 14);
  if (shown.length < 2) return;
  const body = h("div", {class: "scroll"}), inner = h("div", {style: `min-width:${Math.max(340, 74 * shown.length)}px`});
  body.append(inner);
  parent.append(h("h3", null, "Parallel coordinates"));
  if (note) parent.append(h("p", {class: "note"}, note));
  if (shown.length < columns.length) parent.append(h("p", {class: "note"}, `The first ${shown.length} of ${columns.length} axes.`));
  parent.append(h("p", {class: "note"}, "Drag along an axis to pick designs, drag an axis' name to move it."), body);
  add_gl_plot(inner, 380, t => ({
    data: [{type: "parcoords", line: {color: colour.values, colorscale: SCALE, showscale: true, colorbar: colour_bar(t, colour.name)},
      labelangle: shown.length > 6 ? -25 : 0, labelfont: {color: t.ink}, tickfont: {color: t.ink}, rangefont: {color: t.ink},
      dimensions: shown.map(c => ({label: plain(c.name), values: c.values}))}],
    layout: {margin: {l: 60, r: 30, t: shown.length > 6 ? 90 : 50, b: 24}},
  }));
}

function pair_plot(parent, columns, colour, note) {
  const objective = columns.filter(c => c.kind === "objective"), others = columns.filter(c => c.kind !== "objective");
  const shown = [...others.slice(0, 5 - Math.min(1, objective.length)), ...objective.slice(0, 1)];
  if (shown.length < 3) return; /* the plot of any column against any other has it */
  parent.append(h("h3", null, "Pairs"));
  if (note) parent.append(h("p", {class: "note"}, note));
  if (shown.length < columns.length) parent.append(h("p", {class: "note"}, `Of ${columns.length} columns ${shown.map(c => c.name).join(", ")}.`));
  const body = h("div", {class: "scroll"}), inner = h("div", {style: `min-width:${110 * shown.length}px`});
  body.append(inner);
  parent.append(body);
  add_gl_plot(inner, 120 * shown.length + 80, t => {
    const layout = {dragmode: "select", margin: {l: 64, r: 12, t: 12, b: 60}};
    for (let i = 1; i <= shown.length; i++) {
      layout[`xaxis${i === 1 ? "" : i}`] = axis(t, undefined, {tickfont: {size: 10}, nticks: 4, title: {font: {size: 11}}, automargin: false});
      layout[`yaxis${i === 1 ? "" : i}`] = axis(t, undefined, {tickfont: {size: 10}, nticks: 4, title: {font: {size: 11}}, automargin: false});
    }
    return {data: [{type: "splom", diagonal: {visible: false}, showupperhalf: false, dimensions: shown.map(c => ({label: plain(c.name), values: c.values})),
      marker: {size: 4, color: colour.values, colorscale: SCALE, showscale: false, opacity: 0.8}}], layout};
  });
}

/* Any column against any other. */
function scatter_plot(parent, columns, chosen, hover, marks) {
  const names = columns.map(c => c.name);
  let [x, y, colour] = chosen;
  const choices = h("div", {class: "choices"});
  parent.append(choices);
  const plot = add_plot(parent, 420, t => {
    const many = columns[x].values.length > 4000 && has_webgl;
    const data = [{type: many ? "scattergl" : "scatter", mode: "markers", x: columns[x].values, y: columns[y].values, text: hover, showlegend: false,
      marker: {size: many ? 4 : 7, line: {width: many ? 0 : 0.7, color: t.edge}, color: columns[colour].values, colorscale: SCALE, showscale: true, colorbar: colour_bar(t, names[colour])},
      hovertemplate: `${plain(names[x])} %{x:.7g}<br>${plain(names[y])} %{y:.7g}<br>${plain(names[colour])} %{marker.color:.7g}<br>%{text}<extra></extra>`}];
    for (const m of marks)
      data.push({type: "scatter", mode: "markers", name: m.name, x: [columns[x].values[m.row]], y: [columns[y].values[m.row]],
        marker: {size: 15, symbol: "circle-open", color: t.winner, line: {width: 3, color: t.winner}}, hoverinfo: "skip"});
    return {data, layout: {xaxis: axis(t, names[x], whole_ticks(columns[x].values)), yaxis: axis(t, names[y], whole_ticks(columns[y].values)), showlegend: marks.length > 0}};
  });
  choices.append(choice("x", names, x, i => { x = i; redraw(plot); }), choice("y", names, y, i => { y = i; redraw(plot); }),
    choice("colour", names, colour, i => { colour = i; redraw(plot); }));
}

function search_designs(node, search) {
  const d = search.designs;
  if (d.shown === 0) return;
  node.append(h("h3", null, "Designs"));
  const good = d.status.map((s, i) => i).filter(i => d.status[i] === 0 && d.stage[i] !== STAGE.front && d.stage[i] !== STAGE.failed);
  let text = `The store keeps ${count(d.total, "design")}`;
  if (search.about[0].keep) text += ` (keep = "${search.about[0].keep}")`;
  if (d.shown < d.total) text += `; ${d.shown.toLocaleString("en")} of them, evenly chosen, are on this page`;
  node.append(h("p", {class: "note"}, `${text}. ${left_out_columns(search, "variable", d)}`));
  if (search.reasons.length)
    node.append(table(["designs that failed, of those that are kept", {n: "number"}], search.reasons.map(r => [r.reason, r.n])));
  if (good.length < 2) return;
  const columns = columns_of(search, d, good, ["variable", "objective"]);
  const objective = columns.findIndex(c => c.kind === "objective");
  const generation = {name: "generation", kind: "generation", values: good.map(i => d.generation[i])};
  const all = [...columns, generation], colour = objective < 0 ? all.length - 1 : objective;
  const winner = good.findIndex(i => d.stage[i] === STAGE.winner);
  if (!columns.some(c => { const e = extent(c.values); return e && e[1] > e[0]; })) {
    node.append(h("p", {class: "note"}, "They are all the same, so that there is nothing to draw."));
    return;
  }
  const moving = all.findIndex(c => { const e = extent(c.values); return c.kind !== "objective" && e && e[1] > e[0]; });
  scatter_plot(node, all, [moving < 0 ? all.length - 1 : moving, colour, all.length - 1], good.map(i => d.violation[i] > 0 ? `violation ${format(d.violation[i])}` : "feasible"),
    winner < 0 ? [] : [{name: "winner", row: winner}]);
  folded(node, "Parallel coordinates and pairs of designs", false, body => {
    const few = most => {
      const rows = thin(good.map((_, i) => i), most), pick = c => Object.assign({}, c, {values: rows.map(r => c.values[r])});
      const note = rows.length < good.length ? `${rows.length.toLocaleString("en")} of ${good.length.toLocaleString("en")} designs, evenly chosen.` : null;
      return [columns.map(pick), pick(all[colour]), note];
    };
    parallel_plot(body, ...few(3000));
    pair_plot(body, ...few(5000));
  }, true);
}

/* ---- front ---- */

/* Three figures, each on an axis of its own scale. */
function figure_layout(t, ...columns) {
  const layout = scene_layout(t, columns.map(c => c.name), [columns.map(c => c.values)]);
  for (const name of ["xaxis", "yaxis", "zaxis"]) {
    delete layout.scene[name].range;
    delete layout.scene[name].nticks;
  }
  layout.scene.aspectmode = "cube";
  for (const c of ["x", "y", "z"]) layout.scene.camera.eye[c] *= 1.1;
  return layout;
}

/* The member that the search took as its winner. */
function front_winner(search, columns, objectives) {
  const names = search.quantities.map(q => q.name), figures = search.winner ? objectives.map(i => search.winner.values[names.indexOf(columns[i].name)]) : [];
  const same = (a, b) => typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
  const row = figures.length ? columns[objectives[0]].values.findIndex((_, r) => objectives.every((i, k) => same(columns[i].values[r], figures[k]))) : -1;
  return row < 0 ? [] : [{name: "winner", row}];
}

function search_front(node, search) {
  const d = search.designs, rows = d.stage.map((s, i) => i).filter(i => d.stage[i] === STAGE.front);
  if (rows.length === 0) return;
  const columns = columns_of(search, d, rows, ["objective", "constraint", "recorded", "variable"]);
  const objectives = columns.map((c, i) => i).filter(i => columns[i].kind === "objective");
  if (objectives.length < 2) return;
  node.append(h("h3", null, "Pareto front"), h("p", {class: "note"}, `${count(rows.length, "member")}, with their figures at final fidelity.`));
  scatter_plot(node, columns, [objectives[0], objectives[1], objectives[2] === undefined ? Math.min(columns.length - 1, objectives[1] + 1) : objectives[2]],
    rows.map((r, i) => `member ${i + 1}`), front_winner(search, columns, objectives));
  if (objectives.length > 2)
    add_gl_plot(node, scene_height, t => {
      const [a, b, c] = objectives.map(i => columns[i]);
      return {data: [{type: "scatter3d", mode: "markers", x: a.values, y: b.values, z: c.values, marker: {size: 4, color: c.values, colorscale: SCALE},
        hovertemplate: `${plain(a.name)} %{x:.6g}<br>${plain(b.name)} %{y:.6g}<br>${plain(c.name)} %{z:.6g}<extra></extra>`}],
        layout: Object.assign(figure_layout(t, a, b, c), {showlegend: false})};
    });
  folded(node, "Parallel coordinates of the front", false, body => parallel_plot(body, columns, columns[objectives[0]]), true);
  folded(node, "Table of the front", false, body => body.append(table([{n: "member"}, ...columns.map(c => ({n: c.name}))],
    rows.map((_, i) => [i + 1, ...columns.map(c => c.values[i])]))));
}

/* ---- a search ---- */

function search_section(search) {
  const about = search.about[0], several = DATA.searches.length > 1;
  const node = section(several ? `Search ${search.number}: ${about.job}` : `Search: ${about.job}`);
  node.append(h("p", {class: "soft"}, [about.method, `population ${about.population}`, `seed ${about.seed}`,
    about.evaluations !== null ? count(about.evaluations, "evaluation") : null, about.failed ? `${about.failed} failed` : null,
    about.seconds !== null ? duration(about.seconds) : null].filter(x => x).join(", ")));
  node.append(about.ended === null
    ? h("p", {class: "warn"}, "This search has not come to its end.")
    : h("p", null, `Stopped: ${about.message || about.stop}.`));
  search_winner(node, search);
  search_front(node, search);
  search_convergence(node, search);
  search_designs(node, search);
  return node;
}
