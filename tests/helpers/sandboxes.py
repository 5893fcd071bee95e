"""The levels of sandboxing that tests are run at: all of them, those that do not work here skipped with the reason."""

import pytest

from arena.sandbox.levels import Level


def _skipped_without(level: Level) -> pytest.MarkDecorator:
    reason = level.why_not()
    return pytest.mark.skipif(reason is not None, reason=f"{level.value}: {reason}")


LEVELS = [pytest.param(level, id=level.value, marks=_skipped_without(level)) for level in Level]
at_every_level = pytest.mark.parametrize("level", LEVELS)
in_bwrap = _skipped_without(Level.BWRAP)
