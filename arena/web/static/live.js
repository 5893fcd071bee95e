// Keeps a page up to date: what has changed is put in its place. And the list of running games, in whose place the
// standings are when the league is over.
"use strict";

const parse = (text) => new DOMParser().parseFromString(text, "text/html");

// What is the same stays, with its focus and as far as it was scrolled; so does what a script draws.
function morph(old, made) {
  if (old.isEqualNode(made) || old.dataset?.scripted === "") return;
  if (old.nodeName !== made.nodeName || !(old.firstElementChild || made.firstElementChild)) return old.replaceWith(made);
  for (const { name, value } of made.attributes) old.setAttribute(name, value);
  const before = [...old.childNodes], after = [...made.childNodes];
  after.forEach((child, at) => (at < before.length ? morph(before[at], child) : old.append(child)));
  before.slice(after.length).forEach((child) => child.remove());
}

function renewPart(old, made) {
  const focused = document.activeElement.getAttribute("href");
  morph(old, made);
  if (document.activeElement === document.body) document.querySelector(`main [href="${focused}"]`)?.focus();
}

async function renew(page) {
  const answer = await fetch(page, { cache: "no-store" }).catch(() => null), made = answer?.ok && parse(await answer.text());
  if (!made) return false;
  document.dispatchEvent(new CustomEvent("renewed", { detail: made })); // for scripts that draw a part of it
  renewPart(document.querySelector("main"), made.querySelector("main"));
  return true;
}

const meta = document.querySelector("meta[name=arena-live]"), liveStatus = document.querySelector(".live");
let version = meta?.content, told = {};

// The page of a game draws itself.
async function follow() {
  if (told.version === version || (document.hidden && !told.over) || document.querySelector(".replay")) return;
  version = told.version;
  if (!(await renew(location.pathname))) version = ""; // another event is another chance
}

if (meta) hearEvents(meta.dataset.events, "state", async (state) => {
  told = state;
  liveStatus.textContent = told.text;
  await moment(200, 1000 * told.within); // not all viewers at once
  await follow();
  return told.over && "over";
}, () => { liveStatus.textContent = told.lost ?? ""; });
if (meta) document.addEventListener("visibilitychange", follow);

const running = document.querySelector("#now"), progress = document.querySelector("#progress"), items = {};
let isOver = false;

if (running) hearEvents("now/events", "games", async ({ text, games, is_over, is_stored }) => {
  for (const [id, item] of games) items[id] = item ? parse(item).body.firstChild : items[id];
  const made = running.cloneNode();
  made.append(...games.map(([id]) => items[id].cloneNode(true)));
  renewPart(running, made);
  progress.textContent = text;
  isOver = is_over;
  if (is_stored && (await renew("index.html"))) document.querySelector("main").prepend(progress);
  return is_stored && "over";
}, () => { if (!isOver) progress.textContent = progress.dataset.lost; });
