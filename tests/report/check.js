/* check.js: looks at a page of `eciton report` from inside, and tells the page around it what is wrong. The
 * fragment of its address has the titles that its sections must have, joined by "|". Plain text of the test:
 * the page itself knows nothing of it. */
"use strict";
(async () => {
  const wrong = [], wait = ms => new Promise(resolve => setTimeout(resolve, ms));
  addEventListener("error", event => wrong.push(`error: ${event.message}`));
  document.addEventListener("securitypolicyviolation", event => wrong.push(`request: ${event.blockedURI}`));
  const titles = () => [...document.querySelectorAll("section > h2")].map(node => node.textContent).join("|");
  const has_number = list => Array.isArray(list) || ArrayBuffer.isView(list)
    ? [...list].some(v => Array.isArray(v) || ArrayBuffer.isView(v) ? has_number(v) : Number.isFinite(v)) : false;
  const heading = node => { /* above a plot */
    const above = [...document.querySelectorAll("h2, h3")].filter(h => h.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
    return above.length ? above[above.length - 1].textContent : "";
  };
  const wanted = decodeURIComponent(location.hash.slice(1));
  const overflow = when => { const more = document.documentElement.scrollWidth - innerWidth; if (more > 0) wrong.push(`${when}: ${more} px too wide for ${innerWidth}`); };
  const wide = innerWidth > 600; /* WebGL by software takes seconds a plot: once is enough, and so are newer data */
  const looked_at = () => [...plots].filter(plot => wide || !plot.gl);
  const all_drawn = async () => {
    for (const plot of plots) if (!wide && plot.gl) watcher.unobserve(plot.node);
    for (const plot of looked_at()) {
      plot.node.scrollIntoView({behavior: "instant", block: "center"});
      for (let n = 0; n < 200 && plot.stale; n++) await wait(25);
      if (plot.stale) wrong.push(`a plot of "${heading(plot.node)}" was not drawn when it came into the view`);
    }
  };
  const all_have_data = () => {
    for (const {node} of looked_at()) {
      const data = node.data || [];
      if (!data.some(trace => has_number(trace.z || trace.y) || (trace.dimensions || []).some(d => has_number(d.values))))
        wrong.push(`a plot of "${heading(node)}" has no data`);
    }
  };
  try {
    for (let n = 0; n < 400 && document.documentElement.dataset.drawn !== "all"; n++) await wait(25);
    overflow("at first");
    if (titles() !== wanted) wrong.push(`sections "${titles()}", wanted "${wanted}"`);
    if (document.querySelector("nav").children.length !== wanted.split("|").length) wrong.push("contents differ from the sections");
    for (const node of document.querySelectorAll("details")) node.fill(), node.open = true;
    await all_drawn();
    all_have_data();
    overflow("when all is open");
    const text = document.body.innerText;
    for (const word of ["undefined", "NaN", "[object", "could not be drawn"]) if (text.replace(document.querySelector("section pre") ? document.querySelector("section pre").innerText : "", "").includes(word)) wrong.push(`the page says "${word}"`);
    /* newer data: nothing is doubled or closed, what is the same stays */
    if (wide) {
      const count = () => [document.querySelectorAll("section").length, document.querySelectorAll("div.plot").length, plots.size, document.querySelectorAll("details[open]").length].join();
      const before = count(), script = document.querySelector("section pre"), newer = JSON.parse(document.getElementById("data").textContent);
      for (const search of newer.searches) search.about[0].seconds += 1;
      for (const sweep of newer.sweeps) sweep.rows.total += 1;
      newer.written += 1;
      ecitonPage.update(newer);
      await all_drawn();
      all_have_data();
      if (count() !== before) wrong.push(`sections, plots and open parts are ${count()} after an update, were ${before}`);
      if (script && !script.isConnected) wrong.push("the script, which is the same, was written again");
    }
    for (const entry of performance.getEntriesByType("resource")) if (!/^(data|blob):/.test(entry.name)) wrong.push(`request: ${entry.name}`);
  } catch (error) {
    wrong.push(`error: ${error.message}`);
  }
  parent.postMessage({wrong, plots: plots.size}, "*");
})();
