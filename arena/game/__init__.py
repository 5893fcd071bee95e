"""One game as a value: its specification, what each seat may know of it, its judgement and its record. Pure."""
