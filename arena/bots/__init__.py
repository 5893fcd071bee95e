"""A path as a bot: what its folder says (`manifest`), what it is (`identity`), what it is called (`names`)."""
