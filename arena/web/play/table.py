"""A session with an address for each seat that a person plays.

Who has the address has the seat: it holds a secret (`Token`), and there is no other way to the game.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from arena.play.session import Session
from arena.report.names import DEFAULT_NAMES, Names
from arena.web.address import Listening
from arena.web.tokens import Token
from protocol.notation import Color


@dataclass(frozen=True)
class Commands:
    """What can be done with the game afterwards, as lines for a shell; a page leaves out those that are empty.

    `go_on` goes on with a game that was paused, `show` and `report` look at one that is stored under a number.
    """

    go_on: str = ""
    show: Callable[[int], str] = lambda number: ""
    report: str = ""


@dataclass(frozen=True)
class Table:
    """A session that is shown. `names` says what the pieces are called; the session can be paused if `can_pause`."""

    session: Session
    commands: Commands = field(default_factory=Commands)
    names: Names = DEFAULT_NAMES
    can_pause: bool = True
    tokens: Mapping[Color, Token] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", {color: Token.new() for color in self.session.persons})

    def address(self, color: Color, listening: Listening) -> str:
        """Where a person plays: to be given to nobody else."""
        return f"{listening.url}{self.tokens[color].text}/"

    def seat_of(self, given: str) -> Color | None:
        """Whose address that is, if it is one. All are compared, so that the time tells nothing."""
        found = [color for color, token in self.tokens.items() if token.matches(given)]
        return found[0] if found else None
