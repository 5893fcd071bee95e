"""The formats of leagues: which bots meet. `arena.league.pairing.chosen` makes a format from options."""
