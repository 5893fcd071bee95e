"""Makes the pictures of the pages in docs/images, from leagues that it plays: python docs/pictures.py

Needs a Chromium, playwright and a C compiler, for veteran. Look at what it has made before it is committed.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from arena.bots.samples import SAMPLES

IMAGES = Path(__file__).parent / "images"
ARENA = (sys.executable, "-m", "arena")
BOTS = (*SAMPLES, str(Path(__file__).parent.parent / "bots" / "veteran"))
REPORT = {"width": 1130, "height": 530}
REPLAY = {"width": 1280, "height": 720}
LATE_FIGHT = """() => {
  const { fights } = game.views.all;
  return Number(Object.keys(fights).find((ply) => ply > 90 && fights[ply].lost.length === 1));
}"""
POSITIONS = """([first, until]) => {
  const found = [];
  look("all");
  for (let at = first; at <= until; at++) {
    const cells = [...cellsAt(at)].filter(([, cell]) => sideOf(cell));
    found.push({ cells: cells.map(([square, cell]) => [cell.slice(0, 2), ...placeOf(square)]) });
  }
  const symbols = document.querySelector(".symbols defs").innerHTML;
  const colors = getComputedStyle(document.documentElement);
  const names = Object.entries(labels.pieces);
  return {
    found, numbers: Object.fromEntries(names.map(([letter, [number]]) => [letter, number])),
    symbols: symbols.replace(/var\\((--[\\w-]+)\\)/g, (_, name) => colors.getPropertyValue(name).trim()),
  };
}"""
PLIES, PLY_SECONDS, SLIDE_SECONDS = 70, 0.8, 0.3
REPEATED = 'repeatCount="indefinite"'
BOARD = """<svg xmlns="http://www.w3.org/2000/svg" width="440" height="440" viewBox="16 0 408 408">
<style>text {{ fill: #fff; font: 700 14px sans-serif; text-anchor: middle; }}</style>
<defs>{symbols}
<pattern id="squares" x="20" y="4" width="80" height="80" patternUnits="userSpaceOnUse">
<path d="M0 0h80v80h-80z" fill="#ece4cc"/><path d="M0 0h40v40h40v40h-40v-40h-40z" fill="#e3d9bc"/></pattern></defs>
<rect x="16" width="408" height="408" rx="6" fill="#6d5c40"/>
<rect x="20" y="4" width="400" height="400" fill="url(#squares)"/>
<path d="M100 164h80v80h-80zM260 164h80v80h-80z" fill="#8fb6c9"/>
{pieces}</svg>
"""


def pages_of(folder: Path, rules: str, rounds: int) -> Path:
    """The pages of a league that is played now."""
    store, out = folder / f"{rules}.sqlite", folder / rules
    league = ("league", *BOTS, "--rules", rules, "--rounds", str(rounds), "--margin", "3s", "--store", str(store))
    subprocess.run([*ARENA, *league], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    title = f"Sample bots, {rules}"
    subprocess.run([*ARENA, "report", str(store), "--out", str(out), "--title", title], check=True)
    return out


def animated(frames: list[dict[str, Any]], numbers: dict[str, str], symbols: str) -> str:
    """Return these positions, which have their cells with their places, as an SVG in which pieces slide."""
    seconds = PLY_SECONDS * (len(frames) + 2)  # it rests at the end
    pieces = [(cell, [(0.0, x, y)]) for cell, x, y in frames[0]["cells"]]
    ends: dict[int, float] = {}
    for ply, frame in enumerate(frames[1:], 1):
        start, there = ply * PLY_SECONDS, [(cell, x, y) for cell, x, y in frame["cells"]]
        gone = [at for at, (cell, path) in enumerate(pieces) if at not in ends and (cell, *path[-1][1:]) not in there]
        here = {(cell, *path[-1][1:]) for at, (cell, path) in enumerate(pieces) if at not in ends}
        for cell, x, y in there:
            if (cell, x, y) not in here:
                mover = next(at for at in gone if pieces[at][0] == cell)
                gone.remove(mover)
                pieces[mover][1].extend([(start, *pieces[mover][1][-1][1:]), (start + SLIDE_SECONDS, x, y)])
        ends |= dict.fromkeys(gone, start + SLIDE_SECONDS)
    drawn = []
    for number, (cell, path) in enumerate(pieces):
        moves = ""
        if len(path) > 1:
            times = ";".join(f"{time / seconds:.4f}" for time, _, _ in [*path, (seconds, 0, 0)])
            places = ";".join(f"{x} {y}" for _, x, y in [*path, path[-1]])
            moves = f'<animateTransform attributeName="transform" type="translate" {REPEATED} dur="{seconds:g}s" '
            moves += f'keyTimes="{times}" values="{places}"/>'
        if number in ends:
            moves += f'<animate attributeName="opacity" {REPEATED} dur="{seconds:g}s" calcMode="discrete" values="1;0" '
            moves += f'keyTimes="0;{ends[number] / seconds:.4f}"/>'
        side = "red" if cell[0] == "r" else "blue"
        text = "" if cell[1] in "FB" else f'<text x="20" y="34.5">{numbers[cell[1]]}</text>'
        uses = f'<use href="#tile-{side}"/><use href="#rank-{cell[1]}"/>{text}'
        drawn.append(f'<g transform="translate({path[0][1]} {path[0][2]})">{uses}{moves}</g>')
    return BOARD.format(symbols=symbols, pieces="".join(drawn))


def take(page: Page, name: str) -> None:
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=REPORT, color_scheme="light")  # type: ignore[arg-type]
        page.goto(f"file://{pages_of(folder, 'barrage', 5)}/index.html")
        take(page, "report")
        site = pages_of(folder, "isf", 2)
        page.set_viewport_size(REPLAY)  # type: ignore[arg-type]
        page.goto(f"file://{site}/games.html#bot=veteran&against=strategist&from=150")
        page.click("#games tbody a >> nth=0")
        page.wait_for_selector("[data-square]")
        page.check("input[name=view][value=red]")
        page.evaluate("(at) => go(at)", page.evaluate(LATE_FIGHT))
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        take(page, "replay")
        last = page.evaluate("last")
        told = page.evaluate(POSITIONS, [max(0, last - PLIES), last - 1])  # to resign is no move on the board
        (IMAGES / "game.svg").write_text(animated(told["found"], told["numbers"], told["symbols"]))
        browser.close()


if __name__ == "__main__":
    main()
