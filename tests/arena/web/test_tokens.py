"""Secrets in addresses."""

from arena.web.seat_page import Token


def test_a_token_matches_itself_alone_and_no_two_are_alike() -> None:
    token = Token.new()
    assert token.matches(token.text)
    assert not token.matches(token.text[:-1])
    assert not token.matches("")
    assert not token.matches("\udc80ü")
    assert len({Token.new().text for _ in range(100)}) == 100


def test_a_token_stands_in_no_traceback() -> None:
    token = Token.new()
    assert token.text not in repr(token)
