"""Help with setting up: presets, which are our own, each for one army; and random set-ups.

Rows are those of a `setup` line: own back row first, files a to j.
"""

import random
from collections import Counter

import msgspec

from arena.stratego.rules.ruleset import Ruleset
from protocol.notation import EMPTY

Rows = tuple[str, ...]


class Preset(msgspec.Struct, frozen=True):
    """A set-up to begin with: its name, its purpose, and its rows."""

    name: str
    text: str
    rows: Rows


def random_rows(ruleset: Ruleset, seed: int) -> Rows:
    """Return a random legal set-up, uniformly distributed, that follows from the seed alone."""
    from protocol.bot import random_rows as rows_of_army  # a league plays without the kit for bots

    return rows_of_army(dict(ruleset.army), random.Random(seed))


def presets(ruleset: Ruleset) -> tuple[Preset, ...]:
    """Return the legal set-ups to begin with under these rules; none for an army without presets."""
    army = Counter({rank.letter: count for rank, count in ruleset.army})
    fitting = []
    for heading, setup in zip(_PRESETS[::2], _PRESETS[1::2], strict=True):
        if (fitted := _fitted(setup, army)) is not None:
            name, text = heading.split(": ")
            fitting.append(Preset(name, text, tuple(fitted.split("/"))))
    return tuple(fitting)


def _fitted(setup: str, army: Counter[str]) -> str | None:
    """Adapt a set-up to an army that differs in at most one piece, which takes the other one's square."""
    placed = Counter(setup.replace(EMPTY, "").replace("/", ""))
    surplus, lacking = placed - army, army - placed
    if surplus.total() > 1 or surplus.total() != lacking.total():
        return None
    for old, new in zip(surplus, lacking, strict=True):
        place = setup.rindex(old)  # the foremost one
        setup = setup[:place] + new + setup[place + 1 :]
    return setup


_PRESETS = """\
corner: the flag in a corner behind bombs, strong pieces on the other side
FB35S32B23/B4243B5342/5B2678256B/2674M29876
middle: the flag in the middle of the back row, bombs on three sides, strength on both wings
323BFB2B23/5B34B4S5B3/4728265482/26M2756976
decoy: bombs in one corner of the back row, and the flag near the other one
BB23233BFB/B3454S23B4/5726784265/29627M5862
storm: strong pieces in front to attack at once; little is left at home
3BFB323B23/43B4B6S5B4/2542562725/67M2869872
quiet: the flag in the corner behind both bombs, the others far apart
FB......../BS......2./3...9....3/2....M....
hidden: the flag uncovered among the others, the bombs as a lure on the other side
.3F.....B./.S.....B../..39....../2....M...2
wall: the flag in the corner, its bomb next to it, the marshal in front
FB......../3S......../.9......../2..M.....2
open: the flag in the open, and the bomb as a lure in the middle
.......F../....B...3./.S.....9../2.......M2
camp: the flag behind both bombs, the others in a half circle in front
F.B..23.../B4S3....../54256.6.../28.M.79.2.
""".splitlines()
"""A line with name and purpose, and one with the set-up, for each."""
