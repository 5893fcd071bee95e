// Asks again for what a busy server refused: a script, a style sheet, the events of a page.
"use strict";

const moment = (least = 1000, more = 2000) => new Promise((resolve) => setTimeout(resolve, least + more * Math.random()));

addEventListener("error", async ({ target }) => {
  const address = target?.src || target?.href; // an error of a script that runs comes from the window
  while (address) {
    await moment();
    if ((await fetch(address, { cache: "reload" }).catch(() => null))?.ok) return location.reload();
  }
}, true);

// `hear` events, also after the connection was `lost`, until one of the two returns "over"; "again" connects anew, as the
// first event of a connection tells the present state.
function hearEvents(address, kind, hear, lost) {
  const source = new EventSource(address);
  async function react(answer) {
    if (answer) source.close();
    if (answer !== "again") return;
    await moment();
    hearEvents(address, kind, hear, lost);
  }
  source.addEventListener(kind, async ({ data }) => react(await hear(JSON.parse(data))));
  // Browsers give up after an answer that is an error.
  source.onerror = () => react(lost() || (source.readyState === EventSource.CLOSED && "again"));
}
