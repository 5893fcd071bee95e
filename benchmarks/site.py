"""What the pages of a large league cost: seconds to write them, their size, and how soon a page can be read.

    python benchmarks/site.py STORE [--games 10000] [--keep FOLDER]

STORE is a league that was played. Its games are stored again under other ids until there are so many, and `arena
report` writes the pages of all. Printed are seconds by the clock and of processor time (of all processes), and
megabytes. Where there is a Chromium and playwright, each kind of page is opened several times: printed are
the shortest time until all of it stands there (the board of a game, and the list of games once it is filtered), and
its elements.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from arena.league.store import Store

AT_ONCE = 500
OPENED = {
    "standings": ("index.html", "() => true"),
    "crosstable": ("crosstable.html", "() => true"),
    "games": ("games.html", "() => !document.querySelector('#filter').hidden"),
    "games, filtered": ("games.html#result=red", "() => document.querySelector('#found').textContent"),
    "a bot": ("bots/1.html", "() => true"),
    "a game": ("games/{}.html#ply=20", "() => document.querySelector('[data-square]')"),
}


def multiply(store: Path, out: Path, games: int) -> None:
    """Store the games of `store` in `out`, again and again, until there are so many."""
    with Store(store, create=False) as given:
        contents = given.read()
        records = [given.stored(row.number).record for row in contents.rows]
    found = [record for record in records if record is not None]
    with Store(out, create=True) as large:
        large.agree(contents.settings)
        large.keep(entrants=contents.entrants)
        for first in range(0, games, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, games))
            ids = [hashlib.sha256(str(number).encode()).hexdigest()[:16] for number in numbers]
            large.add_all(
                [
                    msgspec.structs.replace(found[number % len(found)], id=name)
                    for number, name in zip(numbers, ids, strict=True)
                ]
            )


def write(store: Path, out: Path) -> None:
    """Print what it takes to write the pages."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "arena", "report", str(store), "--out", str(out)], check=True)
    after, seconds = os.times(), time.perf_counter() - start
    used = after.children_user + after.children_system - before.children_user - before.children_system
    files = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    print(f"{seconds:.1f} s by the clock, {used:.1f} s of processor time on {os.cpu_count()} CPUs")
    print(f"{len(files)} files, {sum(files) / 1e6:.1f} MB")


def open_pages(out: Path, game: int, times: int) -> None:
    """Print how long each kind of page takes until it stands there."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium here: no page was opened")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (path, is_there) in OPENED.items():
            taken = []
            for _ in range(times):
                page = browser.new_page()
                start = time.perf_counter()
                page.goto(f"file://{out.resolve()}/{path.format(game)}")
                page.wait_for_function(is_there)
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                taken.append(time.perf_counter() - start)
                elements = page.evaluate("document.querySelectorAll('*').length")
                page.close()
            print(f"{name:16} {min(taken):6.2f} s, {elements} elements")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--opened", type=int, default=3, help="how often each page is opened (default: 3)")
    parser.add_argument("--keep", type=Path, help="where the store and the pages stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        store = folder / f"{given.games}.sqlite"
        if not store.exists():
            multiply(given.store, store, given.games)
        write(store, folder / "site")
        try:
            open_pages(folder / "site", given.games, given.opened)
        except ImportError:
            print("playwright is not installed: no page was opened")


if __name__ == "__main__":
    main()
