"""The texts of the pages of games that are being played, in one place, so that they can be translated."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LiveWords:
    """The English texts; another language is another value."""

    now: str = "Now playing"
    none: str = "No game is being played at the moment."
    hidden: str = "Running games are not shown here. They are on these pages when they are over."
    game: str = "game"
    red: str = "red"
    blue: str = "blue"
    plies: str = "plies"
    watch: str = "watch"
    board: str = "Board"
    moves: str = "Last moves"
    public: str = "What both sides know. All ranks are shown when the game is over."
    all_ranks: str = "All pieces."
    delayed: str = "Shown {} s later than it is played."
    broken: str = "The moves came faster than they could be followed. The game can be replayed when it is over."
    over: str = "over"
    replay: str = "Replay it with all that is known"
    move: str = "{ply}. {side}: {action}"
    lost: str = "lost:"
    progress: str = "{done} games over"
    progress_of: str = "{done} of {planned} games over"
    left: str = "about {} left"
    ended: str = "The league is over."
    served: str = "The league is over. These pages are not served any more; `arena serve` serves them again."
    gone: str = "This game is not being played now. It may be over: see the list of games."
    no_script: str = "Moves are shown as they are played with JavaScript; without it, load the page again."


LIVE_WORDS = LiveWords()
