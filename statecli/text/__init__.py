"""Text to nodes with places, and back."""
