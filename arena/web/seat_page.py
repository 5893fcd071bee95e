"""A session with a secret address for each seat, and the contents of a seat's page.

The page gets the state of its seat only: a browser never has what its seat was not told.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from arena.game import displayed
from arena.game.person_seat import SeatStage, SeatState
from arena.play.session import Session
from arena.report.site.page_frame import isolated
from arena.web.address import Listening
from protocol.seats import Color

BYTES = 24


@dataclass(frozen=True)
class Token:
    """The secret of one seat, safe in a path."""

    text: str

    @classmethod
    def new(cls) -> "Token":
        return cls(secrets.token_urlsafe(BYTES))

    def matches(self, given: str) -> bool:
        return hmac.compare_digest(self.text.encode(), given.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return "Token(...)"  # secrets do not belong in tracebacks


@dataclass(frozen=True)
class NextCommands:
    """Shell commands for the time after the game; a page leaves out empty ones.

    `go_on` resumes a paused game, `show` and `report` display a stored one.
    """

    go_on: str = ""
    show: Callable[[int], str] = lambda number: ""
    report: str = ""


@dataclass(frozen=True)
class SeatTable:
    session: Session
    commands: NextCommands = field(default_factory=NextCommands)
    can_pause: bool = True
    tokens: Mapping[Color, Token] = field(init=False)
    page: "SeatPage" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {color: Token.new() for color in self.session.persons})
        object.__setattr__(self, "page", displayed(self.session.spec.kind.displays.page, SeatPage)())

    def address(self, color: Color, listening: Listening) -> str:
        return f"{listening.url}{self.tokens[color].text}/"

    def seat_of(self, given: str) -> Color | None:
        """Return the seat of a token, in constant time for all tokens."""
        found = [color for color, token in self.tokens.items() if token.matches(given)]
        return found[0] if found else None


class PlainAnswer(msgspec.Struct, frozen=True):
    """The state of a seat, the lines that it was told after the first `since`, and the position as it knows it.

    `image` is the position as SVG, empty if the game draws none. When the game is over or paused, `after` has the next
    possible commands.
    """

    state: SeatState
    since: int
    lines: tuple[str, ...]
    after: tuple[str, ...]
    text: str
    image: str


class SeatPage:
    """The page of a seat in any game. A game may have a class of its own below this one."""

    template = "plain.html"

    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. Its `data` is JSON for the script."""
        spec = table.session.spec
        kind = spec.kind
        red, blue = (isolated(player.name) for player in spec.players)
        heading = f"{red} - {blue}: {spec.variant.name}"
        title = f"You play {kind.seat_names[color]} - {heading}"
        return {
            "title": title,
            "heading": heading,
            "data": msgspec.json.encode({"seat": color.word, "title": title, "seats": kind.seat_names}).decode(),
            "can_pause": table.can_pause,
            "rules": [
                *filter(None, kind.rules_in_words(spec.variant).strip().split("\n\n")),
                *(f"{name}: {value}" for name, value in spec.variant.rules),
            ],
        }

    def answer(self, table: SeatTable, color: Color, since: int) -> msgspec.Struct:
        """Return the answer to a page that has the first `since` lines or moves."""
        session = table.session
        state, lines = session.state(color), session.seat(color).lines
        since = min(since, len(lines))
        after = commands_after(table, state)
        text, image = session.text(color), session.svg(color) or ""
        return PlainAnswer(state, since, tuple(lines[since:]), after, text, image)

    def earlier(self, table: SeatTable, color: Color, plies: int) -> msgspec.Struct | None:
        """Return what the seat knew after a number of plies, if the page can look back."""
        del table, color, plies
        return None


def commands_after(table: SeatTable, state: SeatState) -> tuple[str, ...]:
    commands = table.commands
    if state.stage is SeatStage.PAUSED:
        lines = [("Resume it later", commands.go_on)]
    elif state.end is None:
        return ()
    elif state.end.number is None:
        return ("The game is not stored yet.",)
    else:
        lines = [("Replay it", commands.show(state.end.number)), ("As pages, with a board", commands.report)]
    return tuple(f"{label}: {command}" for label, command in lines if command)
