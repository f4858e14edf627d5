"""One input form per file."""
