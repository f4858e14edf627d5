"""A second opinion on what can happen in a graph: concrete values, explicit search.

It reads the file by itself and has its own truth of guards: nothing in here comes from statecli, so
that a mistake there cannot hide here. Slow and simple on purpose; for small graphs only. What it
computes are the eleven lists of `lists.py`, which the verifier must find too.
"""
