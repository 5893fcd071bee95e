"""The page and the script of a game, as texts made from its record."""

from functools import cached_property
from typing import NamedTuple

import msgspec

from arena.errors import ArenaError
from arena.game.spec import Player
from arena.league.readers import Reader
from arena.league.store import Stored
from arena.report.names import Language, Names, Numbering
from arena.report.site.audience import audience_of, has_seeds
from arena.report.site.frame import Frame, Site
from arena.report.site.game_data import game_data, game_script
from arena.report.site.game_page import game_page, labels_of


class GameText(NamedTuple):
    """`games/NUMBER.html`, and `games/NUMBER.js` with what the board shows."""

    page: str
    script: str


class GameTexts(msgspec.Struct, frozen=True, dict=True):
    """Makes the pages of games for a reader: a value that can be sent to another process.

    `shown` has the players' names in tables. `has_dialogues` is whether scripts have what was said to the bots.
    """

    site: Site
    reader: Reader
    language: Language
    numbering: Numbering
    shown: tuple[tuple[Player, str], ...]
    has_dialogues: bool

    @cached_property
    def names(self) -> Names:
        return Names(self.language, self.numbering)

    @cached_property
    def frame(self) -> Frame:
        return Frame(self.site)

    @cached_property
    def called(self) -> dict[Player, str]:
        """What players are called in tables."""
        return dict(self.shown)

    def of(self, stored: Stored) -> GameText:
        """The texts of a game. Raises `ArenaError` if it has no page, and says why: what a page would say of a game
        whose row and record differ is not what the table says."""
        number, record = stored.number, stored.sound
        if record is None:
            raise ArenaError("; ".join(damage.text for damage in stored.damage) or "its record cannot be read")
        audience, seeds = audience_of(self.reader, record.players), has_seeds(self.reader)
        frame, shown = self.frame, self.called
        labels = labels_of(frame.words, number, record, shown=shown, audience=audience, names=self.names)
        page = game_page(frame, number, record, shown=shown, audience=audience, has_seeds=seeds)
        data = game_data(record, audience, self.names, labels=labels, has_dialogue=self.has_dialogues, has_seeds=seeds)
        return GameText(page, game_script(number, data))
