// What can be taken from the page of a game: a link to the ply, code that shows it on another page, the position as an
// image. And the start of the page: the data of a game comes in a script of its own, for pages on a disk can load no other.
"use strict";

const IMAGE_SIDE = 1060;
const SHOWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "clip-path", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "transform"];

// The board as it is shown, as a text that needs no page around it.
function boardText(board) {
  const made = board.cloneNode(true), symbols = document.querySelector(".symbols defs").cloneNode(true);
  const [old, copies] = [board, made].map((one) => [one, ...one.querySelectorAll("*")]);
  copies.forEach((copy, at) => {
    const style = getComputedStyle(old[at]);
    for (const { name } of [...copy.attributes]) if (/^(id|class|style|role|tabindex|aria-.*|data-.*)$/.test(name)) copy.removeAttribute(name);
    for (const name of SHOWN) if (style[name] !== "none" || name === "fill") copy.setAttribute(name, style.getPropertyValue(name));
  });
  const [text, defs] = [made, symbols].map((one) => new XMLSerializer().serializeToString(one)), colors = getComputedStyle(document.documentElement);
  return text.replace(">", ">" + defs).replace(/var\((--[\w-]+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
}

function save(address, name) {
  const link = element("a");
  Object.assign(link, { href: address, download: name });
  link.click();
}

async function imageOf(svg) {
  const image = new Image(), canvas = element("canvas");
  image.src = svgAddress(svg);
  await image.decode();
  const scale = IMAGE_SIDE / Math.max(image.width, image.height);
  canvas.width = scale * image.width;
  canvas.height = scale * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

function listenForSharing(replay, number) {
  const place = replay.part("share"), told = place.querySelector("[role=status]");
  const name = () => `game-${number}-ply-${replay.ply}`;
  const svg = () => (replay.board instanceof Board ? boardText(replay.part("board")) : replay.seen().images?.[replay.ply]);
  const here = (page) => new URL(page + replay.hash(), location.href).href;
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      told.textContent = replay.texts.copied;
    } catch {
      prompt("", text); // only pages of https and of this machine may copy
    }
  };
  const actions = {
    link: () => copy(here(location.pathname.split("/").at(-1))),
    embed: () => copy(`<iframe src="${here("../embed.html").replace("#", `#game=${number}&`)}" title="Game ${number}" width="420" height="630" style="max-width: 100%; border: 0"></iframe>`),
    svg: () => save(svgAddress(svg()), name() + ".svg"),
    png: async () => save(await imageOf(svg()), name() + ".png"),
  };
  for (const button of place.querySelectorAll("[data-share-as]")) {
    button.hidden = /svg|png/.test(button.dataset.shareAs) && !svg();
    button.addEventListener("click", () => actions[button.dataset.shareAs]());
  }
}

const loading = new Map();
window.arenaGame = (number, packed) => loading.get(number)?.(packed);

document.addEventListener("DOMContentLoaded", async () => {
  const root = document.querySelector("#replay");
  if (!root) return;
  const number = Number(root.dataset.game ?? asked().game), now = root.querySelector("[data-now]");
  if (!(number > 0)) return now.append("Expected the number of a game: embed.html#game=NUMBER.");
  const packed = new Promise((resolve) => loading.set(number, resolve));
  try {
    await load(root.dataset.scripts + number + ".js");
    root.replay = new Replay(root, await unpack(await packed));
    const whole = document.querySelector("[data-whole]"); // from a page that is embedded to the whole one
    whole?.append(`, game ${number}`);
    whole?.addEventListener("click", () => { whole.href = `games/${number}.html` + root.replay.hash().replace(/game=\d+&/, ""); });
    if (!whole) listenForSharing(root.replay, number);
  } catch (error) {
    now.textContent = String(error);
  }
});
