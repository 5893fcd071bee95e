"""Skips the tests of a module that imports this, unless OpenSpiel and numba are there."""

import pytest

for name in ("numba", "pyspiel"):
    pytest.importorskip(name, reason=f"needs {name} (pip install '.[openspiel]')")
