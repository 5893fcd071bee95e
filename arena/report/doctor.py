"""What `arena doctor` prints: the levels that work here, and a table of what each keeps a bot from."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.probe import Health
from arena.report.json import to_json


def health_report(health: Health) -> RenderableType:
    """The report for a terminal."""
    parts: list[RenderableType] = [
        Text(f"{health.system}, Python {health.python}, as {health.user}, {health.open_files} open files at most"),
        "",
    ]
    for trial in health.trials:
        state = "works" if trial.works else "does not work here"
        parts.append(Text.assemble("--sandbox ", (trial.level.value, "bold"), f": {state}"))
        remarks = [trial.reason] if trial.reason else [f"but {gap}" for gap in trial.gaps]
        parts += [Padding(Text(remark), (0, 0, 0, 4)) for remark in remarks]
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    grid.add_column("a bot tries to")
    levels = [level for level in Level if any(level in promise.by for promise in health.promises)]
    for level in levels:
        grid.add_column(level.value)
    for promise in health.promises:
        grid.add_row(Text(promise.what), *(Text(promise.by[level]) for level in levels))
    return Group(*parts, "", grid)


def health_json(health: Health) -> str:
    """The report as JSON."""
    return to_json(health)
