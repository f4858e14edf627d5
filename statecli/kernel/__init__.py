"""The pure functions that decide what a run does."""
