"""Checks of what a game must promise to the arena, for the tests of its author.

Each function plays random games with these seeds, of all variants unless some are named, and raises `AssertionError`
with what is wrong. They need `State.legal_actions`, and `Game.random_setup` in a game with set-ups.

    from arena.game.promises import check_actions

    def test_legal_actions_are_accepted_and_others_refused():
        check_actions(GAME())
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

import msgspec

from arena.errors import IllegalAnswerError, UsageError
from arena.game import Game, State, Told, Variant, add_game
from arena.game.game_mistakes import CONVERSATION
from arena.game.game_spec import GameSpec, Player
from arena.game.recheck import check_record
from arena.game.record import RecordError, decode_record, encode_record
from arena.game.recorded import Replay, judged
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from protocol.conversation import Phase
from protocol.lines import MAX_BOT_LINE, RemoteProtocolError, is_line
from protocol.seats import RESIGN, Color, Outcome, Reason

SEEDS = range(5)
MOST_PLIES = 2000
"""Plies after which a random game is left unfinished."""
TWINS_TRIED = 1000
"""Beginnings among which a twin is looked for."""
TRIED = 5
"""Actions that are tried in each position."""
COPIED = 7
"""Plies from one position that is copied to the next."""
PLAYERS = (Player("ann", "1"), Player("bob", "2"))
OTHER_TEXTS = ("0", "1", "-1", "99", "?", "pass", "RESIGN", "\N{MULTIPLICATION SIGN}", "x" * 50)


def check_variants(game: Game) -> None:
    """Check that each variant can be named, recorded and read again, and that other names are refused."""
    rules: dict[str, object] = {}
    add_game(game)
    for name in game.variant_names():
        variant = game.variant(name)
        assert variant == msgspec.json.decode(msgspec.json.encode(variant), type=Variant), f"{name}: cannot be stored"
        game.check_variant(variant)
        lasting = Variant(variant.game, variant.version, variant.name, tuple(game.lasting_rules(variant)))
        assert game.completed(lasting) == variant, f"{name}: its lasting rules are those of another variant"
        for rule, value in variant.rules:
            _check_line(f"rule {rule} {value}", name, frozenset())
        same = rules.setdefault(game.digest(variant), variant.rules)
        assert same == variant.rules, f"{name}: has the digest of other rules"
    assert game.variant().name in game.variant_names(), "the usual variant is not in variant_names"
    try:
        game.variant("no-such-variant")
    except UsageError:
        return
    raise AssertionError("expected UsageError for the variant no-such-variant")


def check_same_seed(game: Game, seeds: Sequence[int] = SEEDS, variants: Sequence[str] = ()) -> None:
    """Check that the same seed and actions give the same game with valid lines, and that a copy is apart."""
    for variant, seed in _beginnings(game, seeds, variants):
        one, other = begin(game, variant, seed), begin(game, variant, seed)
        assert one.to_move is game.first_seat(variant), f"{variant.name}: first_seat is not the seat to move"
        for reader in (*Color, None):
            assert tuple(one.first_lines(reader)) == tuple(other.first_lines(reader)), f"{variant.name}: {UNEQUAL}"
            for line in one.first_lines(reader):
                _check_line(line, variant.name)
        for ply, (action, told) in enumerate(played(one, Random(seed)), start=1):
            where = f"{variant.name}, seed {seed}, ply {ply} ({action})"
            if ply % COPIED == 1:
                assert told == other.copy().play(action), f"{where}: {UNEQUAL}, or a copy is not the same"
                assert other.ply == ply - 1, f"{where}: playing a copy has changed the game"
            assert told == other.play(action), f"{where}: {UNEQUAL}"
            assert one.ply == other.ply == ply, f"{where}: expected ply {ply}, got {one.ply}"
            assert (one.to_move, one.outcome) == (other.to_move, other.outcome), f"{where}: {UNEQUAL}"
            for line in {*told[Color.RED], *told[Color.BLUE]}:
                _check_line(line, where)
        if one.outcome is not None:
            _check_ending(game, one, one.outcome)


UNEQUAL = "the same seed gave another game"


def _check_ending(game: Game, state: State, outcome: Outcome) -> None:
    word = outcome.reason.value
    assert word in game.endings or outcome.reason in tuple(Reason), f"the reason {word} is not in endings"
    if word in game.endings:
        assert game.endings[word].is_draw is (outcome.winner is None), f"the reason {word} is for draws, or is not"
    for action in (RESIGN, *(state.legal_actions() or ())):
        assert not _is_accepted(game, state, action), f"{action} was accepted after the end"


def check_actions(game: Game, seeds: Sequence[int] = SEEDS, variants: Sequence[str] = ()) -> None:
    """Check that legal actions are accepted, that others are refused, and that a refused one changes nothing."""
    for variant, seed in _beginnings(game, seeds, variants):
        seen = {
            action
            for other in (seed, seed + 1)
            for action, _ in played(begin(game, variant, other), Random(other + 1), all_legal=True)
        }
        texts = sorted({*seen, *OTHER_TEXTS, *(f"{action}0" for action in seen), *(action[1:] for action in seen)})
        state, undisturbed = begin(game, variant, seed), begin(game, variant, seed)
        random = Random(seed)
        for action, told in played(undisturbed, Random(seed)):
            where = f"{variant.name}, seed {seed}, ply {undisturbed.ply}"
            legal = _legal(state)
            assert len(set(legal)) == len(legal), f"{where}: an action is listed twice"
            assert legal, f"{where}: no legal action, but no outcome"
            if undisturbed.ply % COPIED == 1:
                for text in random.sample(legal, min(TRIED, len(legal))):
                    assert _is_accepted(game, state.copy(), text), f"{where}: {text} is legal, but was refused"
                resigned, loser = state.copy(), state.to_move
                resigned.play(RESIGN)
                assert resigned.outcome == (loser.opponent, Reason.RESIGN), f"{where}: resigning does not lose"
            for text in random.sample(texts, min(TRIED, len(texts))):
                if text not in legal:
                    assert not _is_accepted(game, state, text), f"{where}: {text} is not legal, but was accepted"
            assert state.play(action) == told, f"{where}: an action that was refused has changed the game"


def check_records(game: Game, seeds: Sequence[int] = SEEDS, variants: Sequence[str] = ()) -> None:
    """Check that a record of a game gives the same game again, and its result."""
    for variant, seed in _beginnings(game, seeds, variants):
        where = f"{variant.name}, seed {seed}"
        referee = _refereed(GameSpec("0" * 16, variant, TimeControl(), PLAYERS, (1, 2), seed), Random(seed))
        record = judged(referee, arena="0", started=0.0, seconds=0.0, stderr=("", ""))
        assert not record.verdict.reason.is_forfeit, f"{where}: {record.verdict.detail}"
        assert decode_record(encode_record(record)) == record, f"{where}: the record cannot be stored"
        try:
            check_record(record)
            replay = Replay(record)
            for _ in replay.steps():
                pass
        except RecordError as error:
            raise AssertionError(f"{where}: the record gave another game: {error}") from None
        assert referee.state is not None
        for seat in (*Color, None):
            assert replay.state.text(seat) == referee.state.text(seat), f"{where}: the record gave another game"


def _refereed(spec: GameSpec, random: Random) -> Referee:
    """Return the referee of a random game, as two bots play it."""
    referee = Referee(spec)
    setups = _setups(spec.kind, spec.variant, spec.pair_seed)
    while referee.verdict is None:
        for color in referee.due():
            referee.take(color)
            referee.sent(color, 0.0)
        for color in referee.awaited():
            state = referee.state
            if referee.seats[color].phase is Phase.INTRODUCING:
                line = "ready"
            elif state is None:
                line = f"setup {setups[color]}"
            else:
                line = f"move {random.choice(_legal(state)) if state.ply < MOST_PLIES else RESIGN}"
            referee.receive(color, f"{line}\n".encode(), 0.0)
    return referee


def check_secrets(
    game: Game,
    reveals: Callable[[State, str], bool] = lambda state, action: False,
    seeds: Sequence[int] = SEEDS,
    variants: Sequence[str] = (),
    seats: Sequence[Color] = tuple(Color),
) -> None:
    """Check by twins that a seat is not told what it may not know.

    Twins are two games that a seat cannot tell apart and that differ in what the other seat knows: from the beginning,
    or by an action of the other seat that is not told. The same actions are played in both. `reveals` says whether an
    action is one after which the rules show something hidden; until then the seat must get the same lines, texts and
    pictures. In a game without set-ups it also has to be True for an action after which chance decides: twins then have
    different seeds.

    Raises `AssertionError` also if one of these `seats` has no twins with any seed: nothing is hidden from it.
    """
    for seat in Color:
        found = 0
        for variant, seed in _beginnings(game, seeds, variants):
            for one, other in (*twins(game, variant, seat, seed), *_twins_by_action(game, variant, seat, seed)):
                _check_alike(one, other, seat, reveals, Random(seed))
                found += 1
        assert found or seat not in seats, (
            f"{game.name}: no two games that {seat.word} cannot tell apart: is anything hidden from it? If it may know "
            "all, name the other seat in `seats`"
        )


def twins(game: Game, variant: Variant, seat: Color, seed: int) -> Iterator[tuple[State, State]]:
    """Yield a pair of games with the same first lines for a seat, and another set-up or lines for its opponent.

    In a game with set-ups both have the same seed.
    """
    setups = _setups(game, variant, seed)
    one = game.start(variant, seed, setups)
    for number in range(seed + 1, seed + TWINS_TRIED):
        changed = _setups(game, variant, number)
        red, blue = (setups[color] if color is seat else changed[color] for color in Color)
        other = game.start(variant, seed if game.has_setups else number, (red, blue))
        if tuple(other.first_lines(seat)) == tuple(one.first_lines(seat)) and (
            (red, blue) != setups or tuple(other.first_lines(seat.opponent)) != tuple(one.first_lines(seat.opponent))
        ):
            yield one, other
            return


def _twins_by_action(game: Game, variant: Variant, seat: Color, seed: int) -> Iterator[tuple[State, State]]:
    """Yield pairs of games that differ in the last action, of which the seat was not told."""
    if not game.hides_actions:
        return
    state, random = begin(game, variant, seed), Random(seed)
    while state.outcome is None and state.ply < MOST_PLIES:
        legal = _legal(state)
        if state.to_move is not seat and len(legal) > 1:
            one, other = state.copy(), state.copy()
            told, told_other = (
                twin.play(action) for twin, action in zip((one, other), random.sample(legal, 2), strict=True)
            )
            if told[seat] == told_other[seat] and one.outcome is other.outcome is None:
                yield one, other
        state.play(random.choice(legal))


def _check_alike(one: State, other: State, seat: Color, reveals: Callable[[State, str], bool], random: Random) -> None:
    while True:
        for what, seen in SEEN.items():
            assert seen(one, seat) == seen(other, seat), f"ply {one.ply}: {what} tells {seat.word} what is hidden"
        if one.outcome is not None or one.ply >= MOST_PLIES:
            return
        there = set(_legal(other))
        both = [action for action in _legal(one) if action in there]
        if one.to_move is seat:
            assert set(_legal(one)) == there, f"ply {one.ply}: the legal actions tell {seat.word} what is hidden"
        if not both:
            return
        action = random.choice(both)
        if reveals(one, action) or reveals(other, action):
            return
        told, told_other = one.play(action), other.play(action)
        assert told[seat] == told_other[seat], (
            f"ply {one.ply} ({action}): {seat.word} is told what is hidden: {told[seat]} or {told_other[seat]}. "
            "If chance decides it, `reveals` has to be True for this action."
        )


SEEN: dict[str, Callable[[State, Color], object]] = {
    "first_lines": lambda state, seat: tuple(state.first_lines(None)) if state.ply == 0 else (),
    "board_line": lambda state, seat: state.board_line(seat),
    "text": lambda state, seat: state.text(seat),
    "svg": lambda state, seat: state.svg(seat),
    "to_move": lambda state, seat: state.to_move,
    "outcome": lambda state, seat: state.outcome,
}
"""The parts of a position that a seat may see, by their name in messages."""


# --- random games -----------------------------------------------------------------------------------------------------


def begin(game: Game, variant: Variant, seed: int) -> State:
    """Return a new game with this seed of chance, and with random set-ups if the game has set-ups."""
    return game.start(variant, seed, _setups(game, variant, seed))


def played(state: State, random: Random, all_legal: bool = False) -> Iterator[tuple[str, Told]]:
    """Play random legal actions to the end; yield each with what was told, or before it all that were legal."""
    while state.outcome is None and state.ply < MOST_PLIES:
        legal = _legal(state)
        if all_legal:
            yield from ((action, ((), ())) for action in legal)
        action = random.choice(legal)
        try:
            told = state.play(action)
        except IllegalAnswerError as error:
            raise AssertionError(f"{action} is legal, but was refused: {error}") from None
        yield action, told


def _beginnings(game: Game, seeds: Sequence[int], variants: Sequence[str]) -> Iterator[tuple[Variant, int]]:
    add_game(game)
    for name in variants or game.variant_names():
        yield from ((game.variant(name), seed) for seed in seeds)


def _setups(game: Game, variant: Variant, seed: int) -> tuple[str, str]:
    if not game.has_setups:
        return "", ""
    red, blue = (game.random_setup(variant, color, 2 * seed + color) for color in Color)
    for color, setup in zip(Color, (red, blue), strict=True):
        game.check_setup_form(setup)
        game.check_setup(variant, color, setup)
    return red, blue


def _legal(state: State) -> Sequence[str]:
    legal = state.legal_actions()
    assert legal is not None, "these checks need legal_actions"
    return legal


def _is_accepted(game: Game, state: State, action: str) -> bool:
    """Play an action; whether it has the form of one, and was legal."""
    try:
        game.check_move_form(action)
        state.play(action)
    except (RemoteProtocolError, IllegalAnswerError):
        return False
    return True


def _check_line(line: str, where: str, verbs: frozenset[str] = CONVERSATION) -> None:
    assert is_line(line), f"{where}: expected up to {MAX_BOT_LINE} printable ASCII characters, got {line!a:.200}"
    assert line.split() == line.split(" "), f"{where}: expected fields with single spaces between, got {line!r}"
    assert not line.startswith("#"), f"{where}: bots ignore lines that start with #, such as {line!r}"
    assert line.split(" ", maxsplit=1)[0] not in verbs, f"{where}: the arena's own lines begin as {line!r}"
