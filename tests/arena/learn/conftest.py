import pytest
from compiled_kernel import compile_kernel


@pytest.fixture(scope="session", autouse=True)
def compiled_kernel() -> None:
    compile_kernel()
