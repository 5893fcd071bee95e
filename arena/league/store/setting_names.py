"""What the settings of games are called in a store and in the lines of an export."""

RULESET = "ruleset"
RULES = "rules"
TIME = "time"
OTHER_TIMES = "other times"
SEED = "seed"
PONDERING = "pondering"
KEEP_BOTS = "keep-bots"
OPENINGS = "openings"
OPPONENTS = "opponents"
CALIBRATION = "calibration"
"""How clocks are scaled to each machine; only a store has it whose games were played so (`--calibrate`)."""
LIMITS_OF = "limits of "
"""How the names of those settings begin that say what one bot may use: its name follows."""

SETTINGS_OF_GAMES = (RULESET, RULES, TIME, OTHER_TIMES)
"""What every store says that holds games. Without it, games under any other rules could be added."""
