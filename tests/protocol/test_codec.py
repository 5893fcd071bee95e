"""The codec: what each side may write, what the other makes of it, and that nothing else ever comes out."""

import itertools
import re
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocol.actions import STRATEGO_FORMS, is_action
from protocol.bot_codec import decode_for_bot, encode_from_bot
from protocol.codec import decode_from_bot, encode_for_bot, legal_lines
from protocol.lines import MAX_BOT_LINE, LineBuffer, LocalProtocolError, RemoteProtocolError, excerpt
from protocol.messages import (
    Ability,
    ArenaMessage,
    Author,
    Battle,
    BoardLine,
    BotMessage,
    Cannot,
    Clock,
    End,
    Enemy,
    Error,
    GameLine,
    Guess,
    Hello,
    Legal,
    Move,
    Moved,
    Name,
    Note,
    Opponent,
    Quit,
    Ready,
    Rescued,
    Restore,
    Reveal,
    Rule,
    Seed,
    Setup,
    SetupRequest,
    Turn,
    Want,
    Wants,
)
from protocol.notation import RANK_LETTERS, SQUARES, Color, Rank, Reason, SeatResult, Survivor

ROWS = ("FB........", "..........", ".....2....", "S..3..M..9")

# --- what there can be on a line ----------------------------------------------------------------------------------

numbers = st.integers(0, 2**63 - 1)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200)
words = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
squares = st.sampled_from(SQUARES)
colors = st.sampled_from(Color)
ranks = st.sampled_from(Rank)
letters = st.sampled_from(RANK_LETTERS)
actions = st.one_of(
    st.just("resign"),
    st.builds("{}-{}".format, squares, squares),
    st.builds("{}-{}-{}".format, squares, squares, squares),
    st.builds("{}-{}+{}{}".format, squares, squares, letters, squares),
    st.builds("{}?{}{}".format, squares, squares, letters),
)

ARENA_MESSAGES: dict[type, st.SearchStrategy[ArenaMessage]] = {
    Hello: st.builds(Hello, numbers),
    GameLine: st.builds(GameLine, colors, words),
    Rule: st.builds(Rule, words, texts),
    Clock: st.builds(Clock, numbers, st.none() | numbers, st.none() | numbers, st.none() | numbers),
    Seed: st.builds(Seed, numbers),
    Opponent: st.builds(Opponent, texts),
    SetupRequest: st.just(SetupRequest()),
    Enemy: st.builds(Enemy, st.lists(squares, max_size=40).map(tuple)),
    BoardLine: st.builds(BoardLine, st.lists(words, min_size=100, max_size=100).map(tuple)),
    Legal: st.builds(Legal, st.lists(actions, max_size=200).map(tuple)),
    Turn: st.builds(Turn, *[numbers] * 3, st.none(), st.none()) | st.builds(Turn, *[numbers] * 5),
    Moved: st.builds(Moved, colors, actions),
    Battle: st.builds(Battle, squares, ranks, st.none() | ranks, st.sampled_from(Survivor)),
    Reveal: st.builds(Reveal, squares, ranks),
    Rescued: st.builds(Rescued, st.sampled_from(Color), squares, ranks),
    Guess: st.builds(Guess, squares, ranks, st.booleans()),
    Restore: st.builds(Restore, st.tuples(*[st.text("." + RANK_LETTERS, min_size=10, max_size=10)] * 4)),
    Error: st.builds(Error, texts),
    End: st.builds(End, st.sampled_from(SeatResult), st.sampled_from(Reason)),
    Quit: st.just(Quit()),
}
BOT_MESSAGES: dict[type, st.SearchStrategy[BotMessage]] = {
    Name: st.builds(Name, texts),
    Author: st.builds(Author, texts),
    Cannot: st.builds(Cannot, st.lists(st.sampled_from(Ability), min_size=1, max_size=2).map(tuple)),
    Wants: st.builds(Wants, st.lists(st.sampled_from(Want), min_size=1, max_size=3).map(tuple)),
    Ready: st.just(Ready()),
    Setup: st.builds(
        lambda row, other: Setup((row, other, other, row)),
        st.text(RANK_LETTERS + ".", min_size=10, max_size=10),
        st.text(RANK_LETTERS + ".", min_size=10, max_size=10),
    ),
    Move: st.builds(Move, actions),
    Note: st.builds(Note, texts),
}

verbs = st.sampled_from([b"name", b"author", b"want", b"ready", b"setup", b"move", b"note"])
arena_verbs = st.sampled_from(
    b"hello game rule clock seed setup restore enemy board legal turn moved battle reveal rescued guess".split()
    + b"error end quit".split()
)
field_bytes = st.sampled_from(
    b"a4-a5 a4 j10 resign red blue 2 M ? attacker 1 1000 -5 move bank setup win flag legal board \xe9 ~~ \x00".split(
        b" "
    )
)
ends = st.sampled_from([b"", b"\r", b"\n", b"\r\n"])


def nearly(verb: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Lines that look right at first."""
    fields = st.lists(field_bytes | st.binary(max_size=8), max_size=8)
    return st.builds(lambda head, tail, end: b" ".join([head, *tail]) + end, verb, fields, ends)


# --- there and back -----------------------------------------------------------------------------------------------


def test_there_is_a_strategy_for_every_message() -> None:
    assert set(ARENA_MESSAGES) == set(ArenaMessage.__args__)
    assert set(BOT_MESSAGES) == set(BotMessage.__args__)


@pytest.mark.parametrize("kind", ARENA_MESSAGES, ids=lambda kind: kind.__name__)
def test_every_message_of_the_arena_comes_back_as_it_was(kind: type) -> None:
    @settings(max_examples=30, deadline=None)
    @given(ARENA_MESSAGES[kind])
    def there_and_back(message: ArenaMessage) -> None:
        line = encode_for_bot(message)
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert repr(decode_for_bot(line)) == repr(message)
        assert repr(decode_for_bot(line[:-1] + b"\r\n")) == repr(message)
        if kind not in (Rule, Opponent, Enemy, Legal, Error):  # a bot ignores fields after those that it knows
            assert repr(decode_for_bot(line[:-1] + b" later 7\n")) == repr(message)

    there_and_back()


@pytest.mark.parametrize("kind", BOT_MESSAGES, ids=lambda kind: kind.__name__)
def test_every_message_of_a_bot_comes_back_as_it_was(kind: type) -> None:
    @settings(max_examples=30, deadline=None)
    @given(BOT_MESSAGES[kind])
    def there_and_back(message: BotMessage) -> None:
        line = encode_from_bot(message)
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        assert repr(decode_from_bot(line[:-1], STRATEGO_FORMS)) == repr(message)
        assert repr(decode_from_bot(line[:-1] + b"\r", STRATEGO_FORMS)) == repr(message)

    there_and_back()


# --- garbage ------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | nearly(verbs))
@example(b"")
@example(b" ")
@example(b"\r\r")
@example(b"move")
@example(b"move \xff")
@example(b"note " + b"x" * MAX_BOT_LINE)
@example(b"want " + b"x" * MAX_BOT_LINE)
def test_any_line_of_a_bot_parses_or_is_refused_in_words_that_can_be_sent_back(line: bytes) -> None:
    refusal = None
    try:
        message = decode_from_bot(line, STRATEGO_FORMS)
    except RemoteProtocolError as error:
        refusal = str(error)
    if refusal is None:
        assert message is None or type(message) in BOT_MESSAGES
    else:
        assert len(encode_for_bot(Error(refusal))) <= MAX_BOT_LINE


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | nearly(arena_verbs))
@example(b"")
@example(b"hello " + b"9" * 5000)
@example(b"hello \xc2\xb2")
@example(b"battle a1 2")
@example(b"turn 1 2")
@example(b"clock move 5")
@example(b"enemy a1 k1")
def test_any_line_of_an_arena_parses_is_passed_over_or_is_refused(line: bytes) -> None:
    try:
        message = decode_for_bot(line)
    except RemoteProtocolError:
        return
    assert message is None or type(message) in ARENA_MESSAGES


# --- lines out of a stream ----------------------------------------------------------------------------------------


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def feed(buffer: LineBuffer, chunks: Iterable[bytes], cap: int) -> tuple[list[bytes], bool]:
    """The lines that came out, and whether an overlong one ended it."""
    lines: list[bytes] = []
    refusal = ""
    for chunk in chunks:
        try:
            for line in buffer.feed(chunk):
                lines.append(line)  # noqa: PERF402  # those before an error count
        except RemoteProtocolError as error:
            refusal = str(error)
        assert len(buffer.partial) <= cap + 1
        if refusal:
            assert f"more than {cap} bytes" in refusal
            assert encode_for_bot(Error(refusal))
            break
    return lines, bool(refusal)


streams = st.lists(st.sampled_from([b"a", b"bb", b"\r", b"\n", b"\r\n", b"\xff", b"cccccccc"]), max_size=60).map(
    b"".join
)


@settings(max_examples=150, deadline=None)
@given(streams | st.binary(max_size=100), st.lists(st.integers(0, 10_000), max_size=12), st.integers(1, 16))
def test_the_lines_are_the_same_whatever_the_chunks(data: bytes, cuts: list[int], cap: int) -> None:
    parts = data.split(b"\n")
    overlong = [len(part.removesuffix(b"\r")) > cap for part in parts]
    lines, failed = feed(LineBuffer(cap), pieces(data, cuts), cap)
    assert failed == any(overlong)
    assert lines == (parts[: overlong.index(True)] if failed else parts[:-1])


def test_an_overlong_line_is_refused_before_it_ends() -> None:
    buffer = LineBuffer(10)
    assert list(buffer.feed(b"ready\n" + b"x" * 10)) == [b"ready"]
    assert buffer.partial == b"x" * 10
    with pytest.raises(RemoteProtocolError, match="a line of more than 10 bytes"):
        list(buffer.feed(b"x"))


# --- the arena's side: strict, and says what it expected -----------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"hello", "expected one of name, author, want, cannot, ready, setup, move, note, got 'hello'"),
        (b"move\ta4-a5", r"expected printable ASCII characters, got 'move\ta4-a5'"),
        (b"want", "expected 'want' and one or more of board, legal, got '' in 'want '"),
        (b"want legal  board", "expected 'want' and one or more of board, legal, got '' in 'want legal  board'"),
        (b"want legal tea", "expected 'want' and one or more of board, legal, got 'tea'"),
        (b"ready now", "expected 'ready' alone, got 'ready now'"),
        (b"ready ", "expected 'ready' alone, got 'ready '"),
        (b"move", "expected 'move' and one action such as a4-a5, got 'move '"),
        (b"move a4a5", "expected 'move' and one action such as a4-a5, got 'move a4a5'"),
        (b"move  a4-a5", "expected 'move' and one action such as a4-a5, got 'move  a4-a5'"),
        (
            b"setup F",
            "expected 'setup' and four rows of ten piece letters or dots, own back row first, separated by '/'",
        ),
        (b"setup " + b"/".join([b"." * 10] * 5), "expected 'setup' and four rows of ten"),
        (b"setup " + b"/".join([b"." * 11] * 4), "expected 'setup' and four rows of ten"),
        (b"setup " + b"/".join([b"........X."] * 4), "expected 'setup' and four rows of ten"),
        (b"setup " + b"/".join([b"........1."] * 4), "expected 'setup' and four rows of ten"),
    ],
)
def test_a_refusal_says_what_was_expected_and_what_came(line: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError, match=re.escape(words)):
        decode_from_bot(line, STRATEGO_FORMS)


def test_of_all_bytes_only_printable_ascii_may_be_on_a_line() -> None:
    accepted = set()
    for byte in range(256):
        try:
            decode_from_bot(b"note x" + bytes([byte]) + b"y", STRATEGO_FORMS)
        except RemoteProtocolError:
            continue
        accepted.add(byte)
    assert accepted == set(range(32, 127))


@pytest.mark.parametrize("line", [b"", b"\r", b"#", b"# a comment", b"#move a4-a5\r"])
def test_empty_lines_and_comments_of_a_bot_mean_nothing(line: bytes) -> None:
    assert decode_from_bot(line, STRATEGO_FORMS) is None


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a4-a5", True),
        ("resign", True),
        ("d2-d3-e3", True),
        ("a9-a10+8c2", True),
        ("e7?e9B", True),
        ("a11-a1", False),
        ("a4", False),
        ("a4-a5-a6-a7", False),
        ("a9-a10+1c2", False),
        ("a9-a10+8c2+8c3", False),
        ("a9-a9-a10+8c2", True),
        ("e7?e9B+8c2", False),
        ("e7?e9", False),
        ("resigns", False),
        ("a4-a5\n", False),
        ("", False),
    ],
)
def test_the_forms_of_an_action(text: str, is_one: bool) -> None:
    assert is_action(text) is is_one


def test_an_excerpt_is_short_quoted_and_escaped() -> None:
    assert excerpt(b"move a4") == "'move a4'"
    assert excerpt(b"\x00\xff\n") == r"'\x00\xff\n'"
    cut = excerpt(b"x" * 10_000)
    assert cut.startswith("'xxx")
    assert cut.endswith("x...'")
    assert len(cut) < 70


# --- the bot's side: lenient, so that the protocol can grow --------------------------------------------------------


@pytest.mark.parametrize(
    "line", [b"weather fine", b"", b"\n", b"\r\n", b"# hello 1", b"#hello 1", b"Hello 1", b" quit"]
)
def test_a_bot_passes_over_what_it_does_not_know(line: bytes) -> None:
    assert decode_for_bot(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"hello one",
        b"game green isf",
        b"rule",
        b"clock move 1000",
        b"clock setup soon",
        b"seed 1_000",
        b"enemy a1 a11",
        b"turn 1 1000 -1",
        b"turn 1 soon 1000 1000",
        b"board .. b?",
        b"moved a4-a5",
        b"battle a5 ? 5 attacker",
        b"battle k5 7 5 attacker",
        b"reveal e6",
        b"rescued red c2 1",
        b"guess e9 B maybe",
        b"guess B e9 right",
        b"restore F.........",
        b"restore F........./1........./........../..........",
        b"end win",
        b"end win FLAG",
    ],
)
def test_a_bot_refuses_a_known_verb_with_wrong_fields(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="cannot make sense of the line") as caught:
        decode_for_bot(line)
    assert line.decode() in str(caught.value)


# --- our own mistakes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["caf\u00e9", "two\nlines", "a\ttab", "end\r", "\x00", "\x7f"])
def test_the_arena_cannot_send_text_that_has_no_place_on_a_line(text: str) -> None:
    for message in (Error(text), Rule("army", text), GameLine(Color.RED, text), Moved(Color.RED, text)):
        with pytest.raises(LocalProtocolError):
            encode_for_bot(message)


@pytest.mark.parametrize(
    "message",
    [
        Name("caf\u00e9"),
        Author("two\nlines"),
        Note("end\r"),
        Note("a\ttab"),
        Note("x" * (MAX_BOT_LINE - 4)),
        Wants(()),
        Setup(ROWS[:3]),
        Setup(("F", *ROWS[1:])),
        Move(""),
        Move("a4a5"),
        Move("a4-a5\n"),
        Move("a4-a5 b4-b5"),
    ],
    ids=lambda message: ascii(repr(message))[:30],
)
def test_a_bot_cannot_send_what_would_be_refused(message: BotMessage) -> None:
    with pytest.raises(LocalProtocolError):
        encode_from_bot(message)


# --- the longest line of the arena --------------------------------------------------------------------------------


def test_the_arena_sends_no_line_that_is_longer_than_a_line_may_be() -> None:
    fits = Error("x" * (MAX_BOT_LINE - len("error ")))
    assert len(encode_for_bot(fits)) == MAX_BOT_LINE + 1
    with pytest.raises(LocalProtocolError, match="a line of 4097 bytes, expected at most 4096: 'error xx"):
        encode_for_bot(Error(fits.text + "x"))
    with pytest.raises(LocalProtocolError, match="expected at most 4096"):
        encode_for_bot(Legal(("a9-a10+8c2",) * 400))


@given(lengths=st.lists(st.integers(1, 40), max_size=600))
@example([4090])
@example([4090, 1])
@example([2045, 2044])
@example([2045, 2045])
@example([])
def test_a_list_of_actions_of_any_length_is_sent_in_as_few_lines_as_it_needs(lengths: list[int]) -> None:
    actions = tuple("x" * length for length in lengths)
    messages = list(legal_lines(actions))
    assert [action for message in messages for action in message.actions] == list(actions)
    lines = [encode_for_bot(message) for message in messages]
    assert all(message.actions for message in messages) or not actions
    for line, following in itertools.pairwise(zip(lines, messages, strict=True)):
        assert len(line[0]) + len(following[1].actions[0]) > MAX_BOT_LINE
