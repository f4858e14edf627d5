"""Drawings of graphs: what is shown (`draw`), where it stands (`layout`), and one file a format."""
