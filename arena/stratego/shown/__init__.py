"""How Stratego is shown to people: boards, names of pieces, rules in words, and the data of pages."""
