"""Hypothesis times nothing: on a busy machine that would fail tests that are right."""

from hypothesis import settings

settings.register_profile("statecli", deadline=None)
settings.load_profile("statecli")
