"""The page of one game: who played, how it ended, the set-ups, notes and errors, and where the board is put."""

import json
from collections.abc import Mapping

from arena.game.record import GameRecord
from arena.game.spec import Player
from arena.report.game_facts import GameFacts, SideFacts, facts_of
from arena.report.names import Names
from arena.report.rules import army_entries
from arena.report.site.audience import Audience, notes_for
from arena.report.site.frame import Frame
from arena.report.terminal import score_text
from arena.rules.rule_lines import ruleset_from_lines
from protocol.notation import Color

LONGEST_STDERR = 20_000
"""Characters of standard error that a page shows, the last ones."""


def game_page(
    frame: Frame, number: int, record: GameRecord, *, shown: Mapping[Player, str], audience: Audience, names: Names
) -> str:
    """The page of a game. `shown` are the players' names in tables, if not their own. Raises `RecordError`."""
    facts = facts_of(number, record, audience.value, shown)
    plies = "1 ply" if facts.plies == 1 else f"{facts.plies} plies"
    verdict = f"after {plies}: {facts.detail} ({facts.result}, {facts.reason})"
    sides = list(zip(Color, (facts.red, facts.blue), strict=True))
    views = {
        Audience.ALL: "all pieces",
        Audience.RED: f"what Red ({facts.red.name}) knew",
        Audience.BLUE: f"what Blue ({facts.blue.name}) knew",
        Audience.PUBLIC: "what both sides knew",
    }
    return frame.page(
        "game.html",
        f"games/{number}.html",
        facts=facts,
        score=score_text(record.verdict.result),
        verdict=verdict,
        details=_details(record, facts, sides, audience),
        has_board=None not in record.setups,
        labels=_labels(record, facts, verdict, names),
        views=[(view.value, views[view]) for view in audience.views],
        setups=[
            (f"Set-up of {color.word}", _rows_text(side.setup, color))
            for color, side in sides
            if side.setup and audience.sees(color)
        ],
        notes=[(note.ply, note.color, note.text) for note in notes_for(record, audience)],
        stderr=[
            (f"Standard error of {color.word} ({side.name})", side.stderr[-LONGEST_STDERR:])
            for color, side in sides
            if side.stderr and side.stderr.strip() and audience.sees(color)
        ],
    )


def _details(
    record: GameRecord, facts: GameFacts, sides: list[tuple[Color, SideFacts]], audience: Audience
) -> list[tuple[str, str]]:
    red, blue = facts.red.time, facts.blue.time
    details = [
        ("id", facts.id),
        ("rules", record.ruleset),
        ("time", red if red == blue else f"red {red}, blue {blue}"),
        ("played", f"{facts.started or 'at no known date'}, in {facts.seconds:.1f} s, by arena {facts.arena}"),
    ]
    for color, side in sides:
        seed = f", seed {side.seed}" if side.seed is not None else ""
        called = f", calls itself {side.declared}" if side.declared and audience.sees(color) else ""
        details.append((color.word, f"{side.name}, digest {side.digest[:12]}{called}{seed}"))
        if side.sandbox:
            details.append((f"sandbox of {color.word}", side.sandbox))
    return details


def _labels(record: GameRecord, facts: GameFacts, verdict: str, names: Names) -> str:
    """What the script of the page says: texts and what the pieces are called, as JSON."""
    army = army_entries(ruleset_from_lines(record.ruleset, record.rules), names)
    labels = {
        "red": facts.red.name,
        "blue": facts.blue.name,
        "pieces": {entry.letter: [entry.number, entry.name] for entry in army},
        "strength": "".join(entry.letter for entry in army),
        "unknown": "unknown piece",
        "moved": "unknown piece that has moved",
        "lost": "lost:",
        "ply": "ply",
        "setups": "Both sides have set up.",
        "verdict": verdict,
    }
    return json.dumps(labels, ensure_ascii=False)


def _rows_text(setup: str, color: Color) -> str:
    """A set-up as one sees it from the side of its owner: the front row on top."""
    rows = setup.split("/")
    return "\n".join(" ".join(row) for row in reversed(rows))
