"""Talking to a graph in a terminal."""
