// Keeps a page that is served up to date: the server says that there is something new, and what has changed of the page
// is put in its place. Nothing of it is run: scripts in what is fetched stay text, and the page's policy forbids them.
"use strict";

(() => {
  const mark = document.querySelector("meta[name=arena-live]");
  if (!mark || !window.EventSource) return;
  const status = document.createElement("p");
  status.className = "live note";
  document.querySelector("header.top").append(status);
  let shown = mark.content, wanted = shown, timer = null, lost = "", within = 1, isOver = false;

  // Make `old` what `made` is, and leave alone what is the same: the focus, what is scrolled and what is marked stay.
  function morph(old, made) {
    if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName) {
      old.replaceWith(document.importNode(made, true));
    } else if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== made.nodeValue) old.nodeValue = made.nodeValue;
    } else {
      for (const { name } of [...old.attributes]) if (!made.hasAttribute(name) && name !== "open") old.removeAttribute(name);
      for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
      const before = [...old.childNodes], after = [...made.childNodes];
      after.forEach((child, at) => (at < before.length ? morph(before[at], child) : old.append(document.importNode(child, true))));
      before.slice(after.length).forEach((child) => child.remove());
    }
  }

  async function refresh() {
    timer = null;
    await load();
    if (isOver && timer === null) events.close(); // else something newer is still to be loaded
  }

  async function load() {
    const asked = wanted;
    if (asked === shown || document.hidden) return;
    if (document.querySelector("#filter")) {
      if (isOver) return; // the whole page could not be had any more
      if (document.activeElement === document.body) location.reload();
      else document.activeElement.addEventListener("blur", later, { once: true });
      return;
    }
    const answer = await fetch(location.href.split("#")[0], { cache: "no-store" }).catch(() => null);
    if (!answer) return;
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [old, main] = [document, made].map((one) => one.querySelector("main"));
    if (!main) return;
    morph(old, main);
    document.title = made.title;
    shown = asked;
    document.documentElement.dataset.version = shown;
  }

  // Not all viewers at once.
  function later() {
    timer ??= setTimeout(refresh, 200 + 1000 * within * Math.random());
  }

  const events = new EventSource(mark.dataset.events);
  events.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    status.textContent = state.text;
    lost = state.lost;
    within = state.within;
    isOver = state.over;
    wanted = state.version;
    if (!document.querySelector("#replay")) later();
    else if (isOver) events.close();
  });
  events.onerror = () => { if (!isOver) status.textContent = lost; };
  document.addEventListener("visibilitychange", later);
})();
