"""The house has floors, and imports only go down. Read from the source, so that no import hides in a function."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"protocol", "arena.errors", "arena.version", "arena.system", "arena.report.layout"}),
    frozenset({"arena.game"}),
    frozenset({"arena.stratego.rules"}),
    frozenset({"arena.stratego.search"}),
    frozenset({"arena.search"}),
    frozenset({"arena.stratego"}),
    frozenset({"arena.bots"}),
    frozenset({"arena.sandbox"}),
    frozenset(
        {
            "arena.bots.usage",
            "arena.bots.arrivals",
            "arena.bots.pipes",
            "arena.bots.process",
            "arena.bots.trial",
            "arena.bots.runnable",
            "arena.bots.starting",
        }
    )
    | frozenset({"arena.bots.build", "arena.bots.build_copy", "arena.bots.build_sandbox", "arena.bots.folders"}),
    frozenset({"arena.play", "arena.stratego.seat_state"}),
    frozenset({"arena.league.ratings"}),
    frozenset({"arena.league.store"}),
    frozenset({"arena.league.executor"}),
    frozenset({"arena.league"}),
    frozenset({"arena.check"}),
    frozenset({"arena.report", "arena.stratego.shown.shown_board", "arena.stratego.shown.seat_text"}),
    frozenset({"arena.report.site"}),
    frozenset({"arena.web", "arena.stratego.board_page", "arena.stratego.watched_board"}),
    frozenset({"arena.cli", "arena.api", "arena.__main__", "arena.stratego.library", "arena.stratego.board_terminal"}),
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


def imports(path: Path) -> set[str]:
    """All that a file imports, anywhere in it. `from a import b` counts as `a.b` where that is a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they go"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else str(node.module))
    return names


def floor(module: str) -> int:
    """The floor that a module is on."""
    found = [
        (len(name), level)
        for level, names in enumerate(FLOORS)
        for name in names
        if module == name or (module.startswith(name + ".") and name != "arena")
    ]
    if found:
        return max(found)[1]
    raise AssertionError(f"{module} is on no floor: add it to FLOORS")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_nothing_from_a_floor_above(module: str) -> None:
    ours = {name for name in imports(MODULES[module]) if name in MODULES}
    above = [name for name in ours if floor(name) > floor(module)]
    assert not above


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: {other for other in imports(path) if other in MODULES} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("module", [name for name in sorted(MODULES) if name.startswith("protocol")])
def test_the_protocol_package_needs_nothing_but_the_standard_library(module: str) -> None:
    outside = {name.split(".")[0] for name in imports(MODULES[module])} - {"protocol"}
    assert outside <= sys.stdlib_module_names


RULES = [name for name in sorted(MODULES) if name.startswith("arena.stratego.rules")]
RULESET_FILES = {"arena.stratego.rules.rulesets", "arena.stratego.rules.ruleset_file"}
"""What reads the files of rulesets, and is no part of the engine."""


@pytest.mark.parametrize("module", RULES)
def test_the_rules_know_only_notation_and_messages_and_how_files_are_read(module: str) -> None:
    ours = {
        name for name in imports(MODULES[module]) if name in MODULES and not name.startswith("arena.stratego.rules")
    }
    engine = {"protocol.notation", "protocol.geometry", "protocol.seats", "protocol.messages", "arena.errors"}
    files = {"arena.system.printable", "arena.system.user_files", "arena.system.schema"}
    assert ours <= (engine | files if module in RULESET_FILES else engine)


@pytest.mark.parametrize("module", RULES)
def test_the_engine_needs_nothing_but_the_standard_library(module: str) -> None:
    outside = {name.split(".")[0] for name in imports(MODULES[module])} - {"arena", "protocol"}
    assert outside <= sys.stdlib_module_names | ({"msgspec"} if module in RULESET_FILES else set())


@pytest.mark.parametrize("module", sorted(set(RULES) - RULESET_FILES))
def test_the_engine_knows_nothing_of_the_files_of_rulesets(module: str) -> None:
    assert not imports(MODULES[module]) & RULESET_FILES


STRATEGO = ("arena.stratego", "arena.search", "bots")
"""Where Stratego may be known, besides the protocol, in which bots find it."""
OF_STRATEGO = {
    *("protocol.notation", "protocol.view", "protocol.geometry", "protocol.actions"),
    *("protocol.ucc2012", "protocol.bot", "protocol.bot_codec"),
    *(f"protocol.messages.{name}" for name in ("Enemy", "BoardLine", "Moved", "Battle", "Reveal", "Rescued", "Guess")),
}
"""What the protocol has for Stratego alone."""


def names_stratego(path: Path) -> bool:
    """Whether a file imports anything of Stratego."""
    names = imports(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return any(name in OF_STRATEGO or name.split(".")[:2] == ["arena", "stratego"] for name in names)


def test_only_the_room_of_stratego_knows_stratego() -> None:
    others = [name for name in MODULES if not name.startswith(STRATEGO) and name.split(".")[0] != "protocol"]
    others.remove("arena")  # it looks the names of the library up
    assert [name for name in others if names_stratego(MODULES[name])] == []


SEARCH = [name for name in sorted(MODULES) if name.startswith(("arena.search", "arena.stratego.search"))]


@pytest.mark.parametrize("module", SEARCH)
def test_what_bots_search_with_needs_nothing_but_the_standard_library_and_no_files(module: str) -> None:
    names = imports(MODULES[module])
    assert {name.split(".")[0] for name in names} - {"arena", "protocol"} <= sys.stdlib_module_names
    assert not names & RULESET_FILES


@pytest.mark.parametrize(
    "module", [name for name in sorted(MODULES) if name.startswith(PURE) and not name.startswith(IMPURE)]
)
def test_the_pure_floors_touch_no_clock_no_process_and_no_file(module: str) -> None:
    assert not {name.split(".")[0] for name in imports(MODULES[module])} & IMPURE_IMPORTS


@pytest.mark.parametrize("module", [name for name in sorted(MODULES) if name.startswith("arena.league")])
def test_the_league_knows_no_terminal_and_no_command(module: str) -> None:
    names = {name.split(".")[0] for name in imports(MODULES[module])}
    assert not names & {"rich", "click"}
    calls = [node for node in ast.walk(ast.parse(MODULES[module].read_text())) if isinstance(node, ast.Call)]
    assert "print" not in {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def test_every_top_level_package_of_the_house_is_on_a_floor() -> None:
    assert {floor(module) for module in MODULES} == set(range(len(FLOORS)))
