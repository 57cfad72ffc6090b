/* page_live.js: the page that is served while its run goes on asks for newer data (core/cli_watch.h). It is no part of the
 * file that eciton report writes. */
(() => {
  const SECOND = 1000, SHARE = 20; /* between two questions: a second, and SHARE times of what drawing takes */
  const bar = h("p", {class: "live", role: "status"});
  const clock = seconds => new Date(seconds * 1000).toLocaleTimeString();
  let tag = null, data = DATA, wait = SECOND;

  function say(state) {
    const at = clock(data.written), run = data.run;
    bar.dataset.state = state;
    bar.textContent = state === "lost" ? `No longer served: this is the state of ${at}`
      : run && run.status === "running" ? `Live: as of ${at}` : run ? `The run has ended: as of ${at}` : "Waiting for the run";
    document.body.append(bar);
    if (run && run.status === "running") document.getElementById("unfinished")?.remove();
  }

  function take(newer) {
    const begin = performance.now();
    if (newer.written !== data.written) window.ecitonPage.update(newer);
    data = newer;
    wait = Math.max(SECOND, SHARE * (performance.now() - begin));
  }

  async function ask() {
    wait = SECOND;
    try {
      const answer = await fetch("data.json", {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
      if (answer.status === 200) {
        take(await answer.json());
        tag = answer.headers.get("ETag");
      } else if (answer.status !== 304) throw new Error(await answer.text());
      say(data.run && data.run.status === "running" ? "live" : "ended");
    } catch (error) {
      say("lost");
      wait = 5 * SECOND;
    }
    setTimeout(next, wait);
  }

  /* A page that nobody sees asks nothing. */
  function next() {
    if (!document.hidden) ask();
    else document.addEventListener("visibilitychange", next, {once: true});
  }

  say("live");
  next();
})();
