"""Where the versions of a store have what they keep of a game."""

from typing import NamedTuple

from arena.league.store.game_row import COLUMNS, SUMMED_IN_3

FIRST_WITH_CPU_TIMES, FIRST_WITH_SUMS, FIRST_WITH_RECORDS_APART = 2, 3, 4
_SINCE_2, _SINCE_4 = 17, SUMMED_IN_3
"""From where on in `COLUMNS` version 1, and versions 2 and 3, have none."""
RECORD_APART = "record, NULL, record_sum"


class Layout(NamedTuple):
    """How the games of a store of this version are read."""

    version: int

    @property
    def has_sums(self) -> bool:
        return self.version >= FIRST_WITH_SUMS

    @property
    def has_records_apart(self) -> bool:
        """Whether records are in a table of their own."""
        return self.version >= FIRST_WITH_RECORDS_APART

    @property
    def compared(self) -> int:
        """How many of `COLUMNS` are to say what the record says, and are covered by the row's checksum if it has one.

        Version 1 has no processor times, which are compared all the same: its records have none either.
        """
        return len(COLUMNS) if self.has_records_apart else SUMMED_IN_3

    @property
    def columns(self) -> str:
        """All `COLUMNS` and then the checksums of record and row, for a SELECT; NULL where there is none."""
        there = len(COLUMNS) if self.has_records_apart else _SINCE_4 if self.version > 1 else _SINCE_2
        sums = ("record_sum", "row_sum") if self.has_sums else ("NULL", "NULL")
        return ", ".join((*COLUMNS[:there], *["NULL"] * (len(COLUMNS) - there), *sums))

    @property
    def columns_or_record(self) -> str:
        """The same, but the record in the place of the pair's seed where that is in the record alone."""
        return self.columns if self.has_records_apart else self.columns.replace("NULL, NULL, record_sum", RECORD_APART)

    @property
    def records(self) -> str:
        """The table that has the records."""
        return "records" if self.has_records_apart else "games"
