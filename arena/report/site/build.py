"""A site written to a folder: `arena report`.

All is written beside the folder first and put in its place at the end, so that who looks at a site that is made anew
sees the old one or the new one. Only a folder that is empty, or that a site was written to before, is ever replaced.
"""

import json
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord, RecordError
from arena.league.store import Store, files_in
from arena.printable import printable
from arena.report.bots import bot_versions
from arena.report.names import DEFAULT_NAMES, Names
from arena.report.site.audience import Audience
from arena.report.site.charts import histogram
from arena.report.site.game_data import game_data, game_script
from arena.report.site.pages import FOLDER, Pages, Site
from arena.report.site.values import count_league
from arena.report.standings import Roster, make_table, players_of
from arena.rules.rule_lines import ruleset_from_lines
from arena.version import __version__
from protocol.notation import Color

MARK = "arena-site.json"
"""A file that says that a folder holds a site, and nothing else: it may be replaced."""
MOST_IN_PAIRS = 60
"""Bots up to which the likelihood of superiority of each two is shown."""


@dataclass(frozen=True)
class SitePlan:
    """What a site is to be. `newest` is how many games have pages, None for all; `numbers` are those that have one in
    any case, or alone if `newest` is 0."""

    audience: Audience = Audience.ALL
    newest: int | None = None
    numbers: tuple[int, ...] = ()
    title: str = ""
    names: Names = DEFAULT_NAMES


@dataclass(frozen=True)
class Written:
    """What was written: games in the list, games with pages, bytes."""

    games: int
    pages: int
    size: int
    unreadable: tuple[int, ...]


def write_site(store: Store, out: Path, plan: SitePlan) -> Written:
    """Write the site of a store to a folder. Raises `UsageError` for a folder that holds something else."""
    refuse_other_folder(out)
    contents = store.count()
    if not contents.rows:
        raise UsageError(f"{store.path}: expected a store with games, and there are none yet")
    players = contents.entrants or players_of(contents.rows, contents.entrants)
    pairs = len(players) <= MOST_IN_PAIRS
    table = make_table(players, contents.rows, contents.planned, meets_all=contents.meets_all, pairs=pairs)
    roster = Roster(players, contents.rows)
    league = count_league(store.each_row(), table.games, roster, [line.name for line in table.lines])
    numbers = [game.number for game in league.games]
    shown = _chosen(numbers, plan)
    settings = contents.settings
    where = printable(settings.get("ruleset", ""))
    title = plan.title or printable(store.path.stem)
    summary = f"{len(table.lines)} bots, {table.games} games; rules {where}, time {printable(settings.get('time', ''))}"
    site = Site(
        title=title,
        summary=summary,
        footer=f"Made by arena {__version__}.",
        remarks=(),
        menu=(
            ("Standings", "index.html"),
            ("Crosstable", "crosstable.html"),
            ("Games", "games.html"),
            ("Rules", "rules.html"),
        ),
    )
    pages = Pages(site, table, league, plan.audience, plan.names)
    versions = bot_versions(
        store.each_row(),
        roster,
        contents.entrants,
        record_of=lambda number: store.stored(number).record,
        files_of=lambda player: files_in(settings, player),
    )
    with _beside(out) as folder:
        shutil.copytree(FOLDER / "static", folder / "static")
        for name in ("bots", "games"):
            (folder / name).mkdir()
        times: dict[str, Counter[int]] = defaultdict(Counter)
        unreadable = []
        ruleset = None
        for number in shown:
            record = store.stored(number).record
            if record is None:
                unreadable.append(number)
                continue
            try:
                ruleset = ruleset or ruleset_from_lines(record.ruleset, record.rules)
                _write_game(folder, number, record, pages, roster, plan)
            except ArenaError as error:
                raise RecordError(f"game {number}: {error}") from None
            _count_times(times, record, roster)
        _write(folder / "index.html", pages.standings())
        _write(folder / "crosstable.html", pages.crosstable())
        has_pages = frozenset(shown) - frozenset(unreadable)
        for name, text in pages.games(has_pages):
            _write(folder / name, text)
        _write(folder / "games.js", pages.games_script(has_pages))
        for line in table.lines:
            of_bot = [one for one in versions if one.digest == line.digest]
            _write(folder / pages.href[line.name], pages.bot(line, of_bot, times[line.name], None))
        if ruleset is not None:
            _write(folder / "rules.html", pages.rules(ruleset))
        _write(folder / MARK, json.dumps({"made_by": f"arena {__version__}", "for": plan.audience.value}) + "\n")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Written(len(numbers), len(has_pages), size, tuple(unreadable))


def refuse_other_folder(out: Path) -> None:
    """Raises `UsageError` for a path with something that is no site and no empty folder."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: expected a folder, or nothing yet, and it is something else")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten")


def _chosen(numbers: Sequence[int], plan: SitePlan) -> list[int]:
    missing = sorted(set(plan.numbers) - set(numbers))
    if missing:
        raise UsageError(f"no game {missing[0]} among those of the table")
    newest = numbers if plan.newest is None else numbers[len(numbers) - min(plan.newest, len(numbers)) :]
    return sorted({*newest, *plan.numbers})


def _write_game(folder: Path, number: int, record: GameRecord, pages: Pages, roster: Roster, plan: SitePlan) -> None:
    _write(folder / f"games/{number}.html", pages.game(number, record, roster.names))
    _write(folder / f"games/{number}.js", game_script(number, game_data(record, plan.audience, plan.names)))


def _count_times(times: dict[str, Counter[int]], record: GameRecord, roster: Roster) -> None:
    first = dict(record.rules).get("starts") == Color.BLUE.word
    for color in Color:
        name = roster.names.get(record.players[color])
        if name is not None:
            times[name].update(histogram(record.times_us[color ^ first :: 2]))


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, which takes its place at the end, if nothing has gone wrong."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield folder
        folder.chmod(0o777 & ~_umask())
        if out.exists():
            refuse_other_folder(out)  # it may have changed meanwhile
            old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
            out.rename(old / "old")
            folder.rename(out)
            shutil.rmtree(old)
        else:
            folder.rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
