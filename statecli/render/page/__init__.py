"""The parts of the HTML page: its text, its looks, its scripts, and the data that it shows."""
