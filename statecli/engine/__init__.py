"""Runs bodies and moves tokens; the stream of events of a run."""
