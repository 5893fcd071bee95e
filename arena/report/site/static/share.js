// The page of a stored game. Its data is a script, as pages on a disk can load nothing else.
"use strict";

const IMAGE_SIDE = 1060;
const whole = document.querySelector("[data-whole]");
const number = Number(stage?.dataset.game ?? asked().game);

function svgOf() {
  if (!board) return game.views[view].images[ply];
  const symbols = document.querySelector(".symbols defs").outerHTML, colors = getComputedStyle(document.documentElement);
  return board.outerHTML.replace(/ (class|role|tabindex|aria-\w+|data-\w+)="[^"]*"/g, "").replace(">", ">" + symbols)
    .replace(/var\((--[\w-]+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
}

async function pngAddress(svg) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = svgAddress(svg);
  await image.decode();
  const scale = IMAGE_SIDE / Math.max(image.width, image.height);
  Object.assign(canvas, { width: scale * image.width, height: scale * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

async function copy(text) {
  const link = new URL(addressOf(), location.href);
  const page = new URL("../embed.html" + addressOf().replace("#", `#game=${number}&`), location.href);
  const code = fill(text, { link, page });
  // Only pages of https and of this machine may copy.
  await navigator.clipboard.writeText(code).then(() => put("copied", texts.copied), () => prompt("", code));
}

async function share({ target: { dataset: { text, saveAs: kind } } }) {
  if (text) return copy(text);
  if (!kind) return;
  const href = await { svg: svgAddress, png: pngAddress }[kind](svgOf());
  Object.assign(document.createElement("a"), { href, download: `game-${number}-ply-${ply}.${kind}` }).click();
}

function readAddress() {
  const { ply: to, view: seen, from } = asked();
  flipped = from === "blue";
  if (seen in game.views) look(seen);
  go(Number.parseInt(to, 10) || 0);
}

// Called by the script with the data.
async function arenaGame(_, packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  showGame(await new Response(stream).json());
  readAddress();
  window.addEventListener("hashchange", readAddress);
  part("share")?.addEventListener("click", share);
}

if (stage) load(stage.dataset.scripts + number + ".js");
if (whole) Object.assign(whole, { href: `games/${number}.html`, textContent: `${whole.textContent}, game ${number}` });
