"""Opening a store to read it, and warnings about damage and a guessable seed."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.streams import remark
from arena.errors import UsageError
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.game.game_spec import Player
    from arena.league.readers import Reader
    from arena.league.store import Damage, Store
    from arena.report.game_list import Roster


def open_to_read(path: Path, *, is_doubtful: bool = False, needs_game: bool = True) -> "Store":
    """Open the store at a path; `is_doubtful` is as for `Store`.

    Raises `UsageError` if there is none, or, if a command `needs_game`, if the game that was played is not here.
    """
    from arena.league.settings import check_game
    from arena.league.store import Store

    store = Store(path, create=False, is_doubtful=is_doubtful)
    if needs_game:
        with ExitStack() as closing:
            closing.enter_context(store)
            check_game(store.read_document()[0].games, printable(str(path)))
            closing.pop_all()
    return store


def called(name: str, roster: "Roster", store: Path) -> "set[Player]":
    try:
        return roster.called(name)
    except UsageError as error:
        raise UsageError(f"{store}: {error}") from None


def warn_of_damage(store: Path, damage: "tuple[Damage, ...]") -> int:
    """Warn of damage in a store on standard error, if there is any. Returns the exit code."""
    from arena.league.store import damage_text

    if not damage:
        return DONE
    remark(
        f"arena: warning: {store} is damaged, or was changed from outside; what is named here does not count:\n"
        f"{damage_text(damage)}\n'arena verify {store}' checks all of it"
    )
    return FOUND


def warn_of_seed(store: Path, settings: dict[str, str], reader: "Reader", say: Callable[[str], None] = remark) -> None:
    from arena.league.readers import HOST, guessable_seed
    from arena.league.store.document import Setting

    seed = None if reader is HOST else guessable_seed(settings)
    if seed is not None:
        how = "compute what is hidden" if Setting.GAME in settings else "make its set-ups again"
        say(
            f"arena: note: the seed of {printable(str(store))} is {seed}, which can be guessed: with a bot's program "
            f"a reader can {how}; a league that publishes games while it runs needs a large "
            "secret --seed"
        )
