"""What a host is told when a store is not as it was stored: which games do not count."""

from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.streams import remark

if TYPE_CHECKING:
    from arena.league.store import Damage


def warn_of_damage(store: Path, damage: "tuple[Damage, ...]") -> int:
    """Say it on standard error, if there is any; returns the exit code."""
    from arena.league.store import damage_text

    if not damage:
        return DONE
    remark(
        f"arena: warning: {store} is damaged, or was changed from outside; what is named here does not count:\n"
        f"{damage_text(damage)}\n'arena verify {store}' checks all of it"
    )
    return FOUND
