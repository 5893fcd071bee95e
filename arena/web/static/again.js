// Asks again for what could not be had, as from a busy server: a script, a style sheet, the events of a page.
"use strict";

const moment = (least = 1000, more = 2000) => new Promise((resolve) => setTimeout(resolve, least + more * Math.random()));

addEventListener("error", async ({ target }) => {
  const address = target?.src || target?.href; // an error of a script that runs comes from the window
  if (!address) return;
  do await moment();
  while (!(await fetch(address, { cache: "reload" }).catch(() => null))?.ok);
  location.reload();
}, true);

// `hear` events, also after the connection was `lost`, until one of the two returns "over"; "again" asks for all that
// was missed. The first event of a connection tells the present state.
function hearEvents(address, kind, hear, lost) {
  const source = new EventSource(address);
  async function again() {
    source.close();
    await moment();
    hearEvents(address, kind, hear, lost);
  }
  source.addEventListener(kind, async ({ data }) => {
    const answer = await hear(JSON.parse(data));
    if (answer === "again") again();
    if (answer === "over") source.close();
  });
  source.onerror = () => {
    if (lost() === "over") source.close();
    else if (source.readyState === EventSource.CLOSED) again(); // browsers give up after an answer that is an error
  };
}
