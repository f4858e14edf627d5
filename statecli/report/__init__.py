"""One output format per file; the listing of this folder is the registry."""
