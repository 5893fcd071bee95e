"""All armies that an opponent's hidden pieces can be, and how to draw one of them.

An army gives each hidden piece a rank: pieces with the same set of possible ranks form a group, and ranks that the same
groups may have form a class. The number of pieces of a group in each class is drawn first, from exact counts (dynamic
programming over the groups, the most restricted first; classes that no later group distinguishes become one, which
keeps the states few); then pieces and ranks are shuffled. So a draw is exactly uniform without rejection, except for
the rare `Condition`s that join several pieces.
"""

from bisect import bisect
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate
from math import comb, factorial, prod
from random import Random
from typing import NamedTuple, Protocol

from arena.errors import ArenaError
from protocol.notation import Rank

Army = tuple[Rank, ...]
"""The rank of each hidden piece, in the order of the pieces."""

Groups = tuple[tuple[frozenset[Rank], int], ...]
"""Sets of possible ranks, each with the number of pieces that have it."""


class NoArmyError(ArenaError):
    """No army is consistent with the request."""


class Condition(Protocol):
    """A condition on the ranks of several hidden pieces together."""

    def holds(self, army: Sequence[Rank]) -> bool: ...


class Choice(NamedTuple):
    taken: tuple[int, ...]
    ways: int
    left: tuple[int, ...]


class Counts:
    """Counts the ways to hand out tokens, one for each piece of each rank, to groups of pieces.

    `groups` come in the order in which they take; `left` counts the tokens of each rank. Tokens are distinguishable,
    the pieces of a group are not.
    """

    def __init__(self, groups: Groups, left: Mapping[Rank, int]) -> None:
        self.groups = groups
        present = [rank for rank, count in left.items() if count]
        marks = {rank: tuple(rank in ranks for ranks, _ in groups) for rank in present}
        self.members: list[list[list[Rank]]] = []
        """By step and class: the ranks that later groups do not distinguish."""
        self.open: list[list[bool]] = []
        """By step and class: whether the group may take of it."""
        self.becomes: list[list[int]] = []
        """By step and class: its class in the next step."""
        for step in range(len(groups) + 1):
            classes: dict[tuple[bool, ...], list[Rank]] = {}
            for rank in present:
                classes.setdefault(marks[rank][step:], []).append(rank)
            order = list(classes)
            self.members.append(list(classes.values()))
            self.open.append([mark[0] for mark in order if mark])
            if step:
                self.becomes.append([order.index(marks[ranks[0]][step:]) for ranks in self.members[step - 1]])
        self.start = tuple(sum(left[rank] for rank in ranks) for ranks in self.members[0])
        self._choices: dict[tuple[int, tuple[int, ...]], tuple[int, list[Choice]]] = {}

    @cached_property
    def ways(self) -> int:
        return self.choices(0, self.start)[0]

    def choices(self, step: int, caps: tuple[int, ...]) -> tuple[int, list[Choice]]:
        """Return the number of ways to take all remaining tokens, and the choices of this step's group."""
        found = self._choices.get((step, caps))
        if found is None:
            found = self._choices[step, caps] = self._find(step, caps)
        return found

    def _find(self, step: int, caps: tuple[int, ...]) -> tuple[int, list[Choice]]:
        if step == len(self.groups):
            return (0 if any(caps) else 1), []
        becomes, after = self.becomes[step], len(self.members[step + 1])
        found = []
        most = [cap if is_open else 0 for cap, is_open in zip(caps, self.open[step], strict=True)]
        for taken in _allotments(self.groups[step][1], most):
            left = [0] * after
            for index, cap, count in zip(becomes, caps, taken, strict=True):
                left[index] += cap - count
            ways = self.choices(step + 1, tuple(left))[0]
            if ways:
                ways *= prod(map(comb, caps, taken))
                found.append(Choice(taken, ways, tuple(left)))
        return sum(choice.ways for choice in found), found


def _allotments(total: int, caps: list[int]) -> list[tuple[int, ...]]:
    if not caps:
        return [()] if total == 0 else []
    rest = sum(caps[1:])
    return [
        (first, *others)
        for first in range(max(0, total - rest), min(total, caps[0]) + 1)
        for others in _allotments(total - first, caps[1:])
    ]


class Armies:
    """All armies for hidden pieces that each have one of a set of ranks, and together the ranks that are left.

    `possible` has the set of each piece, `left` how many pieces there are of each rank. `conditions` must hold, too.
    Raises `NoArmyError` if there is no such army, conditions aside.
    """

    def __init__(
        self, possible: Sequence[Set[Rank]], left: Mapping[Rank, int], conditions: Sequence[Condition] = ()
    ) -> None:
        self.possible = tuple(map(frozenset, possible))
        self.left = {rank: count for rank, count in left.items() if count > 0}
        self.conditions = tuple(conditions)
        places: dict[frozenset[Rank], list[int]] = {}
        for place, ranks in enumerate(self.possible):
            places.setdefault(ranks.intersection(self.left), []).append(place)
        order = sorted(places, key=lambda ranks: sum(self.left[rank] for rank in ranks))
        self._places = [places[ranks] for ranks in order]
        self._groups: Groups = tuple((ranks, len(places[ranks])) for ranks in order)
        self._counts = Counts(self._groups, self.left)
        if not self._counts.ways:
            counts = " ".join(f"{rank.letter}:{count}" for rank, count in sorted(self.left.items()))
            raise NoArmyError(
                f"expected {len(self.possible)} hidden pieces that can be the ranks left, got {counts or 'none'} "
                f"for pieces that can be {' '.join(map(_letters, self.possible)) or 'nothing'}"
            )
        self._bags = [[rank for rank in ranks for _ in range(self.left[rank])] for ranks in self._counts.members[0]]
        self._steps: dict[tuple[int, tuple[int, ...]], tuple[list[float], list[Choice]]] = {}

    @cached_property
    def count(self) -> int:
        """The number of armies, without regard to the conditions."""
        orders = prod(factorial(size) for _, size in self._groups)
        return self._counts.ways * orders // prod(map(factorial, self.left.values()))

    @cached_property
    def chances(self) -> tuple[dict[Rank, float], ...]:
        """By piece: the share of all armies in which it has each rank, without regard to the conditions."""
        of_group = [self._chances(number) for number in range(len(self._groups))]
        found: list[dict[Rank, float]] = [{} for _ in self.possible]
        for places, chances in zip(self._places, of_group, strict=True):
            for place in places:
                found[place] = dict(chances)
        return tuple(found)

    def _chances(self, number: int) -> dict[Rank, float]:
        """Return the chances of each piece of a group: counts with one token given to one of its pieces, over all
        counts.
        """
        ranks, size = self._groups[number]
        others = (*self._groups[:number], (ranks, size - 1), *self._groups[number + 1 :])
        found = {}
        for rank in sorted(ranks):
            left = {**self.left, rank: self.left[rank] - 1}
            ways = Counts(others, left).ways
            if ways:
                found[rank] = self.left[rank] * ways / (self._counts.ways * size)
        return found

    def sample(self, random: Random) -> Army:
        """Draw one of all consistent armies, uniformly."""
        army = self._draw(random)
        while self.conditions and not self.holds(army):
            army = self._draw(random)
        return tuple(army)

    def holds(self, army: Sequence[Rank]) -> bool:
        return all(condition.holds(army) for condition in self.conditions)

    def _draw(self, random: Random) -> list[Rank]:
        army: list[Rank] = [Rank.FLAG] * len(self.possible)
        number = random.random
        bags = [bag[:] for bag in self._bags]
        caps = self._counts.start
        for step, places in enumerate(self._places):
            choice = self._choice(step, caps, random)
            drawn = _take(bags, choice.taken, random)
            if len(drawn) > 1:
                drawn.sort(key=lambda _: number())  # a third of what Random.shuffle takes
            for place, rank in zip(places, drawn, strict=True):
                army[place] = rank
            caps = choice.left
            if len(caps) < len(bags):
                bags = _joined(bags, self._counts.becomes[step], len(caps))
        return army

    def _choice(self, step: int, caps: tuple[int, ...], random: Random) -> Choice:
        found = self._steps.get((step, caps))
        if found is None:
            ways, choices = self._counts.choices(step, caps)
            found = self._steps[step, caps] = ([at / ways for at in accumulate(c.ways for c in choices)], choices)
        bounds, choices = found
        return choices[0] if len(choices) == 1 else choices[min(bisect(bounds, random.random()), len(choices) - 1)]


def _take(bags: list[list[Rank]], taken: tuple[int, ...], random: Random) -> list[Rank]:
    drawn: list[Rank] = []
    number = random.random
    for index, count in enumerate(taken):
        bag = bags[index]
        if count == len(bag):
            drawn += bag
            bags[index] = []
        elif count:
            bag.sort(key=lambda _: number())
            drawn += bag[:count]
            del bag[:count]
    return drawn


def _joined(bags: list[list[Rank]], becomes: list[int], count: int) -> list[list[Rank]]:
    joined: list[list[Rank]] = [[] for _ in range(count)]
    for bag, index in zip(bags, becomes, strict=True):
        joined[index] += bag
    return joined


def _letters(ranks: frozenset[Rank]) -> str:
    return "".join(rank.letter for rank in sorted(ranks)) or "-"
