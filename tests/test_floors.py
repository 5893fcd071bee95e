"""The house has floors, and imports only go down. Read from the source, so that no import hides in a function."""

import ast
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"protocol", "arena.errors", "arena.version", "arena.system"}),
    frozenset({"arena.game"}),
    frozenset({"arena.stratego.rules"}),
    frozenset({"arena.stratego.search"}),
    frozenset({"arena.search"}),
    frozenset({"arena.stratego"}),
    frozenset({"arena.learn"}),
    frozenset({"arena.bots"}),
    frozenset({"arena.sandbox"}),
    frozenset({"arena.processes"}),
    frozenset({"arena.play", "arena.stratego.seat_state"}),
    frozenset({"arena.league.ratings"}),
    frozenset({"arena.league.store"}),
    frozenset({"arena.league.executor"}),
    frozenset({"arena.league"}),
    frozenset({"arena.check"}),
    frozenset({"arena.report", "arena.stratego.shown.shown_board"}),
    frozenset({"arena.report.site"}),
    frozenset({"arena.web", "arena.stratego.board_page"}),
    frozenset({"arena.host"}),
    frozenset({"arena.cli", "arena.api", "arena.__main__", "arena.stratego.library", "arena.stratego.board_terminal"})
    | frozenset({"arena.learn.records", "arena.learn.gym_env", "arena.learn.league"}),
    frozenset({"arena"}),
    frozenset({"arena.pytest_plugin"}),
)
"""From the ground up: rooms, and the folders and modules of a room that are on a floor of their own. `arena` itself is
the roof: nothing imports it but programs of users."""

PURE = (
    "arena.errors",
    "arena.system.printable",
    "arena.system.schema",
    "arena.stratego",
    "arena.search",
    "arena.game",
    "arena.league.ratings",
)
IMPURE = ("arena.game.registry", "arena.stratego.library")
"""What reads the files that define games, and what talks to bots."""
IMPURE_IMPORTS = {"trio", "subprocess", "socket", "time", "os", "sqlite3", "threading", "signal"}


TEMPLATES = ("arena", "templates")
"""Data: what `arena new` writes, Python or not."""


def modules() -> dict[str, Path]:
    """All modules of the two packages by name."""
    found = {}
    for package in ("arena", "protocol"):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[:2] == TEMPLATES:
                continue
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> frozenset[str]:
    """All that a file imports, anywhere in it. `from a import b` counts as `a.b` where that is a module."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they go"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else str(node.module))
    return frozenset(names)


def floor(module: str) -> int:
    found = [
        (len(name), level)
        for level, names in enumerate(FLOORS)
        for name in names
        if module == name or (module.startswith(name + ".") and name != "arena")
    ]
    if found:
        return max(found)[1]
    raise AssertionError(f"{module} is on no floor: add it to FLOORS")


def outside(modules: Iterable[str], ours: set[str]) -> set[str]:
    return {name.split(".")[0] for module in modules for name in imports(MODULES[module])} - ours


def test_a_module_imports_nothing_from_a_floor_above() -> None:
    above = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        for name in imports(path)
        if name in MODULES and floor(name) > floor(module)
    ]
    assert not above


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: {other for other in imports(path) if other in MODULES} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_the_protocol_package_needs_nothing_but_the_standard_library() -> None:
    modules = [name for name in MODULES if name.startswith("protocol")]
    assert outside(modules, {"protocol"}) <= sys.stdlib_module_names


RULES = {name for name in MODULES if name.startswith("arena.stratego.rules")}
RULESET_FILES = {"arena.stratego.rules.rulesets", "arena.stratego.rules.ruleset_file"}
"""What reads the files of rulesets, and is no part of the engine."""
ENGINE = RULES - RULESET_FILES


def test_the_rules_know_only_notation_and_messages_and_how_files_are_read() -> None:
    engine = {"protocol.notation", "protocol.geometry", "protocol.seats", "protocol.messages", "arena.errors"}
    files = {"arena.system.printable", "arena.system.user_files", "arena.system.schema"}
    for modules, known in ((ENGINE, engine), (RULESET_FILES, engine | files)):
        assert {name for module in modules for name in imports(MODULES[module]) if name in MODULES} <= known | RULES


def test_the_engine_needs_nothing_but_the_standard_library_and_knows_no_files_of_rulesets() -> None:
    assert outside(ENGINE, {"arena", "protocol"}) <= sys.stdlib_module_names
    assert outside(RULESET_FILES, {"arena", "protocol", "msgspec"}) <= sys.stdlib_module_names
    assert not [module for module in ENGINE if imports(MODULES[module]) & RULESET_FILES]


STRATEGO = ("arena.stratego", "arena.search", "arena.learn", "bots")
"""Where Stratego may be known, besides the protocol, in which bots find it."""
OF_STRATEGO = {
    *("protocol.notation", "protocol.view", "protocol.geometry", "protocol.actions"),
    *("protocol.ucc2012", "protocol.bot", "protocol.bot_codec"),
    *(f"protocol.messages.{name}" for name in ("Enemy", "BoardLine", "Moved", "Battle", "Reveal", "Rescued", "Guess")),
}
"""What the protocol has for Stratego alone."""


def names_stratego(path: Path) -> bool:
    """Whether a file imports anything of Stratego."""
    names = set(imports(path))
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return any(name in OF_STRATEGO or name.split(".")[:2] == ["arena", "stratego"] for name in names)


def test_only_the_room_of_stratego_knows_stratego() -> None:
    others = [name for name in MODULES if not name.startswith(STRATEGO) and name.split(".")[0] != "protocol"]
    others.remove("arena")  # it looks the names of the library up
    assert [name for name in others if names_stratego(MODULES[name])] == []


def test_what_bots_search_with_needs_nothing_but_the_standard_library_and_no_files() -> None:
    search = [name for name in MODULES if name.startswith(("arena.search", "arena.stratego.search"))]
    assert outside(search, {"arena", "protocol"}) <= sys.stdlib_module_names
    assert not [module for module in search if imports(MODULES[module]) & RULESET_FILES]


LEARN = [name for name in MODULES if name.startswith("arena.learn")]
FOR_LEARNING = {"numpy", "numba", "gymnasium", "pettingzoo", "pyspiel"}


def test_what_programs_learn_with_is_imported_by_nothing_else() -> None:
    others = set(MODULES) - set(LEARN)
    assert not [name for name in others if any(other in LEARN for other in imports(MODULES[name]))]
    assert not outside(others, set()) & (FOR_LEARNING - {"numpy"})
    assert outside(LEARN, {"arena", "protocol"}) <= sys.stdlib_module_names | FOR_LEARNING | {"trio"}


def test_the_pure_floors_touch_no_clock_no_process_and_no_file() -> None:
    pure = [name for name in MODULES if name.startswith(PURE) and not name.startswith(IMPURE)]
    assert not outside(pure, set()) & IMPURE_IMPORTS


def test_the_league_knows_no_terminal_and_no_command() -> None:
    league = [name for name in MODULES if name.startswith("arena.league")]
    assert not outside(league, set()) & {"rich", "click"}
    calls = [node for name in league for node in ast.walk(parsed(MODULES[name])) if isinstance(node, ast.Call)]
    assert "print" not in {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def test_every_top_level_package_of_the_house_is_on_a_floor() -> None:
    assert {floor(module) for module in MODULES} == set(range(len(FLOORS)))
