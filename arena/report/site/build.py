"""A site written to a folder: `arena report`.

All is written beside the folder first and put in its place at the end, so that who looks at a site that is made anew
sees the old one or the new one. Only a folder that is empty, or that a site was written to before, is ever replaced.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.time_control import parse_time
from arena.league.store import Contents, Groups, Store, files_in
from arena.printable import printable
from arena.report.bots import BotVersion, bot_versions
from arena.report.names import DEFAULT_NAMES, Names
from arena.report.roster import Roster, players_of
from arena.report.site.audience import Audience
from arena.report.site.frame import FOLDER, Frame, Site
from arena.report.site.game_files import Job, write_games
from arena.report.site.pages import LeaguePages
from arena.report.site.values import League, count_league
from arena.report.standings import Table, make_table
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset
from arena.version import __version__

MOST_DIALOGUES = 1000
"""Games up to which pages have the dialogues."""
MARK = "arena-site.json"
"""A file that says that a folder holds a site, and nothing else: it may be replaced."""
PAGES = re.compile(
    rf"{re.escape(MARK)}|(index|crosstable|rules|games(-\d+)?)\.html|games\.js|static/arena\.(css|js)"
    r"|bots/\d+\.html|games/\d+\.(html|js)"
)
"""What a site consists of: a folder with anything else in it is not replaced."""
MENU = (
    ("Standings", "index.html"),
    ("Crosstable", "crosstable.html"),
    ("Games", "games.html"),
    ("Rules", "rules.html"),
)
MOST_IN_PAIRS = 60
"""Bots up to which the likelihood of superiority of each two is shown."""


@dataclass(frozen=True)
class SitePlan:
    """What a site is to be. `newest` is how many games have pages, None for all; `numbers` are those that have one in
    any case, or alone if `newest` is 0. `dialogues` is whether pages have all that was said to the bots and by them,
    which is most of their size; None: unless there are many games."""

    audience: Audience = Audience.ALL
    newest: int | None = None
    numbers: tuple[int, ...] = ()
    title: str = ""
    names: Names = DEFAULT_NAMES
    dialogues: bool | None = None


class Written(msgspec.Struct, frozen=True):
    """What was written: the first page, games in the list, games with pages, bytes; and of which games there is no
    page, and why."""

    index: str
    games: int
    pages: int
    size: int
    faults: dict[int, str]


def write_site(store: Store, out: Path, plan: SitePlan) -> Written:
    """Write the site of a store to a folder. Raises `UsageError` for a folder that holds something else, and for a
    store without games."""
    refuse_other_folder(out)
    contents = store.count()
    settings = contents.settings
    players = contents.entrants or players_of(contents.rows, contents.entrants)
    pairs = len(players) <= MOST_IN_PAIRS
    planned, meets_all = contents.planned_for(players)
    table = make_table(players, contents.rows, planned, meets_all=meets_all, pairs=pairs)
    if not table.games:
        raise UsageError(f"{store.path}: expected a store with games, and there are none of who takes part in it")
    roster = Roster(players, contents.rows)
    league = count_league(store.each_row(), table.games, roster, [line.name for line in table.lines])
    numbers = _chosen([game.number for game in league.games], plan)
    site = Site(plan.title or printable(store.path.stem), MENU, f"Made by arena {__version__}.")
    pages = LeaguePages(Frame(site), table, league)
    versions = _versions(store, roster, contents)
    with _beside(out) as folder:
        shutil.copytree(FOLDER / "static", folder / "static")
        for name in ("bots", "games"):
            (folder / name).mkdir()
        done = write_games(
            Job(
                store=str(store.path),
                folder=str(folder),
                numbers=tuple(numbers),
                site=site,
                audience=plan.audience,
                language=plan.names.language,
                numbering=plan.names.numbering,
                shown=tuple(roster.names.items()),
                has_dialogues=len(numbers) <= MOST_DIALOGUES if plan.dialogues is None else plan.dialogues,
            )
        )
        has_pages = frozenset(numbers) - done.faults.keys()
        texts = {
            "index.html": pages.standings(_summary(table, settings)),
            "crosstable.html": pages.crosstable(),
            "games.js": pages.games_script(has_pages),
            "rules.html": pages.rules(_rules(store, league), plan.names),
            MARK: json.dumps({"made_by": f"arena {__version__}", "for": plan.audience.value}) + "\n",
            **dict(pages.games(has_pages)),
        }
        for line in table.lines:
            of_bot = [one for one in versions if one.digest == line.digest]
            texts[pages.href[line.name]] = pages.bot(line, of_bot, done.times.get(line.name, {}), _limit(settings))
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Written(str(out / "index.html"), table.games, len(has_pages), size, done.faults)


def _summary(table: Table, settings: Mapping[str, str]) -> str:
    rules, time = (printable(settings.get(name, "not known")) for name in ("ruleset", "time"))
    return f"{len(table.lines)} bots, {table.games} games; rules {rules}, time {time}"


def _limit(settings: Mapping[str, str]) -> float | None:
    """The limit per move in milliseconds, if the store says one."""
    try:
        return parse_time(settings.get("time", "")).move_ms
    except UsageError:
        return None


def _rules(store: Store, league: League) -> Ruleset:
    """The rules that the games of the league were played by, as the first record that can be read has them."""
    for game in league.games:
        record = store.stored(game.number).record
        if record is not None:
            return ruleset_from_lines(record.ruleset, record.rules)
    raise UsageError(f"{store.path}: no record in it can be read")


def _versions(store: Store, roster: Roster, contents: Contents[Groups]) -> list[BotVersion]:
    return bot_versions(
        store.each_row(),
        roster,
        contents.entrants,
        record_of=lambda number: store.stored(number).record,
        files_of=lambda player: files_in(contents.settings, player),
    )


def refuse_other_folder(out: Path) -> None:
    """Raises `UsageError` for a path with something that is no site and no empty folder, or more than a site."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: expected a folder, or nothing yet, and it is something else")
    if not out.is_dir():
        return
    if out.samefile("."):
        raise UsageError(f"{out}: expected another folder than the current one, which is replaced as a whole")
    if any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten")
    for folder, _, names in os.walk(out):
        for name in names:
            inside = (Path(folder) / name).relative_to(out).as_posix()
            if not PAGES.fullmatch(inside):
                raise UsageError(
                    f"{out}: expected a site and nothing else, as it is replaced whole: {inside} is no page"
                )


def _chosen(numbers: Sequence[int], plan: SitePlan) -> list[int]:
    missing = sorted(set(plan.numbers) - set(numbers))
    if missing:
        raise UsageError(f"no game {missing[0]} among those of the table")
    newest = numbers if plan.newest is None else numbers[len(numbers) - min(plan.newest, len(numbers)) :]
    return sorted({*newest, *plan.numbers})


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, which takes its place at the end, if nothing has gone wrong."""
    folder = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
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
    except OSError as error:
        raise ArenaError(f"{out}: the pages cannot be written: {error.strerror or error}") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
