"""Opponents that are named, and bots that cannot be restored: from the protocol's lines to the store and the file."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted import Table, game_spec

from arena.game.exported import decode_line, encode_line, exported, redact, with_checksum
from arena.game.game_spec import Player
from arena.game.recheck import check_record
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.recorded import judged
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.settings import Settings
from arena.league.store import Store
from arena.league.verify import verify
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.messages import Ability
from protocol.notation import Color

RED, BLUE = Color.RED, Color.BLUE
ROWS = "FBBS2339M./........../........../2........."
GIVEN = (ROWS, ROWS)
ANN, BOB = Player("ann", "digest-of-ann"), Player("Jäger", "digest-of-bob")
NAMED = Settings(variant_of(load_ruleset("duel")), TimeControl(), names_told=True)
changed = msgspec.structs.replace


def play(table: Any, *, red: tuple[str, ...] = ()) -> GameRecord:
    """A game in which Red resigns at once, after these lines of introduction."""
    table.introduce(red=red)
    for color in Color:
        table.reply(color, f"setup {ROWS}")
    table.reply(RED, "move resign")
    return judged(table.referee, arena="1", started=1.0, seconds=1.0, stderr=("", ""))


@pytest.fixture
def record() -> GameRecord:
    """The first game of a league in which bots are told names; Red says all that there is to say of itself."""
    game = Games(NAMED).game(ANN, BOB, 0)
    return play(Table(game), red=("name ann 1.0", "author Ann", "want board", "cannot restore"))


# --- the opponent's name ----------------------------------------------------------------------------------------------


def test_no_name_is_told_unless_the_host_has_chosen_so() -> None:
    for is_told in (False, True):
        table = Table(changed(game_spec(names=("ann", "Jäger")), names_told=is_told))
        play(table)
        told = [b"".join(table.writes[color]).decode().splitlines() for color in Color]
        lines = [[line for line in lines if line.startswith("opponent")] for lines in told]
        assert lines == ([["opponent J\\xe4ger"], ["opponent ann"]] if is_told else [[], []])
        assert all(("opponent" in lines[lines.index("setup") - 1]) is is_told for lines in told)


def test_a_record_and_its_line_come_back_as_they_were(record: GameRecord) -> None:
    check_record(record)
    assert (record.names_told, record.cannot) == (True, ((Ability.RESTORE,), ()))
    assert decode_record(encode_record(record)) == record
    line = encode_line(record, {})
    assert decode_line(line).record == record
    assert b'"opponent":"J\xc3\xa4ger","cannot":["restore"]}' in line


def test_a_line_with_a_name_told_to_one_side_alone_is_refused(record: GameRecord) -> None:
    fields = msgspec.to_builtins(exported(record, {}))
    del fields["blue"]["opponent"]
    with pytest.raises(RecordError, match="not as 'arena export' writes it"):
        decode_line(with_checksum(fields))


def test_a_side_s_view_does_not_say_what_the_other_said_of_itself(record: GameRecord) -> None:
    assert b"cannot" not in redact(record, BLUE)
    assert b"cannot" in redact(record, RED)


def test_a_store_is_checked_for_it_and_rebuilt_with_it(record: GameRecord, tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Store(path, create=True) as store:
        store.agree(NAMED.described((ANN, BOB)), (ANN, BOB))
        store.add(record)
    with Store(path, create=False) as store:
        assert list(verify(store, lambda done, games: None)) == []
    other = tmp_path / "two.sqlite"
    with Store(other, create=True) as store:
        store.agree(changed(NAMED, names_told=False).described((ANN, BOB)), (ANN, BOB))
        store.add(record)
    with Store(other, create=False) as store:
        (finding,) = verify(store, lambda done, games: None)
    assert "the bots were told each other's names, which the store says otherwise" in finding.text


# --- what cannot be restored ------------------------------------------------------------------------------------------


def refusal(referee: Referee, says: str = "cannot restore") -> str | None:
    """Why a game is not played in which Blue introduces itself with this line."""
    for color, lines in ((RED, "ready\n"), (BLUE, f"{says}\nready\n")):
        referee.take(color)
        referee.sent(color, 0.0)
        referee.receive(color, lines.encode(), 0.0)
    assert referee.is_over is (referee.refused is not None)
    assert referee.verdict is None, "no game is lost by it"
    return referee.refused


def test_a_game_that_cannot_be_played_with_such_a_bot_is_refused_in_words() -> None:
    game = game_spec()
    assert refusal(Referee(game)) is None
    assert refusal(Referee(game, can_pause=True), "name Blue") is None
    words = refusal(Referee(game, can_pause=True)) or ""
    assert "blue (bob) says 'cannot restore'" in words
    assert "without --pause" in words
    assert "without --openings" in (refusal(Referee(changed(game, opening=GIVEN))) or "")


def test_a_paused_game_does_not_go_on_with_such_a_bot() -> None:
    table = Table(game_spec())
    table.introduce()
    for color in Color:
        table.reply(color, f"setup {ROWS}")
    history = table.referee.history()
    words = refusal(Referee(game_spec(), history=history)) or ""
    assert words.startswith("the paused game cannot be resumed: blue (bob) says 'cannot restore'")
