"""Liar's Dice for two: hidden dice, bids, and calls of a lie. README.md has the rules and the protocol."""

from collections.abc import Iterator, Sequence
from random import Random

from arena.errors import IllegalAnswerError
from arena.game import Ending, Game, State, Told, Variant, moved, to_both
from protocol.seats import Color, Outcome, Reason

FACES = 6
LIAR = "liar"
NO_DICE = "no-dice"
VARIANTS = {"liars-dice": (5, "no"), "short": (2, "no"), "wild": (5, "yes")}
"""Dice of each seat, and whether ones count as any face, by variant."""
PIPS = {1: "4", 2: "08", 3: "048", 4: "0268", 5: "02468", 6: "023568"}
"""The pips of each face on a grid of 3 by 3, numbered by rows."""
SIDE, GAP = 44, 10
"""Sizes in the drawing."""
STYLE = """
text { font: 15px system-ui, sans-serif; fill: #222; } .faint { fill: #666; }
.red { fill: #c8372d; } .blue { fill: #2f62b0; } .pip { fill: #fff; } .hidden { opacity: .45; }
@media (prefers-color-scheme: dark) { text { fill: #e6e6e6; } .faint { fill: #a5a5a5; } }
"""


def numbers(dice: Sequence[int]) -> str:
    return " ".join(map(str, dice))


def bid_text(bid: tuple[int, int]) -> str:
    return f"{bid[0]}x{bid[1]}"


class Table(State):
    """The dice of both seats, and the bids of this round."""

    def __init__(self, random: Random, dice: int, ones_are_wild: bool) -> None:
        self._random = random
        self._ones_are_wild = ones_are_wild
        self._left = [dice, dice]
        self._last_round = ""
        self._roll()

    def _roll(self) -> None:
        self._bids: list[tuple[int, int]] = []
        self._dice = [sorted(self._random.randint(1, FACES) for _ in range(left)) for left in self._left]

    def first_lines(self, seat: Color | None) -> Sequence[str]:
        return () if seat is None else (self._dice_line(seat),)

    def _dice_line(self, seat: Color) -> str:
        return f"dice {numbers(self._dice[seat])}"

    def legal_actions(self) -> Sequence[str]:
        last = self._bids[-1] if self._bids else (0, 0)
        bids = [(count, face) for count in range(1, sum(self._left) + 1) for face in range(1, FACES + 1)]
        higher = [bid_text(bid) for bid in bids if bid > last]
        return [*higher, LIAR] if self._bids else higher

    def act(self, action: str) -> Told:
        if action not in self.legal_actions():
            expected = f"a bid above {bid_text(self._bids[-1])}, or {LIAR}" if self._bids else "a bid such as 1x6"
            raise IllegalAnswerError(f"{action}: expected {expected}, of at most {sum(self._left)} dice")
        mover = self.to_move
        if action == LIAR:
            return self._call(mover)
        count, face = action.split("x")
        self._bids.append((int(count), int(face)))
        self.to_move = mover.opponent
        return to_both(moved(mover, action))

    def _call(self, caller: Color) -> Told:
        """Show all dice, take one from the seat that was wrong, and begin the next round with it."""
        count, face = self._bids[-1]
        counted = {face, 1} if self._ones_are_wild else {face}
        there = sum(die in counted for dice in self._dice for die in dice)
        loser = caller if there >= count else caller.opponent
        lines = [moved(caller, LIAR)]
        lines += [f"shown {color.word} {numbers(self._dice[color])}" for color in Color]
        lines.append(f"lost {loser.word}")
        shown = " and ".join(numbers(dice) for dice in self._dice)
        self._last_round = f"Last round: {bid_text((count, face))} with {shown}; {loser.word} lost a die."
        self._left[loser] -= 1
        self.to_move = loser
        if not self._left[loser]:
            self.outcome = Outcome(loser.opponent, Reason(NO_DICE))
            self._bids, self._dice = [], [[], []]
            return to_both(*lines)
        self._roll()
        red, blue = ((*lines, self._dice_line(color)) for color in Color)
        return red, blue

    def _seen(self, seat: Color | None, of: Color) -> list[int | None]:
        """Return the dice of one seat as another knows them, None for a hidden one."""
        return [die if seat in (None, of) else None for die in self._dice[of]]

    def text(self, seat: Color | None) -> str:
        lines = [
            f"{color.word:4} {' '.join('?' if die is None else str(die) for die in self._seen(seat, color))}"
            for color in Color
        ]
        return "\n".join([*lines, f"bids {' '.join(map(bid_text, self._bids)) or 'none'}", self._last_round]).rstrip()

    def svg(self, seat: Color | None) -> str:
        parts = []
        for color in Color:
            top = GAP + color * (SIDE + 2 * GAP)
            parts.append(f'<text x="{GAP}" y="{top + 28}">{color.word.capitalize()}</text>')
            for place, die in enumerate(self._seen(seat, color)):
                parts += self._drawn_die(70 + place * (SIDE + GAP), top, color, die)
        bids = " ".join(map(bid_text, self._bids)) or "none in this round"
        parts.append(f'<text x="{GAP}" y="144">Bids: {bids}</text>')
        parts.append(f'<text class="faint" x="{GAP}" y="170">{self._last_round}</text>')
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 184" role="img" aria-label="Liar\'s Dice">'
            f"<style>{STYLE}</style>{''.join(parts)}</svg>"
        )

    @staticmethod
    def _drawn_die(x: int, y: int, color: Color, die: int | None) -> Iterator[str]:
        kind = f"{color.word} hidden" if die is None else color.word
        yield f'<rect class="{kind}" x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" rx="8"/>'
        for place in map(int, PIPS[die] if die else ""):
            across, down = x + SIDE // 2 + 12 * (place % 3 - 1), y + SIDE // 2 + 12 * (place // 3 - 1)
            yield f'<circle class="pip" cx="{across}" cy="{down}" r="4.5"/>'


class LiarsDice(Game):
    """See README.md."""

    name = "liars-dice"
    has_chance = True
    endings = {NO_DICE: Ending("has no dice left")}

    def variant_names(self) -> Sequence[str]:
        return tuple(VARIANTS)

    def rules_of(self, name: str) -> Sequence[tuple[str, str]]:
        dice, wild = VARIANTS[name]
        return ("dice", str(dice)), ("ones-are-wild", wild)

    def start(self, variant: Variant, seed: int, setups: tuple[str, str]) -> Table:
        rules = dict(variant.rules)
        return Table(Random(seed), int(rules["dice"]), rules["ones-are-wild"] == "yes")

    def public_lines(self, told: Told) -> Sequence[str]:
        """Return what both were told; their dice are not public if they happen to be the same."""
        return [line for line in super().public_lines(told) if not line.startswith("dice ")]

    def rules_in_words(self, variant: Variant) -> str:
        rules = dict(variant.rules)
        wild = "the face of the bid and ones" if rules["ones-are-wild"] == "yes" else "the face of the bid"
        return (
            f"Liar's Dice for two, with {rules['dice']} dice each. In each round both players roll their dice, and see "
            "only their own. They bid in turns: a bid says that among all dice at least so many show a face. Each bid "
            "must be of more dice than the one before, or of as many with a higher face. Instead of bidding a player "
            f"may call the last bid a lie. Then all dice are shown, and those with {wild} are counted. If there are at "
            "least as many as the bid said, the caller loses a die, else the bidder. The player who has lost a die "
            "bids first in the next round. A player without dice has lost the game. Red bids first in the first round."
        )


GAME = LiarsDice
