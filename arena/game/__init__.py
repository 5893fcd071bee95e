"""The seam between the arena and a game: what a game of two seats is, and where games are found.

The arena carries lines, keeps clocks, judges faults and stores records for any game. A game is an object of a class
below `Game`; one played game is a `State`. Both are pure: no clock, no file, no process, and random numbers only from
the seed that the arena passes to `Game.start`, so that a record can be played again. `docs/new-game.md` explains how to
write one.
"""

import copy
import hashlib
import importlib
import pkgutil
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from arena.errors import IllegalAnswerError, UsageError, suggest
from arena.game.game_mistakes import GameMistakeError, guard, is_outcome
from protocol.lines import RemoteProtocolError, cut
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
        guard(cls, State)

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
            if not isinstance(self.to_move, Color) or not (self.outcome is None or is_outcome(self.outcome)):
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
        guard(cls, Game)

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
