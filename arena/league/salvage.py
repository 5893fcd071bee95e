"""Copying the games of a damaged store that are whole to a new store, in which their league can go on."""

from arena.errors import UsageError
from arena.league.store import Store
from arena.league.verify import League


def salvage(store: Store, new: Store) -> int:
    """Copy each game whose record can be read and can have been played so; returns how many.

    Games get new numbers. Of two with one id, the one that is as it was stored is copied. Damaged settings are used if
    they can be read, as the games are held to them. Raises `UsageError` if the settings cannot be read.
    """
    document = store.unchecked_settings()
    if document is None:
        raise UsageError(
            f"{store.path}: the settings of its games are lost, and without them nobody knows which league the games "
            "are of: nothing was copied"
        )
    contents = store.count()
    league = League(document.games, contents.rows)
    new.agree(document.games)
    new.keep(entrants=document.kept.entrants)
    copied = 0
    for number in sorted(store.numbers(), key=lambda number: store.stored(number).sound is None):
        record = store.stored(number).record
        if record is not None and not new.has(record.id) and not league.faults(record):
            new.add(record)
            copied += 1
    return copied
