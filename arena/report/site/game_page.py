"""The page of one game: its data is in a script beside it (`arena.report.game_data`)."""

from functools import cached_property
from typing import NamedTuple

import msgspec

from arena.errors import ArenaError
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.readers import Audience, Reader
from arena.league.store import Stored
from arena.report.game_data import GameData, game_data, game_script, labels_of, notes_for, verdict_text
from arena.report.game_list import DIGEST_DIGITS, ShownNames, score_text
from arena.report.game_text import GameFacts, SideFacts, facts_of
from arena.report.shown import SeenBy, shown_class
from arena.report.site.page_frame import PageFrame, Site
from arena.system.printable import isolated
from protocol.seats import Color

LONGEST_STDERR = 20_000


def game_page(
    frame: PageFrame,
    number: int,
    record: GameRecord,
    *,
    shown: ShownNames,
    audience: SeenBy,
    has_seeds: bool = True,
    data: GameData,
) -> str:
    facts = facts_of(number, record, audience.value, shown)
    sides = list(zip(Color, (facts.red, facts.blue), strict=True))
    red, blue = isolated(facts.red.name), isolated(facts.blue.name)
    game = record.variant.kind
    shown_as, (red_seat, blue_seat) = shown_class(game), game.seat_names
    views = {
        SeenBy.ALL: shown_as.everything,
        SeenBy.RED: f"what {red_seat} ({red}) knew",
        SeenBy.BLUE: f"what {blue_seat} ({blue}) knew",
        SeenBy.PUBLIC: "what both sides knew",
    }
    return frame.page(
        "game.html",
        f"games/{number}.html",
        facts=facts,
        title=f"{red} - {blue}, game {number}",
        score=score_text(record.verdict.result),
        verdict=verdict_text(facts),
        details=_details(record, facts, sides, has_seeds=has_seeds),
        has_board=None not in record.setups,
        views=[(view.value, views[view]) for view in audience.views],
        data=data,
        labels=data.labels,
        seen=data.views.get(audience.value),
        setups=[(color.word, shown_as.setup_text(side.setup)) for color, side in sides if side.setup],
        setup_note=shown_as.setup_note,
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        stderr=[
            (f"Standard error of {color.word} ({isolated(side.name)})", side.stderr[-LONGEST_STDERR:])
            for color, side in sides
            if side.stderr and side.stderr.strip()
        ],
    )


def _details(
    record: GameRecord, facts: GameFacts, sides: list[tuple[Color, SideFacts]], *, has_seeds: bool
) -> list[tuple[str, str]]:
    red, blue = facts.red.time, facts.blue.time
    time = red if red == blue else f"red {red}, blue {blue}"
    scaled = "" if facts.time_percent is None else f" at {facts.time_percent}%"
    started = facts.started or "at no known date"
    details = [
        ("id", facts.id),
        *([("game", record.variant.title)] if record.variant.title else []),
        ("rules", record.ruleset),
        ("time", f"{time}{scaled}"),
        ("played", f"{started}, in {facts.seconds:.1f} s, by arena {facts.arena}"),
    ]
    for color, side in sides:
        said = [
            isolated(side.name),
            f"digest {side.digest[:DIGEST_DIGITS]}",
            *([f"calls itself {side.declared}"] if side.declared else []),
            *([f"says it is by {side.author}"] if side.author else []),
            *([f"seed {side.seed}"] if has_seeds and side.seed is not None else []),
        ]
        details.append((color.word, ", ".join(said)))
        if side.sandbox:
            details.append((f"sandbox of {color.word}", side.sandbox))
    return details


class GameText(NamedTuple):
    """The texts of `games/NUMBER.html` and `games/NUMBER.js`."""

    page: str
    script: str


class GameTexts(msgspec.Struct, frozen=True, dict=True):
    """Makes the pages of games for a reader; can be sent to another process."""

    site: Site
    reader: Reader
    names: dict[str, str]
    shown: tuple[tuple[Player, str], ...]
    has_dialogues: bool

    @cached_property
    def frame(self) -> PageFrame:
        return PageFrame(self.site)

    @cached_property
    def called(self) -> dict[Player, str]:
        return dict(self.shown)

    def of(self, stored: Stored) -> GameText:
        """Return the texts of a game. Raises `ArenaError` if its row and record differ."""
        number, record = stored.number, stored.sound
        if record is None:
            raise ArenaError("; ".join(damage.text for damage in stored.damage) or "its record cannot be read")
        seats = self.reader.seats(record.players)
        audience = SeenBy.ALL if len(seats) == len(Color) else SeenBy(seats[0].word) if seats else SeenBy.PUBLIC
        seeds = self.reader.audience in (Audience.ALL, Audience.BOT)  # for the host, and for the author of a bot
        shown, names = self.called, self.names
        labels = labels_of(number, record, shown=shown, audience=audience, names=names)
        data = game_data(record, audience, names, labels=labels, has_dialogue=self.has_dialogues, has_seeds=seeds)
        page = game_page(self.frame, number, record, shown=shown, audience=audience, has_seeds=seeds, data=data)
        return GameText(page, game_script(number, data))
