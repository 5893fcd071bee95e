// Fetches a script or a style sheet again that could not be loaded, as from a busy server, and then loads the page again.
"use strict";

addEventListener("error", async ({ target }) => {
  const address = target?.src || target?.href; // an error of a script that runs comes from the window
  if (!address) return;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000 + 2000 * Math.random()));
    const answer = await fetch(address, { cache: "reload" }).catch(() => null);
    if (answer?.ok) break;
  }
  location.reload();
}, true);
