"""What is told of the connection to a scheduler, and when workers can be heard of."""

from collections.abc import Sequence

import pytest

from arena.league.executor.cluster.link import Link
from arena.league.executor.cluster.messages import Connected, Disconnected, Mute, Speaks

HERE = Connected("tcp://s:1")


@pytest.mark.parametrize(
    ("told", "line", "is_reachable"),
    [
        ([HERE], "", True),
        ([Mute(57.0)], "the scheduler at s does not answer: it is waited for, at most 57 s", False),
        (
            [Mute(57.0, "refused\n")],
            r"the scheduler at s does not answer (refused\n): it is waited for, at most 57 s",
            False,
        ),
        ([Mute(57.0), HERE], "", True),
        ([HERE, Mute(57.0)], "the scheduler at s does not answer: it is waited for, at most 57 s", False),
        ([HERE, Mute(57.0), Speaks()], "the scheduler at s answers again", True),
        ([HERE, Disconnected(8.0)], "the scheduler at s is lost: for 8 s it is tried to reach it again", False),
        ([HERE, Mute(57.0), Disconnected(8.0), HERE], "the scheduler at s is there again", True),
    ],
)
def test_each_change_is_told_once(
    told: Sequence[Connected | Mute | Speaks | Disconnected], line: str, is_reachable: bool
) -> None:
    link = Link("s")
    assert [link.note(message) for message in told][-1] == line
    assert link.is_reachable is is_reachable
