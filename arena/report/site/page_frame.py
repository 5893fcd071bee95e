"""What all pages have in common: the texts, the templates, the menu, and what a page may load."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined


@dataclass(frozen=True)
class Words:
    """The English texts; another language is another value."""

    lang: str = "en"
    # --- on every page ---
    skip: str = "Skip to the contents"
    pages: str = "Pages"
    made_by: str = "Made by arena {version}."
    standings: str = "Standings"
    crosstable: str = "Crosstable"
    games_title: str = "Games"
    rules: str = "Rules"
    red: str = "Red"
    blue: str = "Blue"
    bot: str = "bot"
    game: str = "game"
    games: str = "games"
    result: str = "result"
    reason: str = "reason"
    plies: str = "plies"
    ply: str = "ply"
    milliseconds: str = "{} ms"
    # --- standings ---
    summary: str = "{bots} bots, {games} games; rules {rules}, time {time}"
    against_itself: str = "games of a bot against itself, which do not count: {games}"
    not_known: str = "not known"
    damaged: str = "The store is damaged, or was changed from outside: what is not as it was stored does not count."
    outcome: str = "outcome"
    all_games: str = "Table of the games"
    to_rounds: str = "Who met whom, round by round"
    standings_caption: str = "The bots in the order of their points, with their Elo"
    place: str = "#"
    points: str = "points"
    score: str = "%"
    won: str = "W"
    drawn: str = "D"
    lost: str = "L"
    elo: str = "Elo"
    interval: str = "95% interval"
    forfeits: str = "forfeits"
    per_move: str = "ms/move"
    cpu: str = "CPU ms"
    elo_note: str = (
        "Elo is fitted to all games at once (Davidson's model, with draws and the advantage of Red) and is relative to "
        "the mean. The bars are 95% intervals; one that ends in dots is not bounded by the games."
    )
    elo_over_time: str = "Elo over time"
    elo_over_time_note: str = (
        "Fitted to the first games, to more and more of them, and to all. The table above has the same numbers for all."
    )
    so_many_games: str = "{} games"
    how_games_ended: str = "How the games ended"
    lost_so: str = "lost so"
    # --- rounds ---
    rounds: str = "Rounds"
    rounds_note: str = "Who has more points, or goes on, is in bold. Numbers lead to the games."
    bye: str = "bye"
    open_place: str = "not known yet"
    # --- crosstable ---
    crosstable_note: str = (
        "Points of the bot of the row against that of the column, of so many games. Each cell leads to the games of "
        "that pair."
    )
    first_places: str = "The first {shown} of {bots} bots."
    superiority: str = "Likelihood of superiority"
    superiority_note: str = (
        "How likely it is, in per cent, that the bot of the row is stronger than that of the column, by all games."
    )
    # --- the list of games ---
    against: str = "against"
    any: str = "any"
    filter: str = "Filter"
    plies_from: str = "plies from"
    plies_to: str = "to"
    one_game: str = "1 game"
    with_pages: str = "{games} games, {pages} of them to be replayed"
    newest_listed: str = "{games} games, of which the newest {listed} are listed"
    more_games: str = "More games"
    # --- a bot ---
    bot_summary: str = "{wins} won, {draws} drawn, {losses} lost; place {place} of {bots}"
    digest: str = "digest"
    calls_itself: str = "calls itself"
    says_by: str = "says it is by"
    points_of: str = "{points} of {games}"
    mean_time: str = "mean time of a move"
    slowest: str = "slowest move"
    by_opponent: str = "Results by opponent"
    as_red: str = "as Red (W-D-L)"
    as_blue: str = "as Blue (W-D-L)"
    stronger: str = "stronger, %"
    how_it_lost: str = "How it lost"
    move_times: str = "Times of its moves"
    move_times_note: str = "{} moves, in the games that have pages here. The scale is by powers of ten."
    bar: str = "{low} to {high} ms: {count}"
    limit: str = "limit {} ms"
    versions: str = "Versions"
    version: str = "version"
    first: str = "first game"
    last: str = "last game"
    # --- rules ---
    rules_of: str = "Rules: {}"
    ruleset: str = "Ruleset {name}."
    ruleset_source: str = "Ruleset {name}; source: {source}."
    rules_note: str = "What differs from what the booklets have in common is marked, with its source."
    army: str = "The army"
    piece: str = "piece"
    shown_as: str = "shown as"
    letter: str = "in records"
    count: str = "pieces"
    differs: str = "differs:"
    # --- a game ---
    title_of_game: str = "{red} - {blue}, game {number}"
    one_ply: str = "1 ply"
    so_many_plies: str = "{} plies"
    verdict: str = "after {plies}: {detail} ({result}, {reason})"
    replay: str = "Replay"
    board: str = "Board"
    no_script: str = "The board needs JavaScript. Without it, `arena show` prints the game; its facts are below."
    no_set_ups: str = "The game ended before both sides had set up, so there is no board."
    controls: str = "Go through the game"
    first_title: str = "To the set-ups (Home)"
    back_title: str = "One ply back (left arrow)"
    play_title: str = "Play and pause (space)"
    next_title: str = "One ply on (right arrow)"
    last_title: str = "To the end (End)"
    flip_title: str = "Turn the board round (f)"
    to_first: str = "to the set-ups"
    to_back: str = "back"
    to_play: str = "play"
    to_next: str = "forward"
    to_last: str = "to the end"
    to_flip: str = "turn the board"
    slider: str = "Ply, with the fights marked below"
    seen_by: str = "Show"
    sees_all: str = "all pieces"
    sees_red: str = "what Red ({}) knew"
    sees_blue: str = "what Blue ({}) knew"
    sees_public: str = "what both sides knew"
    moves: str = "Moves"
    dialogue: str = "Dialogue with the bots at this ply"
    keys: str = "Keys: left and right arrows, Home, End, space to play, f to turn the board."
    facts: str = "The game"
    id: str = "id"
    seed: str = "seed"
    time: str = "time"
    both_times: str = "red {red}, blue {blue}"
    scaled_time: str = "{time} at {percent}%"
    played: str = "played"
    played_when: str = "{started}, in {seconds:.1f} s, by arena {arena}"
    no_date: str = "at no known date"
    sandbox_of: str = "sandbox of {}"
    set_ups: str = "Set-ups"
    set_ups_note: str = (
        "As records have them, seen by their owner: the front row is on top; M is the marshal, S the spy."
    )
    ruled_by: str = "rules"
    stderr_of: str = "Standard error of {side} ({name})"
    notes: str = "Notes"
    note: str = "note"
    side: str = "side"

    # --- what the script says of a board ---
    empty: str = "empty"
    lake: str = "lake"
    unknown: str = "unknown piece"
    moved: str = "unknown piece that has moved"
    came_from: str = "the last move began here"
    went_to: str = "the last move ended here"
    lost_here: str = "lost here: {}"
    lost_so_far: str = "lost: {}"
    now: str = "ply {ply}: {side} {action}"
    setups: str = "Both sides have set up."
    seconds: str = "{} s"
    noted: str = "{side} notes: {text}"


ENGLISH = Words()

OF_SCRIPT = (
    *("ply", "milliseconds", "seconds", "one_game", "so_many_games", "newest_listed"),
    *("empty", "lake", "unknown", "moved", "came_from", "went_to", "lost_here", "lost_so_far"),
    *("now", "setups", "noted"),
    *(f"{what}_title" for what in ("first", "back", "play", "next", "last", "flip")),
    *(f"to_{what}" for what in ("first", "back", "play", "next", "last", "flip")),
)
"""The texts that the script of the pages has to say itself."""


def script_words(words: Words) -> str:
    """The script that gives them to it."""
    texts = asdict(words)
    return f"arenaWords({in_script({name: texts[name] for name in OF_SCRIPT})});\n"


def isolated(name: str) -> str:
    """Return a name that does not change the order of the text around it, whichever way it is written."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def in_script(data: Any) -> str:
    """JSON that can stand in a script: no sequence in it ends one, wherever it is loaded from."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""What a page may load: its own files, and nothing else from anywhere."""


class Served(msgspec.Struct, frozen=True):
    """What pages need besides that are served: folders with more templates, and one of these for the head of each page,
    which is told a `state`. Such a page does not say what it may load: its server does, in the headers."""

    folders: tuple[str, ...] = ()
    head: str = ""
    state: str = ""


class Site(msgspec.Struct, frozen=True):
    """What stands on every page: a title, the menu (name and file), and the line at the bottom; `served` is None for
    pages that are read from a disk."""

    title: str
    menu: tuple[tuple[str, str], ...]
    footer: str
    served: Served | None = None


class PageFrame:
    """Turns templates and values into pages. All values are escaped: what a bot has said is text and never markup."""

    def __init__(self, site: Site, words: Words = ENGLISH) -> None:
        self.site, self.words = site, words
        more = site.served or Served()
        self._environment = Environment(
            loader=FileSystemLoader([*more.folders, str(FOLDER / "templates")]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(words=words, site=site, policy=POLICY, served=more)

    def page(self, template: str, here: str, **values: Any) -> str:
        """A page; `here` is its file, from the folder of the site."""
        root = "../" * here.count("/")
        return self._environment.get_template(template).render(here=here, root=root, **values)
