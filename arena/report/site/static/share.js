// The start of a stored game's page, whose data is a script, for pages on a disk can load no other; and what can be
// taken from it: a link to the ply, code that shows it on another page, the position as an image.
"use strict";

const IMAGE_SIDE = 1060;
const LETTERS = 'fill="#fff" font-family="sans-serif" font-weight="700" font-size="14" text-anchor="middle"';

function boardText() {
  const [text, symbols] = [board, document.querySelector(".symbols defs")].map((one) => new XMLSerializer().serializeToString(one));
  const colors = getComputedStyle(document.documentElement);
  return text.replace(/ (class|style|role|tabindex|aria-\w+|data-\w+)="[^"]*"/g, "").replace(">", ` ${LETTERS}>${symbols}`)
    .replace(/var\((--[\w-]+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
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

function listenForSharing(number) {
  const told = part("share").querySelector("[role=status]"), svg = () => (board ? boardText() : game.views[view].images?.[ply]);
  const save = (kind, href) => element("a", { href, download: `game-${number}-ply-${ply}.${kind}` }).click();
  const copy = async (text) => {
    const link = new URL(addressOf(), location.href);
    const page = new URL("../embed.html" + addressOf().replace("#", `#game=${number}&`), location.href);
    const code = fill(text, { link, page });
    try {
      await navigator.clipboard.writeText(code);
      told.textContent = texts.copied;
    } catch {
      prompt("", code); // only pages of https and of this machine may copy
    }
  };
  const actions = { copy, svg: () => save("svg", svgAddress(svg())), png: async () => save("png", await imageOf(svg())) };
  for (const button of part("share").querySelectorAll("button")) {
    const { shareAs: what, text } = button.dataset;
    button.hidden = what !== "copy" && !svg();
    button.addEventListener("click", () => actions[what](text));
  }
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

async function start() {
  const number = Number(stage.dataset.game ?? asked().game), whole = document.querySelector("[data-whole]");
  const packed = new Promise((resolve) => { window.arenaGame = (_, text) => resolve(text); });
  await load(stage.dataset.scripts + number + ".js");
  begin(await unpack(await packed));
  if (!whole) return listenForSharing(number);
  whole.append(", game " + number); // from a page that is embedded to the whole one
  whole.addEventListener("click", () => { whole.href = `games/${number}.html` + addressOf().replace(/game=\d+&/, ""); });
}

if (stage) start().catch((error) => put("now", String(error)));
