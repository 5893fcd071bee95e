"""How many random faults in the code the tests notice.

Each mutant is one small change (a comparison turned round, a constant moved by one, a condition negated, `and` for
`or`, a statement left out) in a random place of the given modules of a copy of this checkout. The given tests run with
it until one fails. What they do not notice is printed, to be read: some mutants change nothing that matters.

    python benchmarks/mutants.py --code arena/rules --tests tests/arena/rules --count 12
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
KILLED, SURVIVES = "killed", "SURVIVES"
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--code", nargs="+", required=True, help="modules or folders to change")
    parser.add_argument("--tests", nargs="+", required=True, help="what pytest is given")
    parser.add_argument("--count", type=int, default=12, help="mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=300, help="how long the tests of a mutant may take")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _clone(Path(folder))
        if _outcome(Path(folder), asked.tests, asked.seconds) != SURVIVES:
            sys.exit("expected tests that pass without a change in that time")
        outcomes = Counter[str]()
        for file, line, text in _chosen(Path(folder), asked.code, asked.count, asked.seed):
            before = file.read_text()
            file.write_text(text)
            outcome = _outcome(Path(folder), asked.tests, asked.seconds)
            file.write_text(before)
            outcomes[outcome] += 1
            place = f"{file.relative_to(folder)}:{line}"
            print(f"{outcome}: {place}: {before.splitlines()[line - 1].strip()}", flush=True)
        print(", ".join(f"{outcome}: {count}" for outcome, count in outcomes.most_common()), f"of {asked.count}")


def _clone(folder: Path) -> None:
    for name in ("arena", "protocol", "bots", "tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)


def _outcome(folder: Path, tests: list[str], seconds: int) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "2", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return KILLED if process.wait(seconds) else SURVIVES
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return "too slow"


def _chosen(folder: Path, code: list[str], count: int, seed: int) -> Iterator[tuple[Path, int, str]]:
    """Yield as many mutants: the file, the line of the change and the whole text."""
    files = [file for name in code for file in sorted((folder / name).rglob("*.py") or [])]
    files += [folder / name for name in code if name.endswith(".py")]
    places = [(file, number) for file in files for number in range(len(_sites(ast.parse(file.read_text()))))]
    for file, number in random.Random(seed).sample(places, count):
        tree = ast.parse(file.read_text())
        node = _sites(tree)[number]
        line = node.lineno
        _change(node)
        yield file, line, ast.unparse(ast.fix_missing_locations(tree))


def _sites(tree: ast.AST) -> list[ast.expr | ast.stmt]:
    """All nodes that `_change` can change, in a fixed order. Constants count only within functions."""
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found: dict[int, ast.expr | ast.stmt] = {}
    for node in (inner for body in bodies for statement in body.body for inner in ast.walk(statement)):
        is_number = isinstance(node, ast.Constant) and type(node.value) is int
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.BoolOp | ast.Compare) or is_number or is_call:
            found[id(node)] = node  # type: ignore[assignment]
    return list(found.values())


def _change(node: ast.expr | ast.stmt) -> None:
    match node:
        case ast.Compare():
            node.ops[0] = OPPOSITES[type(node.ops[0])]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Constant():
            node.value = node.value + 1  # type: ignore[operator]
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
        case ast.Expr():
            node.value = ast.Constant(None)


if __name__ == "__main__":
    main()
