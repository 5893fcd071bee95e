"""What the game promises to the arena: python3 -m unittest"""

import unittest

from game import GAME

from arena.game import State
from arena.game.promises import check_actions, check_records, check_same_seed, check_secrets, check_variants


def opens_the_cups(state: State, action: str) -> bool:
    """Whether the rules show something hidden after this action."""
    changed = state.copy()
    changed.play(action)
    return changed.outcome is not None


class TestPromises(unittest.TestCase):
    def test_the_same_seed_gives_the_same_game(self) -> None:
        check_same_seed(GAME())

    def test_legal_actions_are_accepted_and_others_refused(self) -> None:
        check_actions(GAME())

    def test_a_seat_is_told_nothing_of_the_others_cup(self) -> None:
        check_secrets(GAME(), opens_the_cups)  # delete this test if your game hides nothing

    def test_records_give_the_same_game_again(self) -> None:
        check_records(GAME())

    def test_variants_can_be_named_stored_and_read(self) -> None:
        check_variants(GAME())


if __name__ == "__main__":
    unittest.main()
