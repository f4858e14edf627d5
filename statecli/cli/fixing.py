"""`--fix` and `--diff`: the fixes of one file after the other, written or only shown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from statecli.cli.output import tell
from statecli.cli.sources import Source
from statecli.lint.fix import Fixer
from statecli.lint.linter import lint
from statecli.load.loader import build
from statecli.model.diagnostic import Diagnostic
from statecli.report.reporter import shown_path
from statecli.text import reading
from statecli.text.document import Document
from statecli.text.excerpt import harmless
from statecli.text.veil import veils


class Fixing:
    """Fixes files. `patch` has the unified differences of all that changed."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.patch: list[str] = []

    def fixed(self, source: Source) -> Source:
        """The graph after its fixes. Only `--fix` without `--diff` writes the file."""
        document = source.document
        if document.value is None or source.python is not None:
            return source

        def check(text: str) -> tuple[Document, list[Diagnostic]]:
            read = reading.parse(document.path, text)
            return read, lint(build(read, source.form), source.config)

        fixer = Fixer(check, self.args.unsafe_fixes)
        text = fixer.fix(document.text)
        path = shown_path(source.path)
        for reason in fixer.left_out:
            tell(f"{path}: {harmless(reason)}")
        if text == document.text:
            return source
        made = ", ".join(f"{number} × {rule}" for rule, number in sorted(fixer.made.items()))
        verb = "would fix" if self.args.diff else "fixed"
        content = reading.encode(text, source.content)
        if self.args.diff:
            found = check(document.text)[1]
            self.patch.extend(_difference(source, text, found))
        else:
            from statecli.text.whole_file import write_file

            write_file(source.path, content)
        tell(f"{path}: {verb} {made}")
        return source._replace(content=content, document=reading.document(source.path, content))


def _difference(source: Source, after: str, found: list[Diagnostic]) -> Iterator[str]:
    """A patch that `git apply` and `patch -p1` take (secrets in it are hidden)."""
    import difflib

    name = source.path.replace("\\", "/").lstrip("/")
    mark = "\ufeff" if source.content.startswith(b"\xef\xbb\xbf") else ""
    before = mark + source.document.text
    veil = veils(found).get(id(found[0].source)) if found else None
    lines = difflib.unified_diff(
        _lines(before), _lines(mark + after), f"a/{name}", f"b/{name}", n=3
    )
    for line in lines:
        shown = veil.text(line) if veil is not None else line
        yield shown if line.endswith("\n") else f"{shown}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends; only line feeds end a line."""
    return [line + "\n" for line in text.split("\n")[:-1]] + [
        last for last in text.split("\n")[-1:] if last
    ]
