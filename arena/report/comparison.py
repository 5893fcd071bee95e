"""A sequential test as text and as JSON: its verdict, figures and progress."""

from pathlib import Path

from arena.league.compare import difference_of, games_left
from arena.league.pairing.sequential import SequentialState
from arena.league.ratings.sequential_test import Decision
from arena.report.standings import Difference, named_difference
from arena.report.terminal import difference_text
from arena.system.printable import counted, printable
from arena.system.terminal_text import to_json, to_line

Names = tuple[str, str]
PAIR_POINTS = ("0", "½", "1", "1½", "2")


def comparison_json(
    store: Path, settings: dict[str, str], names: Names, state: SequentialState, later: int, *, as_line: bool = False
) -> str:
    """Return a test as one JSON document, or as one line of the kind `comparison`. All counts are those of `new`."""
    tested = state.hypotheses
    document = {
        "store": printable(str(store)),
        "settings": settings,
        "new": names[0],
        "old": names[1],
        "verdict": state.decision,
        "elo0": tested.elo0,
        "elo1": tested.elo1,
        "alpha": tested.alpha,
        "beta": tested.beta,
        "llr": state.llr,
        "lower": tested.lower,
        "upper": tested.upper,
        "games": 2 * state.pairs,
        "most_games": 2 * state.budget,
        "pairs": state.counts,
        "wins": state.wins,
        "draws": state.draws,
        "losses": state.losses,
        "forfeits": dict(zip(names, state.forfeits, strict=True)),
        "void_pairs": state.void,
        "difference": _difference(names, state),
        "expected_games_left": games_left(state),
        "later_games": later,
    }
    return to_line({"kind": "comparison", **document}) if as_line else to_json(document)


def comparison_text(names: Names, state: SequentialState, later: int) -> str:
    new, _ = names
    lines = [verdict_text(names, state), _llr_text(state)]
    difference = _difference(names, state)
    if difference:
        points = ", ".join(f"{points}: {count}" for points, count in zip(PAIR_POINTS, state.counts, strict=True))
        lines += [
            difference_text(difference),
            f"Games of {new}: {state.wins} won, {state.draws} drawn, {state.losses} lost",
            f"Pairs by the points of {new}: {points}",
        ]
    if any(state.forfeits):
        lost = ", ".join(f"{name} {count}" for name, count in zip(names, state.forfeits, strict=True))
        lines.append(f"Forfeits: {lost}")
    if state.void:
        lines.append(f"Void pairs (both lost a game by a fault): {state.void}")
    if later:
        lines.append(f"Later games, excluded: {counted(later, 'game')}")
    return "\n".join(lines)


def verdict_text(names: Names, state: SequentialState) -> str:
    new, old = names
    games = f"after {counted(2 * state.pairs, 'game')}"
    if state.decision is Decision.UNDECIDED:
        if state.is_over and not state.pairs:
            return f"undecided: no pair counts; in each of the {state.over} both lost a game by a fault"
        if state.is_over:
            return (
                f"undecided {games}, and the game limit is reached; the same command with a larger --games plays more"
            )
        return f"undecided so far, {games}" + _left(state, "; ")
    is_accepted = state.decision is Decision.BETTER
    if state.hypotheses.elo1 > 0:
        verdict = "better" if is_accepted else "not better"
    else:
        verdict = "not worse" if is_accepted else "worse"
    one, other = (state.hypotheses.elo1, state.hypotheses.elo0)[:: 1 if is_accepted else -1]
    return f"{new} is {verdict} than {old}: decided {games}, for {_elo(one)} Elo against {_elo(other)}"


def note_text(state: SequentialState) -> str:
    bounds = f"{state.hypotheses.lower:+.2f}..{state.hypotheses.upper:+.2f}"
    return f", LLR {state.llr:+.2f} of {bounds}{_left(state, ', ')}"


def live_text(names: Names, state: SequentialState) -> str:
    difference = _difference(names, state)
    said = _llr_text(state) + _left(state, "; ")
    return f"{said}\n{difference_text(difference)}" if difference else said


def _left(state: SequentialState, before: str) -> str:
    left = games_left(state)
    if not left:
        return ""
    is_budget = left >= 2 * (state.budget - state.pairs)
    return f"{before}{'at most' if is_budget else 'about'} {counted(left, 'game')} left"


def _llr_text(state: SequentialState) -> str:
    tested = state.hypotheses
    return (
        f"LLR {state.llr:+.2f}, from {tested.lower:+.2f} ({_elo(tested.elo0)} Elo) to {tested.upper:+.2f} "
        f"({_elo(tested.elo1)} Elo)"
    )


def _elo(elo: float) -> str:
    return f"{elo:+g}" if elo else "0"


def _difference(names: Names, state: SequentialState) -> Difference | None:
    found = difference_of(state)
    return named_difference(names, found) if found else None
