"""A drive of one's own: from the numbers of a data sheet to a commented configuration."""
