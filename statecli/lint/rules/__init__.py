"""One rule per file; the listing of this folder is the registry."""
