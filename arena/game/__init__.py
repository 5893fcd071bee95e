"""The seam between the arena and a game: what a game of two seats is, and where games are found.

The arena carries lines, keeps clocks, judges faults and stores records for any game. A game is an object of a class
below `Game`; one played game is a `State`. Both are pure: no clock, no file, no process, and random numbers only from
the seed that the arena passes to `Game.start`, so that a record can be played again. `docs/new-game.md` explains how to
write one.
"""

import copy
import functools
import hashlib
import importlib
import pkgutil
import textwrap
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from arena.errors import ArenaError, IllegalAnswerError, UsageError, suggest
from protocol.lines import MAX_BOT_LINE, RemoteProtocolError, cut, is_line
from protocol.seats import RESIGN, Color, Outcome, Reason, ReasonKind

STRATEGO = "stratego"


class Variant(msgspec.Struct, frozen=True):
    """The rules of one game as a value: the game, its version, the name of the variant, and its rules.

    `rules` are names and values, as `rule` lines tell them to bots and records keep them.
    """

    game: str
    version: str
    name: str
    rules: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> "Game":
        """The game, which must have been found before in this process, or come with the arena."""
        return game_named(self.game)

    @property
    def title(self) -> str:
        """The game and its version in a record; empty for Stratego."""
        return "" if self.game == STRATEGO else f"{self.game} {self.version}"

    @property
    def full_name(self) -> str:
        """The variant after its game, unless that is Stratego or has the same name."""
        return self.name if self.game in (STRATEGO, self.name) else f"{self.game} {self.name}"


class Ending(NamedTuple):
    """The meaning of a game's own reason: a sentence that follows the name of the side that lost.

    The sentence of a draw (`is_draw`) follows "drawn: ".
    """

    sentence: str
    is_draw: bool = False


class Displays(NamedTuple):
    """A game's own classes and functions for the places where people see it, each as text: "module:name".

    An empty text is the plain display. `displayed` imports one when it is needed: games alone load none of them.
    """

    seat: str = ""
    """A person's seat, below `arena.game.person_seat.PersonSeat`."""
    terminal: str = ""
    """The seat in a terminal, below `arena.cli.play_terminal.TerminalGame`."""
    page: str = ""
    """The seat's page, below `arena.web.seat_server.SeatPage`."""
    shown: str = ""
    """A stored game, below `arena.report.shown.Shown`."""
    rules: str = ""
    """A function that returns the values of the page of the rules, as `arena.report.site.pages.rules_values`."""
    position: str = ""
    """A function of a state and a seat that returns the position for programs, for `arena.api.shown_results.Step`."""
    opened: str = ""
    """A bot that a program talks to, below `arena.api.opened_bot.OpenBot`."""
    archive: str = ""
    """A function that reads games of other programs, as `arena.league.exchange.Archive`."""
    openings: str = ""
    """A function that counts the set-ups in files, for `arena openings`."""


T = TypeVar("T")


def displayed(reference: str, plain: T) -> T:
    """Return the object that a field of `Displays` names, or the plain one."""
    return pkgutil.resolve_name(reference) if reference else plain


class Trial(NamedTuple):
    """A whole game of `arena check`: its key and title, the bot's seat, and the manner in which its opponent plays."""

    key: str
    title: str
    seat: Color
    manner: str = ""


Told = tuple[tuple[str, ...], tuple[str, ...]]
"""Lines for Red and for Blue, without their ends."""


Names = Mapping[str, str]
"""How people want things of a game to be called: options of commands and their values, empty for the usual."""


def moved(color: Color, action: str) -> str:
    """Return the line by which both seats usually learn of an action."""
    return f"moved {color.word} {action}"


def to_both(*lines: str) -> Told:
    return lines, lines


class GameMistakeError(ArenaError):
    """A mistake in the program of a game, which is its author's and no bot's. `text` says where it happened."""

    def __init__(self, text: str) -> None:
        super().__init__(f"a mistake in the game: {text}")


def mistake_at(place: traceback.FrameSummary, function: str, error: BaseException) -> GameMistakeError:
    """Return the error for an exception that a function of a game raised at this place."""
    words = f"{type(error).__name__}: {error}"
    return GameMistakeError(f"{function} raised {words:.300} ({place.filename}, line {place.lineno})")


CONVERSATION = frozenset(
    ["hello", "game", "rule", "clock", "seed", "opponent", "setup", "restore", "legal", "turn", "error", "end", "quit"]
)
"""Verbs that a game's own lines may not have: bots know their meaning."""


def is_game_line(line: object) -> bool:
    """Whether a game may send this line: printable ASCII, not too long, and no line of the arena's own."""
    return isinstance(line, str) and is_line(line) and line.partition(" ")[0] not in CONVERSATION


def _is_list(found: object) -> bool:
    return isinstance(found, Sequence) and not isinstance(found, str)


def _are_lines(found: object) -> bool:
    return _is_list(found) and all(map(is_game_line, cast("Sequence[object]", found)))


def _is_outcome(found: object) -> bool:
    return (
        isinstance(found, Outcome)
        and isinstance(found.reason, Reason)
        and (found.winner is None or isinstance(found.winner, Color))
    )


LONGEST_ACTION = MAX_BOT_LINE - len("legal ")


def _are_actions(found: object) -> bool:
    if not _is_list(found):
        return found is None
    actions = cast("Sequence[str]", found)
    try:
        text = " ".join(actions)
    except TypeError:
        return False
    are_short = len(text) <= LONGEST_ACTION or max(map(len, actions)) <= LONGEST_ACTION
    return are_short and text.isascii() and text.isprintable() and text.split() == list(actions)


def _are_rules(found: object) -> bool:
    return _is_list(found) and all(
        isinstance(rule, tuple) and len(rule) == 2 and all(isinstance(text, str) for text in rule)
        for rule in cast("Sequence[object]", found)
    )


def _is_told(found: object) -> bool:
    return isinstance(found, tuple) and len(found) == 2 and all(map(_are_lines, found))


def _is_text(found: object) -> bool:
    return isinstance(found, str)


RESULTS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "act": (_is_told, "lists of printable lines for Red and for Blue, none of them one of the arena's own"),
    "first_lines": (_are_lines, "printable lines, none of them one of the arena's own"),
    "legal_actions": (_are_actions, f"actions, each one printable word of up to {LONGEST_ACTION:,} bytes, or None"),
    "board_line": (lambda found: found is None or is_game_line(found), "a printable line, or None"),
    "text": (_is_text, "a text"),
    "svg": (lambda found: found is None or isinstance(found, str), "a text, or None"),
    "copy": (lambda found: isinstance(found, State), "a State"),
    "start": (lambda found: isinstance(found, State), "a State"),
    "variant_names": (
        lambda found: _is_list(found) and bool(found) and all(map(_is_text, cast("Sequence[object]", found))),
        "a list or tuple of names",
    ),
    "rules_of": (_are_rules, "pairs of a name and a value, both of them texts"),
    "first_seat": (lambda found: isinstance(found, Color), "a Color"),
    "rules_in_words": (_is_text, "a text"),
    "random_setup": (_is_text, "a text"),
    "policy": (_is_text, "a text"),
}
"""What methods of a game's program return: a test of it, and the words for what is expected."""


def _guard(cls: type, seam: type) -> None:
    """Let the methods of a game's program that the arena calls, those of `seam`, raise `GameMistakeError`."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and isinstance(method, FunctionType) and hasattr(seam, name):
            setattr(cls, name, _guarded(name, method))


def _guarded(name: str, method: FunctionType) -> Callable[..., object]:
    """Wrap a method of a game's program.

    It raises `GameMistakeError` for a result of a wrong type, and for an exception that is no answer of its own, with
    the line that raised it.
    """
    is_right, expected = RESULTS.get(name, (None, ""))
    answers = (GameMistakeError, RemoteProtocolError if name.endswith("_form") else ArenaError)
    code = method.__code__

    @functools.wraps(method)
    def guarded(*arguments: object, **named: object) -> object:
        try:
            found = method(*arguments, **named)
        except answers:
            raise
        except (Exception, SystemExit) as error:
            raise mistake_at(traceback.extract_tb(error.__traceback__)[-1], name, error) from error
        if is_right and not is_right(found):
            raise GameMistakeError(
                f"{name} ({code.co_filename}, line {code.co_firstlineno}) returned {found!r:.200}: expected {expected}"
            )
        return found

    return guarded


class State(ABC):
    """One game under way, from the end of both set-ups to its outcome.

    `to_move` is the seat that has to answer next, `ply` the number of actions so far, `outcome` None until the end. A
    game in which both act at once asks one seat after the other, and tells the first action only with the second.
    """

    to_move: Color = Color.RED
    ply: int = 0
    outcome: Outcome | None = None
    events: Sequence[object] = ()
    """The last action's events, as values for programs. Empty in a game that only has lines."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _guard(cls, State)

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        """Return the lines before the first turn: what a seat, or anybody (None), may know of the beginning."""
        del seat
        return ()

    def play(self, action: str) -> Told:
        """Play an action of the seat to move, and return the lines that each seat is told.

        Raises `IllegalAnswerError` before anything has changed, and `GameMistakeError`.
        """
        mover = self.to_move
        if self.outcome is not None:
            raise IllegalAnswerError(f"{action}: the game is over")
        if action == RESIGN:
            told = to_both(moved(mover, RESIGN))
            self.outcome = Outcome(mover.opponent, Reason.RESIGN)
        else:
            red, blue = self.act(action)
            told = tuple(red), tuple(blue)
            if not isinstance(self.to_move, Color) or not (self.outcome is None or _is_outcome(self.outcome)):
                raise GameMistakeError(
                    f"after act({action!r}) expected a Color in to_move and an Outcome or None in outcome, got "
                    f"{self.to_move!r:.40} and {self.outcome!r:.60}"
                )
        self.ply += 1
        return told

    @abstractmethod
    def act(self, action: str) -> Told:
        """Play an action other than resigning: update `to_move` and `outcome`, return the lines for each seat.

        Raises `IllegalAnswerError` before anything has changed. `ply` is counted by `play`.
        """

    def legal_actions(self) -> Sequence[str] | None:
        """Return the legal actions of the seat to move but resigning; None if the game cannot list them."""
        return None

    def board_line(self, color: Color) -> str | None:
        """Return the position as this seat knows it, in one line for a bot that wants it before each turn."""
        del color
        return None

    def text(self, seat: Color | None) -> str:
        """Return the position as text of one or more lines: as a seat knows it, or all of it (None)."""
        del seat
        return ""

    def svg(self, seat: Color | None) -> str | None:
        """Return the position as an SVG image, as a seat knows it, or all of it (None)."""
        del seat
        return None

    def public(self, draw: Callable[[Color | None], str | None]) -> str:
        """Return what `text` or `svg` draws if both seats see the whole position so; else an empty text."""
        whole = draw(None)
        return whole if whole and all(draw(seat) == whole for seat in Color) else ""

    def copy(self) -> "State":
        return copy.deepcopy(self)


class Game(ABC):
    """A game of two seats: its name, its variants, and how a game of it begins.

    `endings` explains the words that its outcomes have as reasons. With `has_setups` both seats send a set-up before
    the first turn; a game `has_chance` if the seed decides anything; it `hides_actions` if a seat is not told all.
    """

    name: str
    version: str = "1"
    has_setups: bool = False
    has_chance: bool = False
    hides_actions: bool = False
    endings: Mapping[str, Ending] = MappingProxyType({})
    seat_names: tuple[str, str] = ("Red", "Blue")
    """The names of the seats in messages to people."""
    variant_words: tuple[str, str] = ("variant", "variants")
    """The words for a variant and for variants in messages to people."""
    open_verbs: frozenset[str] = frozenset()
    """Verbs of its own lines to which later versions may add fields, which bots have to ignore."""
    displays: Displays = Displays()
    modules: tuple[str, ...] = ()
    """Modules that games need and other commands do not: imported before bots start, so that no clock waits for it."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _guard(cls, Game)

    def __init__(self) -> None:
        self.plain_moves: dict[bytes, str] = {}
        """See `protocol.codec.Forms`."""
        for word, ending in self.endings.items():
            if not isinstance(ending, Ending):
                raise TypeError(f"endings: expected an Ending for {word!r}, got {ending!r}")
            Reason(word).explain(ReasonKind.DRAWN if ending.is_draw else ReasonKind.PLAYED, ending.sentence)

    # --- variants -----------------------------------------------------------------------------------------------------

    def variant_names(self) -> Sequence[str]:
        """Return the names of all variants, the usual one first."""
        return (self.name,)

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        """Return the rules of a variant as names and values, for bots and records."""
        del name
        return ()

    def variant(self, text: object = "") -> Variant:
        """Return the variant that `--rules` names; the usual one for an empty text. Raises `UsageError`."""
        names = self.variant_names()
        name = text or names[0]
        if name not in names:
            raise UsageError(f"--rules: {self.name} has no variant {cut(str(name))!r}; {suggest(str(name), names)}")
        return Variant(self.name, self.version, str(name), tuple(self.rules_of(str(name))))

    def check_variant(self, variant: Variant) -> None:
        """Raise `UsageError` unless games of this variant, as a record has it, can be played."""
        self.check_version(variant)
        if variant != self.variant(variant.name):
            raise UsageError(f"the rules of {variant.name!r} are not those of {self.name} {self.version}")

    def check_version(self, variant: Variant) -> None:
        if variant.version != self.version:
            raise UsageError(
                f"expected {self.name} {self.version}, which is here, got {variant.game} {variant.version}"
            )

    def digest(self, variant: Variant) -> str:
        """Return a fingerprint of the rules, from which ids of games follow."""
        lines = "\n".join(f"{name} {value}" for name, value in variant.rules)
        return hashlib.sha256(f"{self.name} {self.version} {variant.name}\n{lines}".encode()).hexdigest()

    def lasting_rules(self, variant: Variant) -> Sequence[tuple[str, str]]:
        """Return the rules as the settings of a store have them; for a game that has gained rules, without new ones."""
        return variant.rules

    def settled(self, variant: Variant, pair_seed: int) -> Variant:
        """Return the variant for one pair of games, where the rules leave something to the draw."""
        del pair_seed
        return variant

    def unsettled(self, variant: Variant, pair_seed: int) -> Sequence[Variant]:
        """Return the variants from which `settled` gives this one."""
        del pair_seed
        return (variant,)

    def completed(self, variant: Variant) -> Variant:
        """Return the variant of `lasting_rules` with all its rules. Raises `UsageError` if there is no such variant."""
        self.check_variant(variant)
        return variant

    def first_seat(self, variant: Variant) -> Color:
        """Return the seat that has the first turn."""
        del variant
        return Color.RED

    # --- answers ------------------------------------------------------------------------------------------------------

    def check_move_form(self, text: str) -> None:
        """Raise `RemoteProtocolError` unless the text, other than `resign`, has the form of an action, legal or not."""
        if not text or " " in text:
            raise RemoteProtocolError(f"expected 'move' and one action without spaces, got 'move {cut(text)}'")

    def check_setup_form(self, text: str) -> None:
        """Raise `RemoteProtocolError` unless the text has the form of a set-up, legal or not."""
        if not self.has_setups:
            raise RemoteProtocolError(f"there are no set-ups in {self.name}, got 'setup {cut(text)}'")

    def check_setup(self, variant: Variant, color: Color, setup: str) -> None:
        """Raise `IllegalAnswerError` unless the rules allow a seat this set-up, a text of any form.

        In a game without set-ups it is empty.
        """
        if setup and not self.has_setups:
            raise IllegalAnswerError(f"there are no set-ups in {self.name}, got {cut(setup)!r}")

    def load(self) -> None:
        """Import the `modules`."""
        for module in self.modules:
            importlib.import_module(module)

    @abstractmethod
    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> State:
        """Return a new game. `setups` are Red's and Blue's, which have been checked, or empty texts."""

    def play_text(self, state: State, action: str) -> Told:
        """Play an action of any form, as records of strangers have it. Raises `IllegalAnswerError`."""
        if action != RESIGN:
            try:
                self.check_move_form(action)
            except RemoteProtocolError as error:
                raise IllegalAnswerError(str(error)) from None
        return state.play(action)

    def public_lines(self, told: Told) -> Sequence[str]:
        """Return the lines about an action that anybody may read: those that both seats were told.

        A line on something hidden names its seat, or it is public by chance when both have the same.
        """
        red, blue = told
        return [line for line in red if line in blue]

    # --- what a game may offer --------------------------------------------------------------------------------------

    def rules_in_words(self, variant: Variant) -> str:
        """Return the rules for people, as plain text."""
        del variant
        return ""

    def rules_page(self, text: str, names: Names, width: int) -> str:
        """Return what `arena rules` prints about the variant that a text names; of all variants for an empty text."""
        self.check_names(names)
        variant = self.variant(text)
        lines = [f"{self.name} {self.version}, variant {variant.name}"]
        for line in self.rules_in_words(variant).splitlines():
            lines += textwrap.wrap(line, width, break_long_words=False) or [""]
        lines += [f"rule {name} {value}" for name, value in variant.rules]
        if not text:
            lines += [f"The variants of {self.name}: {', '.join(self.variant_names())}"]
        return "\n".join(lines) + "\n"

    def rules_values(self, text: str, names: Names) -> Any:
        """Return the same as values for JSON."""
        self.check_names(names)
        variant = self.variant(text)
        values = {"game": self.name, "version": self.version, "name": variant.name, "values": dict(variant.rules)}
        values |= {"words": self.rules_in_words(variant)}
        return values if text else values | {"variants": list(self.variant_names())}

    def offered_variants(self, begun: str) -> Sequence[tuple[str, str]]:
        """Return how the name of a variant may go on, each with a title, for the completion of a shell."""
        return [(name, "") for name in self.variant_names() if name.startswith(begun)]

    def random_setup(self, variant: Variant, color: Color, seed: int) -> str:
        """Return a legal set-up. A game with set-ups needs this for `arena check` and for people who play."""
        raise UsageError(f"{self.name} makes no set-ups: its random_setup has not been written")

    def check(self, state: State, action: str) -> None:
        """Raise `IllegalAnswerError` if the seat to move may not play this action, of any form, now."""
        self.play_text(state.copy(), action)

    def policy(self, state: State, seed: int, manner: str = "") -> str:
        """Return a legal action for the opponent of `arena check`: any, or one in the manner of a `Trial`.

        A game that does not list its legal actions needs its own policy.
        """
        del manner
        actions = state.legal_actions()
        if not actions:
            raise UsageError(
                f"{self.name} lists no legal actions and has no policy, so there is no opponent to check bots against"
            )
        return Random(seed).choice(actions)

    def trials(self) -> Sequence[Trial]:
        """Return the whole games of `arena check`."""
        return [
            Trial(f"whole-{color.word}", f"plays a whole game as {self.seat_names[color]}", color) for color in Color
        ]

    def tried_variants(self) -> Sequence[str]:
        """Return the variants that a bot for all of them is checked with."""
        return self.variant_names()

    def tight_setup(self, variant: Variant, color: Color, seed: int) -> str:
        """Return a legal set-up that leaves a seat few actions, if the game has such ones."""
        return self.random_setup(variant, color, seed)

    def why_not_of_2012(self, variant: Variant) -> str:
        """Return why bots that speak Stratego's protocol of 2012 cannot play this; empty if they can."""
        del variant
        return f"ucc-2012 is a protocol of Stratego, not of {self.name}"

    def check_names(self, names: Names) -> None:
        """Raise `UsageError` unless these options say what things of this game are called."""
        if names:
            options = " and ".join(f"--{name}" for name in names)
            raise UsageError(f"{options}: {self.name} has no names or ranks of pieces to choose from")

    def hint(self, seen: Any) -> Any:
        """Return a `Hint` for an author whose bot broke a rule of the game (`arena.game.hints`), or None."""
        del seen


_games: dict[str, Game] = {}
"""The games that have been found in this process, by name."""


def add_game(game: Game) -> Game:
    _games[game.name] = game
    return game


def game_named(name: str) -> Game:
    """Return a game that has been found, comes with the arena, or is installed. Raises `UsageError`."""
    if name not in _games:
        if name == STRATEGO:
            return add_game(importlib.import_module("arena.stratego.game").GAME)
        return add_game(importlib.import_module("arena.game.registry").find(name))
    return _games[name]
