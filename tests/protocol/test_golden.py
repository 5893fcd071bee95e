"""Golden transcripts: conversations as bots have had them, byte by byte.

A change that breaks one of these breaks bots that somebody has written. They are kept as they are; whatever has to
change comes with a new version of the protocol, and with transcripts of its own.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from small_arena import Transcript

from protocol.actions import STRATEGO_FORMS
from protocol.bot import Bot, View, Want, run
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.codec import decode_from_bot, encode_for_bot
from protocol.notation import Color

FOLDER = Path(__file__).parents[1] / "golden"


class OneDice(Bot):
    """A bot that goes on with the random numbers of its set-up all through the game, as these had done."""

    def setup(self, view: View) -> str:
        rows = super().setup(view)
        self.rng = Random()
        self.rng.setstate(view.random.getstate())
        return rows


class Drifter(OneDice):
    """Any legal action, at random, with the board before its eyes."""

    name = "drifter 1.0"
    author = "Jane Doe"
    wants = (Want.BOARD, Want.LEGAL)

    def move(self, view: View) -> str:
        return self.rng.choice(view.legal)


class Quitter(Bot):
    """Says what it thinks, plays three moves and resigns."""

    name = "quitter"

    def setup(self, view: View) -> str:
        self.note("by lot, as ever")
        return super().setup(view)

    def move(self, view: View) -> str:
        self.note(f"ply {view.ply}, {view.own_ms} ms left")
        if view.ply > 6:
            self.note("this  is\nhopeless")
            return "resign"
        return max(view.legal)


class Blunderer(OneDice):
    """Plays well-formed nonsense on its second turn as Blue."""

    name = "blunderer"

    def move(self, view: View) -> str:
        return "a5-a6" if view.color is Color.BLUE and view.ply > 2 else self.rng.choice(view.legal)


class Clerk(Bot):
    """Cannot be restored, notes whom it plays, and moves from where it may have no piece."""

    name = "clerk 2"
    author = "Jane Doe"
    wants = ()
    can_restore = False

    def setup(self, view: View) -> str:
        self.note(f"{view.opponent} again")
        return super().setup(view)

    def move(self, view: View) -> str:
        return "a1-a2"


BOTS: dict[str, Callable[[], Bot]] = {
    "barrage_with_board_and_legal": Drifter,
    "duel_resigned_with_notes": Quitter,
    "duel_against_a_named_opponent": Clerk,
    "isf_two_games_and_two_faults": Blunderer,
}


@pytest.fixture(params=BOTS)
def case(request: pytest.FixtureRequest) -> "tuple[str, Transcript]":
    """The name of a golden conversation, and the conversation."""
    return request.param, Transcript((FOLDER / f"{request.param}.txt").read_text(encoding="ascii"))


def test_a_bots_whole_output_is_as_it_was(case: "tuple[str, Transcript]", monkeypatch: pytest.MonkeyPatch) -> None:
    name, golden = case
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    sink = io.BytesIO()
    run(BOTS[name], io.BytesIO(b"".join(golden.arena)), sink)
    assert sink.getvalue() == b"".join(golden.bot)


def test_every_line_is_read_and_written_as_it_stands(case: "tuple[str, Transcript]") -> None:
    _, golden = case
    for line in golden.arena:
        heard = decode_for_bot(line)
        assert heard is not None
        assert encode_for_bot(heard) == line
    for line in golden.bot:
        said = decode_from_bot(line[:-1], STRATEGO_FORMS)
        assert said is not None
        assert encode_from_bot(said) == line
