"""Skips the tests of a module that imports this, unless all of the extra `learn` is there."""

import pytest

for name in ("numba", "gymnasium", "pettingzoo"):
    pytest.importorskip(name, reason=f"needs {name} (pip install '.[learn]')")
