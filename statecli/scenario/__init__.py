"""Conversations as tests: played against a graph, compared with what they expect, counted."""
