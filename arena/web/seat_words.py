"""All texts of the page on which a person plays, in one place, so that they can be translated.

What stands in braces is put in by the script of the page, or where the page is made. Texts that say what happened in a
game come from `arena.report`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PlayWords:
    """The English texts; another language is another value."""

    # what stands on the page
    site: str = "arena play"
    footer: str = "Who has the address of this page can play for you. It is good for this game, until its command ends."
    heading: str = "{red} - {blue}: {rules}"
    heading_of: str = "You play {color}"
    no_script: str = (
        "Playing here needs JavaScript. Without it, play in the terminal: the same command with --terminal."
    )
    board: str = "The board"
    beside: str = "What you can do"
    setup_title: str = "Set up your army"
    setup_hint: str = (
        "Drag pieces to your four rows, or choose a piece and then its square. Two pieces change places when you "
        "choose one and then the other. With the keyboard: move with the arrows and type what stands on the piece."
    )
    tray: str = "Pieces that are still to be placed"
    random: str = "Random"
    presets: str = "Ready-made set-ups"
    mirror: str = "Mirror"
    clear: str = "Clear"
    ready: str = "Ready to play"
    typed: str = "Move, as text"
    play: str = "Play it"
    moves_label: str = "The moves so far"
    flip: str = "Turn the board"
    pause: str = "Pause"
    resign: str = "Resign"
    no: str = "No, go back"
    keys_title: str = "Keys"
    keys: tuple[str, ...] = (
        "Tab leads to the board; arrows, Home, End, Page Up and Page Down move on it.",
        "Enter or space takes the piece on the square, and then moves it to another; Escape puts it back.",
        "While you set up: what stands on a piece (or M, for the marshal) puts it on the square, Delete takes it off.",
        "Beside the board: left and right arrow look a ply back and on, Home at the set-ups, End at the board as it is "
        "now; on the board Escape does that. So do the words back, next, ply 12 and board, typed as a move.",
    )
    controls: str = "Look back in the game"
    goals: tuple[tuple[str, str, str], ...] = (
        ("first", "to the set-ups", "To the set-ups (Home)"),
        ("back", "back", "One ply back (left arrow)"),
        ("next", "next", "One ply on (right arrow)"),
        ("last", "the board as it is now", "The board as it is now (End)"),
    )
    rules_title: str = "The rules of this game"
    after_title: str = "What now"
    choice_title: str = "Which do you mean?"
    choice_yes: str = "Play it"
    resign_title: str = "Resign?"
    resign_text: str = "The game is then lost."
    pause_title: str = "Pause the game?"
    pause_text: str = "It is saved, and goes on when the command that is then shown is given."

    # what the script says: the connection
    connecting: str = "Connecting with the arena."
    not_connected: str = (
        "Not connected. The page tries again; if the command that plays this game has ended, start it again."
    )
    not_sent: str = "That could not be sent: there is no connection with the arena."
    failed: str = "The arena did not take that ({status}). Load the page again."
    gone_on: str = "The game has gone on meanwhile: look at the board, and choose again."
    no_pause: str = "This game cannot be paused."
    not_fetched: str = "That board cannot be had now: there is no connection with the arena."
    bad_ply: str = "Expected ply=NUMBER, from 0 to {plies}, which is how many plies there are."
    bad_from: str = "Expected from=NUMBER, the number of moves that the page has."
    bad_body: str = "Expected what the page itself sends, as JSON."

    # sides and pieces
    red: str = "Red"
    blue: str = "Blue"
    you: str = "You"
    is_you: str = " (you)"
    own: str = "{square}, your {piece}"
    is_shown: str = "known to the enemy"
    theirs: str = "{square}, enemy {piece}"
    empty: str = "{square}, empty"
    lake: str = "{square}, lake"
    unknown: str = "unknown piece"
    unknown_moved: str = "unknown piece that has moved"
    unknown_still: str = "unknown piece that has not moved"
    could_be: str = "{label}. It can be: {pieces}."
    details_hint: str = "Point at a square, or go to it, to read what is known of it."
    lost_by: str = "Pieces lost by {player}"
    hidden: str = "Enemy pieces that are not known ({count})"
    attacks: str = "attacks"

    # setting up
    placed: str = "{piece} on {square}; {left} to place"
    swapped: str = "{piece} on {square}, {other} on {from}"
    removed: str = "{piece} taken from {square}; {left} to place"
    held: str = "{piece} taken up"
    picked: str = "{label}, taken up"
    home_empty: str = "{square}, empty, one of your squares"
    not_yours: str = "{square}, not one of your rows"
    not_home: str = "{square} is not on your four rows."
    take_first: str = "Choose a piece first, then its square."
    none_left: str = "Each {piece} is on the board already."
    in_tray: str = "{number} \u00d7{left}, {piece}, key {key}"
    tray_title: str = "{piece} (key {key})"
    one_missing: str = "1 piece is still to be placed."
    missing: str = "{count} pieces are still to be placed."
    all_placed: str = "All pieces are placed."

    # the game
    stage_starting: str = "{opponent} is getting ready."
    stage_setting_up: str = "Set up your army: you play {color}."
    stage_ready: str = "Your army is set up. Waiting for {opponent}."
    stage_moving: str = "Your turn (ply {ply})."
    stage_waiting: str = "Waiting for {opponent} to move."
    stage_over: str = "The game is over."
    stage_paused: str = "The game is paused and saved."
    result_win: str = "You have won: {words}."
    result_loss: str = "You have lost: {words}."
    result_draw: str = "Drawn: {words}."
    has_resigned: str = "You have resigned; that counts as soon as it is your turn."
    played: str = "{player}: {action}."
    played_words: str = "{player}: {action}; {words}."
    is_held: str = "taken up"
    may_move: str = "may move to {targets}"
    target_free: str = "the piece from {from} may move here"
    target_attack: str = "the piece from {from} may attack this"
    mark_from: str = "the last move began here"
    mark_to: str = "the last move led here"
    mark_lost: str = "a piece was lost here"
    mark_lost_from: str = "the piece that attacked from here was lost"
    held_targets: str = "{piece} taken up; it may move to {targets}"
    put_back: str = "put back"
    no_way: str = "The piece from {from} cannot go to {to}, only to {targets}."
    not_your_turn: str = "It is not your turn."
    cannot_move: str = "The {piece} on {square} cannot move now."
    take_own: str = "Choose one of your own pieces first."
    moves: str = "Moves ({count})"
    ply_now: str = "After ply {ply}: the board as it is now."
    ply_earlier: str = "As you knew it after ply {ply} of {plies}."
    is_earlier: str = "This is an earlier board. To play, go to the board as it is now (Escape)."

    # a choice
    field_way: str = "How"
    field_guess: str = "It is a"
    field_back: str = "Bring back"
    field_at: str = "On square"
    way_straight: str = "straight on"
    way_over: str = "over {square}"
    way_guess: str = "no move: guess what it is"
    back_nobody: str = "nobody"

    # after the game
    show_setups: str = "Show the set-ups"
    showing_setups: str = "The set-ups, as the game began."
    ended: str = "The command that played this game has ended. What is here stays to be read."
    not_stored: str = "The game is not stored yet."
    replay: str = "Replay it: {command}"
    pages: str = "As pages, with a board: {command}"
    go_on: str = "Go on with it another day: {command}"


ENGLISH = PlayWords()
