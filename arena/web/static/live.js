// Keeps a page up to date: when the server tells of a new version, what has changed is put in its place.
"use strict";

(() => {
  const { content, dataset } = document.querySelector("meta[name=arena-live]");
  const status = document.createElement("p");
  status.className = "live note";
  document.querySelector("header.top").append(status);
  let shown = content, state = {};

  // What is the same stays, with its focus and as far as it was scrolled; so does what a script draws.
  function morph(old, made) {
    if (old.isEqualNode(made) || old.dataset?.scripted === "") return;
    if (old.nodeName !== made.nodeName || !made.firstElementChild) return old.replaceWith(made);
    for (const { name, value } of made.attributes) old.setAttribute(name, value);
    const before = [...old.childNodes], after = [...made.childNodes];
    after.forEach((child, at) => (at < before.length ? morph(before[at], child) : old.append(child)));
    before.slice(after.length).forEach((child) => child.remove());
  }

  // The page of a game never changes.
  async function renew() {
    if (state.version === shown || (document.hidden && !state.over) || document.querySelector("#replay")) return;
    shown = state.version;
    const answer = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) return (shown = ""); // another event is another chance
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = document.activeElement.getAttribute("href");
    document.dispatchEvent(new CustomEvent("renewed", { detail: made })); // for scripts that draw a part of it
    morph(document.querySelector("main"), made.querySelector("main"));
    if (document.activeElement === document.body) document.querySelector(`main [href="${focused}"]`)?.focus();
  }

  hearEvents(dataset.events, "state", async (told) => {
    state = told;
    status.textContent = told.text;
    await moment(200, 1000 * told.within); // not all viewers at once
    await renew();
    return state.over ? "over" : "";
  }, () => { status.textContent = state.lost ?? ""; });
  document.addEventListener("visibilitychange", renew);
})();
