// Keeps pages up to date, and the list of running games, which becomes the standings when the league is over.
"use strict";

const meta = document.querySelector("meta[name=arena-live]"), liveStatus = document.querySelector(".live");
const running = document.querySelector("#now"), progress = document.querySelector("#progress");
let version = meta?.content, told = {}, isOver = false;

// What is the same stays, and what a script draws.
function morph(old, made) {
  if (old.isEqualNode(made) || old.dataset?.scripted === "") return;
  if (!made.firstElementChild || !old.cloneNode().isEqualNode(made.cloneNode())) return old.replaceWith(made);
  const before = [...old.childNodes], after = [...made.childNodes];
  after.forEach((child, at) => (at < before.length ? morph(before[at], child) : old.append(child)));
  before.slice(after.length).forEach((child) => child.remove());
}

function renewPart(old, made) {
  const focused = document.activeElement.getAttribute("href");
  morph(old, made);
  if (document.activeElement === document.body) document.querySelector(`main [href="${focused}"]`)?.focus();
}

// The page of a game draws itself.
async function follow() {
  if (told.version === version || document.querySelector(".replay")) return;
  version = told.version;
  const answer = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (!answer?.ok) return (version = "");
  const made = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.dispatchEvent(new CustomEvent("renewed", { detail: made }));
  renewPart(document.querySelector("main"), made.querySelector("main"));
}

if (meta) hearEvents(meta.dataset.events, "state", async (state) => {
  told = state;
  liveStatus.textContent = told.text;
  await moment(200, 1000 * told.within); // not all viewers at once
  await follow();
  return told.over && "over";
}, () => { liveStatus.textContent = told.lost ?? ""; });

if (running) hearEvents("now/events", "games", ({ text, games, is_over, is_stored }) => {
  const made = running.cloneNode();
  made.innerHTML = games;
  renewPart(running, made);
  progress.textContent = text;
  isOver = is_over;
  if (is_stored) location.replace("index.html");
  return is_stored && "over";
}, () => { if (!isOver) progress.textContent = progress.dataset.lost; });
