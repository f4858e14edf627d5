"""Where the events of sessions are kept."""
