"""Makes the pictures of the pages in docs/images, from leagues that it plays: python docs/pictures.py

Needs a Chromium, playwright and a C compiler, for veteran. Look at what it has made before it is committed.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from arena.bots.samples import SAMPLES

IMAGES = Path(__file__).parent / "images"
ARENA = (sys.executable, "-m", "arena")
BOTS = (*SAMPLES, str(Path(__file__).parent.parent / "bots" / "veteran"))
REPORT = {"width": 1130, "height": 530}
REPLAY = {"width": 1040, "height": 840}
LATE_FIGHT = """() => {
  const replay = document.querySelector("#replay").replay;
  return Object.keys(replay.seen().fights).map(Number).find((ply) => ply > 90 && replay.fight(ply).lost.length === 1);
}"""


def pages_of(folder: Path, rules: str, rounds: int) -> Path:
    """The pages of a league that is played now."""
    store, out = folder / f"{rules}.sqlite", folder / rules
    league = ("league", *BOTS, "--rules", rules, "--rounds", str(rounds), "--margin", "3s", "--store", str(store))
    subprocess.run([*ARENA, *league], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    title = f"Sample bots, {rules}"
    subprocess.run([*ARENA, "report", str(store), "--out", str(out), "--title", title], check=True)
    return out


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
        site = pages_of(folder, "isf", 1)
        page.set_viewport_size(REPLAY)  # type: ignore[arg-type]
        page.goto(f"file://{site}/games.html#bot=veteran&against=strategist&from=150")
        page.click("#games tbody a >> nth=0")
        page.wait_for_selector("[data-square]")
        page.check("input[name=view][value=red]")
        page.evaluate("(ply) => document.querySelector('#replay').replay.go(ply)", page.evaluate(LATE_FIGHT))
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        take(page, "replay")
        browser.close()


if __name__ == "__main__":
    main()
