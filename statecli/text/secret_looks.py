"""What keys and tokens look like, wherever they stand."""

from __future__ import annotations

import re

#: A secret by its look, wherever it stands.
LOOKS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?P<key>sk-)(?:[A-Za-z0-9_]{1,15}-){0,4}[A-Za-z0-9_]{16,}(?:-[A-Za-z0-9_]+)*"
    r"|(?P<github>gh[pos]_)[A-Za-z0-9]{20,}|(?P<github2>github_pat_)[A-Za-z0-9_]{20,}"
    r"|(?P<gitlab>glpat-)[A-Za-z0-9_-]{16,}"
    r"|(?P<slack>xox[abeoprs]-)[A-Za-z0-9-]{10,}"
    r"|(?P<aws>AKIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|(?P<google>AIza)[0-9A-Za-z_-]{30,}"
    r"|(?P<face>hf_)[A-Za-z0-9]{20,}"
    r"|(?P<jwt>eyJ)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"
    r"|(?P<bearer>Bearer\s+)[A-Za-z0-9._~+/=-]{16,}"
    r"|(?P<pem>-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    r")"
)
