"""One kind of state per file: what its body does."""
