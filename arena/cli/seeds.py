"""What a host is told before games are given out: that the seed of the league can be guessed, if it can."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.streams import remark

if TYPE_CHECKING:
    from arena.league.readers import Reader


def warn_of_seed(store: Path, settings: dict[str, str], reader: "Reader", say: Callable[[str], None] = remark) -> None:
    """Say so, if somebody else than the host reads the games of this store, with these settings."""
    from arena.league.readers import HOST, guessable_seed
    from arena.printable import printable

    seed = guessable_seed(settings)
    if reader is not HOST and seed is not None:
        say(
            f"arena: note: the seed of {printable(str(store))} is {seed}, which can be guessed: whoever has a bot's "
            "program can make its set-ups again; a league whose games are given out while it goes on needs a large "
            "--seed that nobody else knows"
        )
