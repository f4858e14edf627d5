"""A run that is stored: start, send, resume, fork, undo."""
