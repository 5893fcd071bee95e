"""The Python kit for bots of any game: a bot is a class with a `move` method, and `run` is its main program.

    from protocol.game_bot import GameBot, run

    class First(GameBot):
        name = "first 1.0"

        def move(self):
            return self.legal[0]

    run(First)

The kit handles the conversation that all games share. Lines of the game itself arrive in `told`. `protocol.bot` is the
kit for Stratego, with a view of the board, and builds on this one. docs/kit.md is the reference.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from random import Random
from typing import BinaryIO, Generic, TextIO, TypeVar

from protocol.lines import MAX_BOT_LINE, LocalProtocolError, is_line
from protocol.messages import Want
from protocol.seats import COLOR_BY_WORD, Color

NOTE_LENGTH = MAX_BOT_LINE - len("note ")
"""The longest note that fits on a line."""
LONGEST_SHOWN = 60
"""Characters of a wrong answer in an exception, short enough for one line of a verdict."""
INTERRUPTED = 130
"""The exit code of a program that was stopped by Ctrl-C, as in shells."""
PLAY_ITSELF = "--play-itself"
OF_SUCH_A_GAME = ("--game", "--rules", "--seed", "--no-boards")


class AnyBot:
    """The part that the bots of all kits share: their introduction, and remarks for the record.

    A new object is made for each game. `note` sends a remark to the game's record. A bot may only speak when it has to
    answer, so the remark is sent with the next set-up or move.
    """

    name = ""
    author = ""
    wants: tuple[Want, ...] = (Want.LEGAL,)
    can_restore = True

    def __init__(self) -> None:
        self.note: Callable[[str], None] = lambda text: None


class GameBot(AnyBot):
    """A bot of any game. Subclass it and write `move`; the other methods have defaults."""

    color: Color
    """This bot's seat."""
    variant: str
    opponent: str
    """The name of the other bot, if the host tells it."""
    rules: dict[str, str]
    """The rules in force, by name."""
    seed: int
    random: Random
    """Random numbers, seeded for each turn from `seed` and `ply`: an interrupted game can be resumed."""
    legal: tuple[str, ...]
    """The legal actions of this turn, if the game lists them."""
    ply: int
    own_ms: int
    """Milliseconds for this turn."""
    enemy_ms: int

    def setup(self) -> str:
        """Return the set-up, in a game that has one."""
        raise NotImplementedError(f"{type(self).__name__} has no setup method")

    def restore(self, setup: str) -> None:
        """Called in place of `setup` if the set-up is given."""

    def move(self) -> str:
        """Return the action for this turn."""
        raise NotImplementedError(f"{type(self).__name__} has no move method")

    def told(self, line: str) -> None:
        """Called with each line that belongs to the game, such as `moved red 4`."""

    def end(self, result: str, reason: str) -> None:
        """Called when the game is over: `win`, `loss` or `draw`, and the reason."""


_Bot = TypeVar("_Bot", bound=AnyBot)


class AnyConversation(ABC, Generic[_Bot]):
    """One bot's side of the protocol, without input or output of its own."""

    game_option = " --game GAME"
    """The option of commands that names the game; empty for Stratego."""

    def __init__(self, make_bot: Callable[[], _Bot]) -> None:
        self._make_bot = make_bot
        self._bot = make_bot()
        self._notes: list[str] = []
        self.finished = False

    @abstractmethod
    def receive_line(self, line: bytes) -> list[bytes]:
        """Apply one line and return the bot's answers, as lines."""

    def _new_bot(self) -> _Bot:
        """Return the bot for a game that begins."""
        bot, notes = self._make_bot(), list[str]()
        bot.note = lambda text: notes.append(one_line(str(text)))
        self._bot, self._notes = bot, notes
        return bot

    def _take_notes(self) -> list[str]:
        """Return the remarks that go with an answer."""
        notes = self._notes.copy()
        self._notes.clear()
        return notes

    def _introduction(self) -> list[str]:
        """Return the lines by which the bot introduces itself. Raises `TypeError` for a name or wants of a wrong
        type.
        """
        bot, lines = self._bot, list[str]()
        for what in ("name", "author"):
            text = getattr(bot, what)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{what} of {type(bot).__name__} is {shown(text)}; expected a string")
            if text:
                lines.append(f"{what} {text}")
        if not (isinstance(bot.wants, tuple | list) and all(isinstance(want, Want) for want in bot.wants)):
            raise TypeError(
                f"wants of {type(bot).__name__} is {shown(bot.wants)}; expected a tuple of Want, such as (Want.LEGAL,)"
            )
        if bot.wants:
            lines.append(" ".join(("want", *(want.value for want in bot.wants))))
        if not bot.can_restore:
            lines.append("cannot restore")
        return [*lines, "ready"]


class GameConversation(AnyConversation[GameBot]):
    """The conversation of a bot of any game, in lines."""

    _is_playing = False

    def receive_line(self, line: bytes) -> list[bytes]:
        verb, _, rest = line.decode("ascii", "replace").rstrip("\r\n").partition(" ")
        if verb == "hello":
            return [*map(encoded, self._introduction())]
        if verb == "quit":
            self.finished = True
        elif verb == "game":
            self._begin(rest)
        elif self._is_playing and verb and not verb.startswith("#"):
            return self._play(verb, rest)
        return []

    def _begin(self, rest: str) -> None:
        color, variant = rest.split(" ")[:2]
        bot = self._new_bot()
        bot.color, bot.variant, bot.opponent = COLOR_BY_WORD[color], variant, ""
        bot.rules, bot.legal, bot.random = {}, (), Random(0)
        bot.seed = bot.ply = bot.own_ms = bot.enemy_ms = 0
        self._is_playing = True

    def _play(self, verb: str, rest: str) -> list[bytes]:
        bot = self._bot
        fields = rest.split(" ")
        match verb:
            case "rule":
                bot.rules[fields[0]] = rest.partition(" ")[2]
            case "seed":
                bot.seed = int(fields[0])
                bot.random.seed(f"{bot.seed} 0")
            case "opponent":
                bot.opponent = rest
            case "setup":
                return self._answer("setup", bot.setup())
            case "restore":
                bot.restore(rest)
            case "legal":
                bot.legal += tuple(fields)
            case "turn":
                bot.ply, bot.own_ms, bot.enemy_ms = map(int, fields[:3])
                bot.random.seed(f"{bot.seed} {bot.ply}")
                answer = self._answer("move", bot.move())
                bot.legal = ()
                return answer
            case "end":
                self._is_playing = False
                bot.end(fields[0], fields[1])
            case "clock" | "error":
                pass
            case _:
                bot.told(f"{verb} {rest}" if rest else verb)
        return []

    def _answer(self, verb: str, text: object) -> list[bytes]:
        method = "setup" if verb == "setup" else "move"
        if not isinstance(text, str):
            raise TypeError(f"{method}() of {type(self._bot).__name__} returned {shown(text)}; expected a string")
        return [encoded(line) for line in (*(f"note {note}" for note in self._take_notes()), f"{verb} {text}")]


def encoded(line: str) -> bytes:
    """Return a line with its end. Raises `LocalProtocolError` for one that the arena would refuse."""
    if not is_line(line):
        raise LocalProtocolError(
            f"expected one line of at most {MAX_BOT_LINE} printable ASCII characters, got {line!a:.200}"
        )
    return line.encode("ascii") + b"\n"


def one_line(text: str) -> str:
    """Return `text` in the form of a `note` line: single spaces, other characters escaped, and cut."""
    plain = " ".join(text.split()).encode("ascii", "backslashreplace").decode("ascii")
    return "".join(character if character.isprintable() else "?" for character in plain)[:NOTE_LENGTH]


def shown(answer: object) -> str:
    text = repr(answer)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def run(make_bot: Callable[[], GameBot], source: BinaryIO | None = None, sink: BinaryIO | None = None) -> None:
    """Speak the protocol until `quit` or the end of input. The main program of a bot.

    `make_bot` is the bot's class. Reads standard input and writes standard output by default; what the bot prints goes
    to standard error. Raises `TypeError` for an object of the class, and `RuntimeError` if a `run` has read standard
    input before: a program is one bot. With `--play-itself --game GAME` in the program's arguments, a whole game of the
    bot against itself is played and printed instead, and the bot's exceptions are raised; `--help` explains it.
    """
    converse(make_bot, GameConversation, source, sink)


def converse(
    make_bot: Callable[[], _Bot],
    kind: type[AnyConversation[_Bot]],
    source: BinaryIO | None,
    sink: BinaryIO | None,
) -> None:
    """Hold a whole conversation of this kind with the arena, or do what a person at a terminal asks for."""
    if isinstance(make_bot, AnyBot):
        raise TypeError(f"expected run({type(make_bot).__name__}), the class, got an object of it")
    if source is None:
        if _is_for_people(make_bot, kind, sys.argv[1:]):
            return
        _note_who_plays(make_bot)
    conversation = kind(make_bot)
    source = source or sys.stdin.buffer
    sink = sink or sys.stdout.buffer
    sys.stdout = sys.stderr
    for line in _lines(source):
        answers = conversation.receive_line(line)
        if answers:
            sink.write(b"".join(answers))
            sink.flush()
        if conversation.finished:
            break


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of the arena. Ctrl-C while waiting for one ends the program without a traceback."""
    while True:
        try:
            line = source.readline()
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        if not line:
            return
        yield line


_HAS_PLAYED: list[tuple[TextIO, str]] = []
"""The standard input that a `run` has read, and the name of its bot."""


def _note_who_plays(make_bot: object) -> None:
    """Raise `RuntimeError` for a second bot in the program: it would find its input already read."""
    name = getattr(make_bot, "__name__", "a bot")
    for source, other in _HAS_PLAYED:
        if source is sys.stdin:
            raise RuntimeError(
                f"run({name}) after run({other}): a program is one bot, and {other} has played; "
                f"put {name} into a file of its own"
            )
    _HAS_PLAYED[:] = [(sys.stdin, name)]


# --- for people -------------------------------------------------------------------------------------------------------


def _is_for_people(make_bot: Callable[[], _Bot], kind: type[AnyConversation[_Bot]], words: list[str]) -> bool:
    """Handle the arguments of a person at a terminal; return False if the bot is to speak with an arena.

    Unknown arguments belong to the bot.
    """
    program, game = sys.argv[0], kind.game_option
    match = f"arena match {program} {f'OTHER_BOT{game}' if game else 'drifter'}"
    usage = f"this bot waits for an arena; try: python {program} {PLAY_ITSELF}{game}, or {match}"
    if PLAY_ITSELF in words:
        _play_itself(make_bot, kind, [word for word in words if word != PLAY_ITSELF])
        return True
    if words in (["--help"], ["-h"]):
        print(f"{usage}\n(options of such a game: python {program} {PLAY_ITSELF} --help)")
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    wrong = next((word for word in words if _is_meant_for_kit(word)), None)
    if wrong is not None:
        print(f"{program}: expected {PLAY_ITSELF} [OPTION...] or --help, got {shown(wrong)}", file=sys.stderr)
        sys.exit(2)
    print(usage, file=sys.stderr)
    return False


def _is_meant_for_kit(word: str) -> bool:
    import difflib  # not at the start of each game

    option = word.partition("=")[0]
    return option in OF_SUCH_A_GAME or bool(difflib.get_close_matches(option, [PLAY_ITSELF, "--help"]))


def _play_itself(make_bot: Callable[[], _Bot], kind: type[AnyConversation[_Bot]], options: list[str]) -> None:
    """Have the arena play the bot against itself. The kit needs the arena only here."""
    import importlib  # not at the start of each game

    try:
        arena = importlib.import_module("arena.api.self_play")
    except ModuleNotFoundError as error:
        sys.exit(
            f"{PLAY_ITSELF} needs the arena, which judges the game, and this Python ({sys.executable}) does not find "
            f"it ({error}): install stratego-arena there, or run the bot with the Python that the arena is installed in"
        )
    sys.exit(arena.main(getattr(make_bot, "__name__", "the bot"), lambda: kind(make_bot), options))


__all__ = ["Color", "GameBot", "GameConversation", "Want", "run"]
