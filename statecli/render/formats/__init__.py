"""One file a format; the listing of this folder is the registry."""
