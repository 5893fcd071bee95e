"""What the tests of the pages share: stores that nobody has played."""

from made_stores import MakeStore, make_store, play_game

__all__ = ["MakeStore", "make_store", "play_game"]
