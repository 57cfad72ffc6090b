/* page_sweep.js: sweeps: lines over one variable, maps over two; of more variables the others stand at a
 * value that is chosen. */

/* The rows where the other variables have their chosen values. */
function sweep_rows(variables, good, fixed) {
  return good.map((_, i) => i).filter(i => fixed.every(([v, value]) => variables[v].values[i] === value));
}

function sweep_line(t, x, y, rows) {
  const order = [...rows].sort((a, b) => x.values[a] - x.values[b]);
  return {
    data: [{x: order.map(i => x.values[i]), y: order.map(i => y.values[i]), mode: order.length < 80 ? "lines+markers" : "lines", marker: {size: 5},
      hovertemplate: `${plain(x.name)} %{x:.7g}<br>${plain(y.name)} %{y:.7g}<extra></extra>`}],
    layout: {xaxis: axis(t, x.name), yaxis: axis(t, y.name)},
  };
}

/* Cells where the rows are a lattice, else points. */
function sweep_map(t, x, y, z, rows) {
  const xs = unique(rows.map(i => x.values[i])), ys = unique(rows.map(i => y.values[i]));
  const bar = colour_bar(t, z.name);
  const hover = `${plain(x.name)} %{x:.7g}<br>${plain(y.name)} %{y:.7g}<br>${plain(z.name)} `;
  const layout = {xaxis: axis(t, x.name), yaxis: axis(t, y.name)};
  if (xs.length * ys.length > 1.5 * rows.length + 4)
    return {data: [{type: "scatter", mode: "markers", x: rows.map(i => x.values[i]), y: rows.map(i => y.values[i]),
      marker: {size: 8, line: {width: 0.7, color: t.edge}, color: rows.map(i => z.values[i]), colorscale: SCALE, showscale: true, colorbar: bar}, hovertemplate: hover + "%{marker.color:.7g}<extra></extra>"}], layout};
  const place = list => new Map(list.map((v, i) => [v, i]));
  const px = place(xs), py = place(ys), cells = ys.map(() => new Array(xs.length).fill(null));
  for (const i of rows) cells[py.get(y.values[i])][px.get(x.values[i])] = z.values[i];
  return {data: [{type: "heatmap", x: xs, y: ys, z: cells, colorscale: SCALE, colorbar: bar, hoverongaps: false, hovertemplate: hover + "%{z:.7g}<extra></extra>"}], layout};
}

function sweep_section(sweep) {
  const d = sweep.rows, about = sweep.about[0], node = section(`Sweep: ${about.name}`);
  const failed = sweep.reasons.reduce((n, r) => n + r.n, 0);
  node.append(h("p", {class: "soft"}, `${count(d.total, "row")}, ${failed ? `${failed} failed` : "none failed"}`));
  if (d.shown < d.total) node.append(h("p", {class: "note"}, `${d.shown.toLocaleString("en")} rows, evenly chosen, are on this page and in its plots.`));
  if (failed) node.append(table(["reason", {n: "rows"}], sweep.reasons.map(r => [r.reason, r.n])));
  const long = sweep.quantities.filter(q => q.length > 12 && q.kind !== "variable").map(q => q.name);
  if (long.length) node.append(h("p", {class: "note"}, `Lists are not drawn: ${long.join(", ")}. “eciton export DIR --csv” has them.`));
  const good = d.status.map((_, i) => i).filter(i => d.status[i] === 0);
  if (good.length === 0) return node;
  const variables = columns_of(sweep, d, good, ["variable"]);
  const results = columns_of(sweep, d, good, ["objective", "constraint", "recorded", "violation"]);
  if (variables.length === 0 || results.length === 0) return node;
  const moving = variables.map((v, i) => i).filter(i => unique(variables[i].values).length > 1);
  let x = moving.length ? moving[0] : 0, y = moving.length > 1 ? moving[1] : -1, shown = 0;
  const fixed = variables.map(v => unique(v.values)[0]);
  const choices = h("div", {class: "choices"}), body = h("div");
  node.append(choices, body);
  const others = () => variables.map((_, i) => i).filter(i => i !== x && i !== y).map(i => [i, fixed[i]]);
  const plot = add_plot(body, 440, t => {
    const rows = sweep_rows(variables, good, others());
    return y < 0 ? sweep_line(t, variables[x], results[shown], rows) : sweep_map(t, variables[x], variables[y], results[shown], rows);
  });
  const names = variables.map(v => v.name);
  const refresh = () => { fill(); redraw(plot); };
  const fill = () => {
    choices.replaceChildren(choice("quantity", results.map(r => r.name), shown, i => { shown = i; redraw(plot); }));
    if (moving.length < 2) return;
    choices.append(choice("x", names, x, i => { if (i === y) y = x; x = i; refresh(); }),
      choice("y", ["(a line)", ...names], y + 1, i => { if (i - 1 === x) x = y < 0 ? x : y; y = i - 1 === x ? -1 : i - 1; refresh(); }));
    for (const [i] of others()) {
      const values = unique(variables[i].values);
      if (values.length > 1) choices.append(choice(names[i], values.map(format), values.indexOf(fixed[i]), k => { fixed[i] = values[k]; redraw(plot); }));
    }
  };
  fill();
  const ranges = results.map(r => {
    const e = extent(r.values), at = v => good.length && variables.length <= 6 ? variables.map(c => `${c.name} ${format(c.values[r.values.indexOf(v)])}`).join(", ") : "";
    return [r.name, e[0], at(e[0]), e[1], at(e[1])];
  });
  node.append(table(["", {n: "lowest"}, "at", {n: "highest"}, "at"], ranges));
  return node;
}
