"""The readers of a store's games, and the games that can be given to one without revealing a hidden rank.

What one game hides another can show: many bots always set up alike. So games as seen by one colour are given out
together only if no bot is on both sides. With openings it is the reverse: each bot has both set-ups of a pair in turn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from arena.errors import UsageError
from arena.game.exported import encode_line, redact
from arena.game.game_spec import Player
from arena.game.record import GameRecord
from arena.league.league_options import GUESSED
from arena.league.settings import game_in
from arena.league.store.document import NO_OPENINGS, Setting
from arena.system.printable import shown
from protocol.seats import Color

OF_BOT = "bot:"


class Audience(Enum):
    """A kind of reader: the host, a seat, the public that knows what both seats know, or the author of a bot."""

    ALL = "all"
    RED = Color.RED.word
    BLUE = Color.BLUE.word
    PUBLIC = "public"
    BOT = "bot"


class PlayedGame(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def players(self) -> tuple[Player, Player]: ...


AnyGame = TypeVar("AnyGame", bound=PlayedGame)


@dataclass(frozen=True)
class Reader:
    """An audience; for a bot's author also the bot's name, and the players that are this bot."""

    audience: Audience
    name: str = ""
    bots: frozenset[Player] = frozenset()

    @property
    def text(self) -> str:
        return OF_BOT + self.name if self.audience is Audience.BOT else self.audience.value

    def seats(self, players: tuple[Player, Player]) -> tuple[Color, ...]:
        """Return the sides of a game that this reader may see: both if both are versions of the reader's bot."""
        match self.audience:
            case Audience.ALL:
                return tuple(Color)
            case Audience.RED | Audience.BLUE:
                return tuple(color for color in Color if color.word == self.audience.value)
            case Audience.PUBLIC:
                return ()
            case Audience.BOT:
                return tuple(color for color in Color if players[color] in self.bots)

    def lines(self, record: GameRecord, settings: dict[str, str]) -> Iterable[bytes]:
        """Return the lines of a game for this reader, one for each seat that it sees. Raises `RecordError`."""
        if self.audience is Audience.ALL:
            return [encode_line(record, settings)]
        if self.audience is Audience.PUBLIC:
            return [redact(record, None)]
        is_own = self.audience is Audience.BOT
        return [redact(record, color, has_seed=is_own) for color in self.seats(record.players)]


HOST = Reader(Audience.ALL)


def reader_named(text: str) -> Reader:
    """Parse `all`, `red`, `blue`, `public` or `bot:NAME`, without resolving the bot. Raises `UsageError`."""
    if text.startswith(OF_BOT) and len(text) > len(OF_BOT):
        return Reader(Audience.BOT, text.removeprefix(OF_BOT))
    if text == Audience.ALL.value:
        return HOST
    for audience in Audience:
        if audience is not Audience.BOT and audience.value == text:
            return Reader(audience)
    raise UsageError(f"expected all, red, blue, public or {OF_BOT}NAME, got {shown(text)}")


def readable(rows: Iterable[AnyGame], settings: dict[str, str], reader: Reader) -> list[AnyGame]:
    """Return the games for this reader. Raises `UsageError` if one of them shows what another one hides."""
    if reader.audience in (Audience.ALL, Audience.PUBLIC):
        return list(rows)
    found = [row for row in rows if reader.seats(row.players)]
    if settings.get(Setting.OPENINGS, NO_OPENINGS) != NO_OPENINGS:
        _refuse_both_seats(found, reader, "with openings both games of a pair have the same two set-ups")
    elif Setting.GAME in settings and game_in(settings).has_chance:
        _refuse_both_seats(found, reader, "chance deals the same in both games of a pair")
    elif reader.audience is not Audience.BOT:
        _refuse_both_roles(found, reader)
    return found


def _refuse_both_seats(rows: Sequence[PlayedGame], reader: Reader, why: str) -> None:
    games = {color: row.number for row in rows for color in reader.seats(row.players)}
    if len(games) > 1:
        raise UsageError(
            f"{reader.name} has Red in game {games[Color.RED]} and Blue in game {games[Color.BLUE]}; {why}, and each "
            "shows what the other hides; take 'red' for all readers, which shows the same side of each pair, or "
            "'public' for what both sides were told"
        )


def _refuse_both_roles(rows: Sequence[PlayedGame], reader: Reader) -> None:
    sides: dict[Color, dict[str, PlayedGame]] = {color: {} for color in Color}
    for row in rows:
        for color in Color:
            player = row.players[color]
            for key in (player.digest, player.name):  # versions of a bot set up alike, too
                sides[color].setdefault(key, row)
    both = next((key for key in sides[Color.RED] if key in sides[Color.BLUE]), None)
    if both is None:
        return
    red, blue = sides[Color.RED][both], sides[Color.BLUE][both]
    name = red.players[Color.RED].name
    raise UsageError(
        f"{name} has Red in game {red.number} and Blue in game {blue.number}, and many bots always set up alike: what "
        f"{reader.audience.value} may not know of one game is in the other; take '{OF_BOT}{name}' for the author "
        "of a bot, 'public' for what both sides were told, or one game alone"
    )


def guessable_seed(settings: dict[str, str]) -> str | None:
    """Return the seed of a league if it can be guessed, and what is hidden follows from it."""
    game = game_in(settings)
    if not (game.has_setups or game.has_chance):
        return None
    seed = settings.get(Setting.SEED, "")
    return seed if seed.isdecimal() and int(seed) < GUESSED else None
