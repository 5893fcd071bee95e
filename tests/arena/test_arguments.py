"""The arguments that a store keeps of its bots, as they are and as somebody may have written them."""

from pathlib import Path

from arena.league.store import BotNote, Store
from arena.league.store.document import decode_document


def test_a_store_keeps_the_arguments_of_those_who_play_or_have_played(tmp_path: Path) -> None:
    with Store(tmp_path / "l.sqlite", create=True) as store:
        assert store.kept().arguments == {}
        store.note_bots({"a": BotNote("", ("-x", "é")), "b": BotNote("")}, ())
        assert store.kept().arguments == {"a": ("-x", "é")}
        store.note_bots({"c": BotNote("", ("1",))}, ("a",))
        assert store.kept().arguments == {"a": ("-x", "é"), "c": ("1",)}
        store.note_bots({"d": BotNote("", ("x" * 100_000,))}, ("a",))
        assert store.kept().arguments == {"a": ("-x", "é")}, "that is too much"
        store.note_bots({}, ())
        assert store.kept().arguments == {}


def test_arguments_with_nul_are_none() -> None:
    document = decode_document(b'{"kept":{"arguments":{"a":["\\u0000"],"b":["x"]}}}')
    assert document is not None
    assert document.kept.arguments == {"b": ("x",)}
