"""The Python kit for bots: a bot is a class with a `move` method, and `run` is its main program.

    import random
    from protocol.bot import Bot, run

    class Drifter(Bot):
        name = "drifter 1.0"

        def move(self, view):
            return view.random.choice(view.legal)

    run(Drifter)

`run` speaks the protocol on standard input and output and keeps a `View` of the game. What the bot prints goes to
standard error, so that a forgotten `print` cannot break the conversation. An exception ends the program with its
traceback on standard error, which the arena shows with the lost game. `python mine.py --play-itself` plays a game
of the bot against itself, without processes or clocks, to look for such mistakes. docs/kit.md is the reference.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import BinaryIO

from protocol.actions import STRATEGO_FORMS, Parts, parts, squares
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.codec import decode_from_bot
from protocol.game_bot import AnyBot, AnyConversation, converse, encoded, shown
from protocol.messages import (
    ArenaMessage,
    BotMessage,
    End,
    GameLine,
    Hello,
    Move,
    Note,
    Quit,
    Restore,
    Setup,
    SetupRequest,
    Turn,
    Want,
)
from protocol.notation import BOARD_SIZE, EMPTY, RANK_BY_LETTER, SETUP_ROWS, Color, Rank
from protocol.view import Piece, View

_LETTERS = frozenset((*RANK_BY_LETTER, EMPTY))


def random_rows(army: Mapping[Rank, int], random: Random) -> tuple[str, ...]:
    """Return a random legal set-up: the army shuffled over the home squares, as the rows of a `setup` line."""
    letters = [rank.letter for rank, count in army.items() for _ in range(count)]
    letters += EMPTY * (SETUP_ROWS * BOARD_SIZE - len(letters))
    random.shuffle(letters)
    return tuple("".join(letters[start : start + BOARD_SIZE]) for start in range(0, len(letters), BOARD_SIZE))


def random_setup(view: View) -> str:
    """Return a random legal set-up for `Bot.setup`. The same seed gives the same one."""
    return "/".join(random_rows(view.army, view.random))


class Bot(AnyBot):
    """A bot of Stratego. Subclass it and write `move`; the other methods have defaults."""

    def setup(self, view: View) -> str:
        """Return the set-up: four rows of ten letters, own back row first, files a to j, `.` for empty, separated by
        `/`.
        """
        return random_setup(view)

    def restore(self, view: View) -> None:
        """Called in place of `setup` if the set-up is given, in the view.

        Either an interrupted game is resumed, and its events follow; or the game begins with an opening, without
        events.
        """

    def move(self, view: View) -> str:
        """Return the action for this turn, such as `a4-a5`."""
        raise NotImplementedError(f"{type(self).__name__} has no move method")

    def event(self, view: View, message: ArenaMessage) -> None:
        """Called after each message of a game has been applied to the view."""

    def end(self, view: View, end: End) -> None:
        """Called when the game is over."""


class Conversation(AnyConversation[Bot]):
    """The conversation of a bot of Stratego: a message in, the answers out."""

    game_option = ""
    _view: View | None = None

    def receive_line(self, line: bytes) -> list[bytes]:
        message = decode_for_bot(line)
        return [] if message is None else [encode_from_bot(answer) for answer in self.receive(message)]

    def receive(self, message: ArenaMessage) -> list[BotMessage]:
        """Apply one message and return the bot's answers."""
        match message:
            case Hello():
                return [*map(_said, self._introduction())]
            case GameLine(color, variant):
                self._view = View(color, variant)
                self._new_bot()
            case Quit():
                self.finished = True
            case _ if self._view is not None:
                return self._play(self._view, message)
        return []

    def _play(self, view: View, message: ArenaMessage) -> list[BotMessage]:
        view.apply(message)
        match message:
            case SetupRequest():
                rows = self._setup_rows(self._bot.setup(view))
                view.place_own(rows)
                return self._answer(Setup(rows))
            case Restore(rows):
                view.place_own(rows)
                self._bot.restore(view)
            case Turn():
                return self._answer(Move(self._checked_action(self._bot.move(view))))
            case End():
                self._bot.end(view, message)
            case _:
                self._bot.event(view, message)
        return []

    def _setup_rows(self, answer: object) -> tuple[str, ...]:
        rows = tuple(answer.split("/")) if isinstance(answer, str) else ()
        wrong = _wrong_with(rows) if isinstance(answer, str) else ""
        if isinstance(answer, str) and not wrong:
            return rows
        raise ValueError(
            f"setup() of {type(self._bot).__name__} returned {shown(answer)}{wrong}; expected {SETUP_ROWS} rows of "
            f"{BOARD_SIZE} letters, separated by '/', own back row first, '{EMPTY}' for an empty square"
        )

    def _checked_action(self, answer: object) -> str:
        if isinstance(answer, str):
            return answer
        raise TypeError(
            f"move() of {type(self._bot).__name__} returned {shown(answer)}; expected an action such as 'a4-a5'"
        )

    def _answer(self, answer: BotMessage) -> list[BotMessage]:
        return [*map(Note, self._take_notes()), answer]


def _said(line: str) -> BotMessage:
    """Return a line of an introduction as a message. Raises `LocalProtocolError` for text that no line may have."""
    message = decode_from_bot(encoded(line)[:-1], STRATEGO_FORMS)
    assert message is not None
    return message


def _wrong_with(rows: tuple[str, ...]) -> str:
    """Describe what is wrong with the form of a set-up, to follow it in a sentence; empty if it is right."""
    if len(rows) != SETUP_ROWS:
        return f", which has {len(rows)} row{'' if len(rows) == 1 else 's'}"
    for number, row in enumerate(rows, start=1):
        if len(row) != BOARD_SIZE:
            return f", whose row {number} has {len(row)} letters"
        odd = next((letter for letter in row if letter not in _LETTERS), None)
        if odd is not None:
            return f", whose row {number} has {odd!r}, which is no piece"
    return ""


def run(make_bot: Callable[[], Bot], source: BinaryIO | None = None, sink: BinaryIO | None = None) -> None:
    """Speak the protocol until `quit` or the end of input. The main program of a bot.

    `make_bot` is the bot's class. Reads standard input and writes standard output by default. Raises `TypeError` for an
    object of the class, and `RuntimeError` if a `run` has read standard input before: a program is one bot. With
    `--play-itself` in the program's arguments, a whole game of the bot against itself is played and printed instead,
    and the bot's exceptions are raised; `--help` explains it.
    """
    converse(make_bot, Conversation, source, sink)


__all__ = [
    "Bot",
    "Color",
    "Conversation",
    "Parts",
    "Piece",
    "Rank",
    "View",
    "Want",
    "parts",
    "random_rows",
    "random_setup",
    "run",
    "squares",
]
