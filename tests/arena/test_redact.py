"""What a side may see of a game as a line: nothing in it depends on a hidden rank."""

import json
from pathlib import Path
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import random_rows
from twins import PLAYERS, played_alike, record_of_twin, with_two_swapped

from arena.game.exported import decode_line, encode_line, redact
from arena.game.faults import Fault, GameResult, Illegal, Verdict, forfeit, verdict_of
from arena.game.recheck import check_record
from arena.game.record import GameRecord
from arena.stratego.rules.action_types import IllegalActionError
from arena.stratego.rules.board import MOVES
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Starts
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Color, Reason

GOLDEN = Path(__file__).parent.parent / "golden" / "records"


def illegal(game: EngineGame, color: Color, rng: Random) -> str:
    """Why an action of this side is illegal, in the words of the engine, which name ranks."""
    home = range(40) if color is Color.RED else range(60, 100)
    for text in rng.sample(sorted(MOVES), len(MOVES)):
        if MOVES[text].origin in home:
            try:
                game.check(game.parse(text))
            except IllegalActionError as error:
                if " on " in str(error):
                    return str(error)
    return "none"


def ending(game: EngineGame, seat: Color, how: str, rng: Random) -> Verdict:
    """How the game ends now: by a fault of the side to move, whose words name its ranks, or by something else."""
    loser, plies = game.to_move, game.ply
    if how == "illegal" and loser is not seat:
        words = illegal(game, loser, rng)
        fault = Fault(Reason.ILLEGAL_ACTION, f"ply {plies + 1}: {words}", Illegal(words.partition(":")[0]))
        return forfeit(PLAYERS, [(loser, fault)], plies)
    if how == "crash":
        words = "the bot exited" if seat.opponent is not loser else f"the bot exited: {rng.random()}"
        return forfeit(PLAYERS, [(loser, Fault(Reason.CRASH, words))], plies)
    return verdict_of(PLAYERS, GameResult.win(loser.opponent), Reason.RESIGN, plies)


@given(
    seed=st.integers(0, 2**32),
    rules=st.sampled_from(
        ["duel", "barrage", "vintage/lightning", "isf", "duel+silent-defence", "duel+rescue+mobile-flag"]
    ),
    seat=st.sampled_from(Color),
    how=st.sampled_from(["illegal", "crash", "resign"]),
)
@settings(deadline=None, max_examples=60)
def test_two_games_that_differ_in_what_was_hidden_are_the_same_game_for_a_seat(
    *, seed: int, rules: str, seat: Color, how: str
) -> None:
    rng = Random(seed)
    ruleset = load_ruleset(rules)
    rows = [random_rows(ruleset, rng), random_rows(ruleset, rng)]
    twins = list(rows)
    twins[seat.opponent] = with_two_swapped(rows[seat.opponent], rng)
    actions = played_alike((EngineGame(ruleset, *rows), EngineGame(ruleset, *twins)), [seat], rng)
    lines, wholes = [], []
    for world, setups in enumerate((rows, twins)):
        game = EngineGame(ruleset, *setups)
        for action in actions:
            game.apply(action)
        verdict = ending(game, seat, how, Random(seed + world if how == "crash" else seed))
        played = [*actions, "resign"] if verdict.reason is Reason.RESIGN else actions
        verdict = msgspec.structs.replace(verdict, plies=len(played))
        record = record_of_twin(ruleset, setups, played, verdict, hidden=[seat.opponent], rng=Random(seed + world))
        first = Color.BLUE if ruleset.starts is Starts.BLUE else Color.RED
        record = msgspec.structs.replace(record, interrupted=((1, 5 if first is seat else 5 + world),))
        if how != "illegal":
            check_record(record)
        lines.append(redact(record, seat))
        wholes.append(encode_line(record, {}))
    assert lines[0] == lines[1]
    assert wholes[0] != wholes[1]


@given(seed=st.integers(0, 2**32), rules=st.sampled_from(["duel", "barrage", "duel+silent-defence"]))
@settings(deadline=None, max_examples=30)
def test_two_games_that_differ_in_what_one_side_hid_are_the_same_game_for_the_public(*, seed: int, rules: str) -> None:
    rng = Random(seed)
    ruleset = load_ruleset(rules)
    rows = [random_rows(ruleset, rng), random_rows(ruleset, rng)]
    hider = rng.choice(list(Color))
    twins = list(rows)
    twins[hider] = with_two_swapped(rows[hider], rng)
    actions = played_alike((EngineGame(ruleset, *rows), EngineGame(ruleset, *twins)), [hider.opponent], rng)
    lines = set()
    for setups in (rows, twins):
        game = EngineGame(ruleset, *setups)
        for action in actions:
            game.apply(action)
        verdict = msgspec.structs.replace(ending(game, hider, "resign", rng), plies=len(actions) + 1)
        record = record_of_twin(
            ruleset, setups, [*actions, "resign"], verdict, hidden=[hider.opponent], rng=Random(seed)
        )
        lines.add(redact(record, None))
    assert len(lines) == 1


def test_a_seat_sees_what_it_was_told_and_nothing_that_is_the_opponents_own() -> None:
    record = decode_line((GOLDEN / "whole-schema1.jsonl").read_bytes().splitlines()[-1]).record
    for color, line in zip(Color, (GOLDEN / "seats-schema1.jsonl").read_bytes().splitlines(), strict=True):
        assert redact(record, color) == line
        fields = json.loads(line)
        own, other = fields[color.word], fields[color.opponent.word]
        assert own["setup"] == record.setups[color]
        assert own["stderr"] == record.stderr[color]
        hidden = {key for key, value in other.items() if value is None}
        assert hidden == {"declared", "author", "wants", "seed", "setup", "used", "pondered_us", "stderr"}
        assert str(record.setups[color.opponent]).encode() not in line
        assert [note["color"] for note in fields["notes"]] == [color.word]
        assert len(fields["told"]) == len(record.actions) + 1
        assert fields["settings"] is fields["pair_seed"] is None


def words_for(record: GameRecord, color: Color) -> str:
    """What the verdict says to a side."""
    words = json.loads(redact(record, color))["verdict"]["detail"]
    assert isinstance(words, str)
    return words


def test_the_words_on_a_fault_are_for_the_side_that_lost_by_it() -> None:
    record = decode_line((GOLDEN / "whole-schema1.jsonl").read_bytes().splitlines()[1]).record
    assert record.verdict.result is GameResult.BLUE
    assert words_for(record, Color.RED) == record.verdict.detail
    assert words_for(record, Color.BLUE) == "red (breaker) tried an illegal action"
