"""The reference of environments has the planes and facts as they are, and each of its examples runs alone."""

import re
from itertools import groupby
from pathlib import Path

import needs_learn  # noqa: F401  (before all that needs it)
import pytest

from arena.learn.observation import FACTS, PLANES, Described
from protocol.notation import Rank

PAGE = (Path(__file__).parents[3] / "docs" / "learning-reference.md").read_text()
RANKS = "|".join(rank.name.lower() for rank in Rank)
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def shortened(described: Described) -> tuple[str, str, str]:
    """A row of the page: those that differ in rank or age alone share one."""
    name = re.sub(rf"-({RANKS})$", "-RANK", described.name)
    return (
        re.sub(r"-\d$", "-K", name),
        re.sub(rf"\b({RANKS})$|\b({RANKS})\b", "RANK", described.meaning),
        described.source,
    )


def table(all_described: tuple[Described, ...]) -> list[str]:
    lines, first = [], 0
    for (name, meaning, source), group in groupby(all_described, shortened):
        count = len(list(group))
        numbers = str(first) if count == 1 else f"{first} to {first + count - 1}"
        lines.append(f"| {numbers} | `{name}` | {meaning} | {source} |")
        first += count
    return lines


@pytest.mark.parametrize("described", [PLANES, FACTS], ids=["planes", "facts"])
def test_the_page_has_the_table(described: tuple[Described, ...]) -> None:
    assert "\n".join(table(described)) in PAGE


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_alone(example: str) -> None:
    if "pyspiel" in example:
        pytest.importorskip("pyspiel", reason="needs open_spiel (pip install '.[openspiel]')")
    exec(compile(example, "example", "exec"), {"__name__": "example"})
