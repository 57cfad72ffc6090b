/* page_live.js: the page that is served while its run goes on asks for newer data (core/cli_watch.h). It is no part of the
 * file that eciton report writes. */
(() => {
  const SECOND = 1000, SHARE = 20; /* between two questions: a second, and SHARE times of what drawing takes */
  const bar = h("p", {class: "live", role: "status"});
  const me = Math.random().toString(36).slice(2, 12); /* the server tells its pages apart */
  let data = DATA, state = null, tag = null, wait = SECOND;

  const goes_on = () => data.run && data.run.status === "running";

  function show(newer, how) {
    const begin = performance.now();
    if (newer !== data || how !== state) ecitonPage.update(Object.assign({}, newer, {live: how === "live"}));
    data = newer;
    state = how;
    const at = new Date(data.written * 1000).toLocaleTimeString();
    bar.dataset.state = how;
    bar.textContent = how === "lost" ? `No longer served: the state of ${at}` : how === "live" ? `Live: as of ${at}` : data.run ? `The run has ended: as of ${at}` : "Waiting for the run";
    wait = Math.max(SECOND, SHARE * (performance.now() - begin));
  }

  async function ask() {
    try {
      const answer = await fetch("data.json?page=" + me, {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
      let newer = data;
      if (answer.status === 200) {
        const got = await answer.json();
        tag = answer.headers.get("ETag");
        if (got.written !== data.written || got.folder !== data.folder) newer = got;
      } else if (answer.status !== 304) throw new Error(await answer.text());
      show(newer, newer.run && newer.run.status === "running" ? "live" : "ended");
    } catch (error) {
      if (state !== "ended") show(data, "lost");
      wait = 10 * SECOND; /* another run may be served here */
    }
    setTimeout(next, wait);
  }

  /* A page that nobody sees asks nothing. */
  function next() {
    if (!document.hidden) ask();
    else document.addEventListener("visibilitychange", next, {once: true});
  }

  document.body.append(bar);
  show(data, goes_on() ? "live" : "ended");
  next();
})();
