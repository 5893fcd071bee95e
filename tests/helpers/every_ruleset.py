"""The rulesets that a property is tried with, one by one: all shipped ones, all switches, and some with many."""

from arena.stratego.rules.rulesets import ruleset_names, switch_names

EVERY_RULESET = [
    *ruleset_names(),
    *(f"isf+{switch}" for switch in switch_names() if switch != "infiltration"),
    "jumbo-81320/infiltrator+rescue+silent-defence+mobile-flag+lightning-captains+attackers-advantage",
    "vintage/lightning+silent-defence+mobile-bombs+rescue",
    "vintage/barrage+silent-defence+rescue+mobile-flag+exploding-bombs",
    "jumbo-09495/duel+rescue+exploding-bombs",
    "isf+lightning-captains+facing-attacks+silent-defence",
]
