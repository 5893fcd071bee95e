"""Skips the tests of a module that imports this, unless numba is there."""

import pytest

pytest.importorskip("numba", reason="needs numba (pip install '.[learn]')")
