"""The page of one game and the script with its data, as text."""

from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.league.readers import Reader
from arena.league.store import Stored
from arena.report.game_text import STRENGTH
from arena.report.piece_names import Names, Numbering, PieceLanguage
from arena.report.result_words import DIGEST_DIGITS, GameFacts, SideFacts, facts_of, score_text
from arena.report.roster import ShownNames
from arena.report.rules_text import army_entries
from arena.report.site.audience import SeenBy, audience_of, has_seeds, notes_for
from arena.report.site.game_data import game_data, game_script
from arena.report.site.page_frame import PageFrame, Site, Words, isolated
from arena.rules.rule_lines import ruleset_from_lines
from arena.rules.ruleset import Ruleset
from protocol.notation import Color

LONGEST_STDERR = 20_000
"""Characters of standard error that a page shows, the last ones."""


def game_page(
    frame: PageFrame,
    number: int,
    record: GameRecord,
    *,
    shown: ShownNames,
    audience: SeenBy,
    has_seeds: bool = True,
) -> str:
    """The page of a game. `shown` are the players' names in tables, if not their own. Without `has_seeds` not even the
    seeds of the seats that the audience sees are on it. Raises `RecordError`."""
    words, facts = frame.words, facts_of(number, record, audience.value, shown)
    sides = list(zip(Color, (facts.red, facts.blue), strict=True))
    views = {
        SeenBy.ALL: words.sees_all,
        SeenBy.RED: words.sees_red.format(isolated(facts.red.name)),
        SeenBy.BLUE: words.sees_blue.format(isolated(facts.blue.name)),
        SeenBy.PUBLIC: words.sees_public,
    }
    return frame.page(
        "game.html",
        f"games/{number}.html",
        facts=facts,
        title=words.title_of_game.format(red=isolated(facts.red.name), blue=isolated(facts.blue.name), number=number),
        score=score_text(record.verdict.result),
        verdict=_verdict(words, facts),
        details=_details(words, record, facts, sides, has_seeds),
        has_board=None not in record.setups,
        views=[(view.value, views[view]) for view in audience.views],
        setups=[(color.word, _rows_text(side.setup)) for color, side in sides if side.setup],
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        stderr=[
            (words.stderr_of.format(side=color.word, name=isolated(side.name)), side.stderr[-LONGEST_STDERR:])
            for color, side in sides
            if side.stderr and side.stderr.strip()
        ],
    )


def _details(
    words: Words, record: GameRecord, facts: GameFacts, sides: list[tuple[Color, SideFacts]], has_seeds: bool
) -> list[tuple[str, str]]:
    red, blue = facts.red.time, facts.blue.time
    time = red if red == blue else words.both_times.format(red=red, blue=blue)
    if facts.time_percent is not None:
        time = words.scaled_time.format(time=time, percent=facts.time_percent)
    started = facts.started or words.no_date
    details = [
        (words.id, facts.id),
        (words.ruled_by, record.ruleset),
        (words.time, time),
        (words.played, words.played_when.format(started=started, seconds=facts.seconds, arena=facts.arena)),
    ]
    for color, side in sides:
        said = [
            isolated(side.name),
            f"{words.digest} {side.digest[:DIGEST_DIGITS]}",
            *([f"{words.calls_itself} {side.declared}"] if side.declared else []),
            *([f"{words.says_by} {side.author}"] if side.author else []),
            *([f"{words.seed} {side.seed}"] if has_seeds and side.seed is not None else []),
        ]
        details.append((color.word, ", ".join(said)))
        if side.sandbox:
            details.append((words.sandbox_of.format(color.word), side.sandbox))
    return details


def labels_of(
    words: Words, number: int, record: GameRecord, *, shown: ShownNames, audience: SeenBy, names: Names
) -> dict[str, Any]:
    """What the script of the page says of this game."""
    facts = facts_of(number, record, audience.value, shown)
    ruleset = ruleset_from_lines(record.ruleset, record.rules)
    return board_labels(facts.red.name, facts.blue.name, ruleset, names) | {"verdict": _verdict(words, facts)}


def board_labels(red: str, blue: str, ruleset: Ruleset, names: Names) -> dict[str, Any]:
    """What the script of a board says: who plays, by letter what stands on a piece and what it is called, and the
    letters in the order in which lost pieces are listed."""
    return {
        "red": isolated(red),
        "blue": isolated(blue),
        "pieces": {entry.letter: [entry.number, entry.name] for entry in army_entries(ruleset, names)},
        "strength": "".join(rank.letter for rank in STRENGTH),
    }


def _verdict(words: Words, facts: GameFacts) -> str:
    plies = words.one_ply if facts.plies == 1 else words.so_many_plies.format(facts.plies)
    return words.verdict.format(plies=plies, detail=facts.detail, result=facts.result, reason=facts.reason)


def _rows_text(setup: str) -> str:
    """A set-up as one sees it from the side of its owner: the front row on top."""
    return "\n".join(" ".join(row) for row in reversed(setup.split("/")))


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
    language: PieceLanguage
    numbering: Numbering
    shown: tuple[tuple[Player, str], ...]
    has_dialogues: bool

    @cached_property
    def names(self) -> Names:
        return Names(self.language, self.numbering)

    @cached_property
    def frame(self) -> PageFrame:
        return PageFrame(self.site)

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
