"""The page of one game: its data is in a script beside it (`arena.report.game_data`)."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from arena.errors import ArenaError
from arena.game.exported import encode_for_page, verdict_words
from arena.game.faults import NO_FAULTS, GameResult, Verdict
from arena.game.record import GameRecord
from arena.league.exchange import settings_of_game
from arena.league.readers import Audience, Reader
from arena.league.store import Stored
from arena.league.store.document import Setting
from arena.report.game_data import GameData, game_data, game_script, labels_of, views_of
from arena.report.game_list import ShownNames
from arena.report.game_text import GameFacts, facts_of
from arena.report.shown import SeenBy, shown_class
from arena.report.site.page_frame import PageFrame, Site
from arena.system.printable import counted
from protocol.seats import Color, Reason

WON_BY = {
    Reason.FLAG: " by capturing the flag",
    Reason.FLAG_HOME: " by bringing its flag to the far side",
    Reason.RESIGN: " by resignation",
    Reason.TIMEOUT: " on time",
}
"""How the winner won, where that reads better than what the loser did."""


class GameLinks(NamedTuple):
    """The links of a game's page: to its bots, and by their texts to other games of the pairing."""

    bots: tuple[str, str]
    games: dict[str, int]


def game_page(
    frame: PageFrame,
    facts: GameFacts,
    record: GameRecord,
    *,
    seen_by: SeenBy,
    has_seeds: bool = True,
    data: GameData,
    links: GameLinks | None = None,
) -> str:
    variant = record.variant
    return frame.page(
        "game.html",
        f"games/{facts.number}.html",
        facts=facts,
        headline=headline(record.verdict),
        verdict=record.verdict,
        variant=variant,
        links=links,
        has_seeds=has_seeds,
        views=views_of(variant.kind, (facts.red.name, facts.blue.name), seen_by),
        data=data,
        labels=data.labels,
        seen=data.views.get(seen_by.value),
        shown=shown_class(variant.kind),
    )


def headline(verdict: Verdict) -> tuple[Color, str, Color, str]:
    """Return the end of a game in words: a side, a word, the other side, and the rest."""
    winner, sentence = verdict.result.winner, verdict.reason.sentence
    plies = f", {counted(verdict.plies, 'ply', 'plies')}" if verdict.plies else ""
    if winner is not None:
        how = WON_BY.get(verdict.reason, f", which {sentence}")
        return winner, " beat ", winner.opponent, how + plies
    is_draw = verdict.result is GameResult.DRAW
    rest = f" drew: {sentence}" if is_draw else " both lost by a fault before the game"
    return Color.RED, " and ", Color.BLUE, rest + plies


class GameFiles(NamedTuple):
    """The texts of `games/NUMBER.html`, `.js` and `.json`; and the pieces by which the winner was once behind."""

    page: str
    script: str
    record: str
    behind: int


def most_behind(view: object, verdict: Verdict) -> int:
    """Return the most pieces that the winner has been behind; 0 for games without pieces, draws and forfeits."""
    winner = verdict.result.winner
    if winner is None or verdict.reason.is_forfeit:
        return 0
    lost: Iterable[tuple[str, str]] = getattr(view, "lost", {}).values()
    return max((len(letters[winner]) - len(letters[winner.opponent]) for letters in lost), default=0)


def without_logs(record: GameRecord) -> GameRecord:
    """Return a whole game without what bots have said besides their moves."""
    verdict = msgspec.structs.replace(record.verdict, detail=verdict_words(record, None), faults=NO_FAULTS)
    return msgspec.structs.replace(
        record,
        verdict=verdict,
        declared=("", ""),
        authors=UNSET,
        stderr=("", ""),
        notes=(),
    )


class GamePages(msgspec.Struct, frozen=True, dict=True):
    """Makes the pages of games for a reader; can be sent to another process."""

    site: Site
    reader: Reader
    settings: dict[str, str]
    names: dict[str, str]
    called: ShownNames
    has_dialogues: bool
    has_logs: bool = True

    @cached_property
    def frame(self) -> PageFrame:
        return PageFrame(self.site)

    def of(self, stored: Stored, links: GameLinks | None = None) -> GameFiles:
        """Return the texts of a game. Raises `ArenaError` if its row and record differ."""
        number, record = stored.number, stored.sound
        if record is None:
            raise ArenaError("; ".join(damage.text for damage in stored.damage) or "its record cannot be read")
        seats = self.reader.seats(record.players)
        seen_by = SeenBy.ALL if len(seats) == len(Color) else SeenBy(seats[0].word) if seats else SeenBy.PUBLIC
        seeds = self.reader.audience is Audience.ALL and self.has_logs  # for the host, and for the author of a bot
        seeds = seeds or self.reader.audience is Audience.BOT
        settings = settings_of_game(self.settings, record)
        if not self.has_logs:
            record = without_logs(record)
            settings.pop(Setting.SEED, None)
        facts, names = facts_of(number, record, seen_by, self.called), self.names
        labels = labels_of(facts, record.variant, names)
        data = game_data(record, seen_by, names, labels=labels, has_dialogue=self.has_dialogues, has_seeds=seeds)
        page = game_page(self.frame, facts, record, seen_by=seen_by, has_seeds=seeds, data=data, links=links)
        is_for_page = self.reader.audience is Audience.ALL and not self.has_logs
        found = [encode_for_page(record, settings)] if is_for_page else self.reader.lines(record, settings)
        lines = b"".join(line + b"\n" for line in found).decode()
        behind = most_behind(data.views.get(seen_by.value), record.verdict)
        return GameFiles(page, game_script(number, data), lines, behind)
