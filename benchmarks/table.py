"""Rows of a table, printed one by one: some of them take minutes."""

from collections.abc import Sequence


class Table:
    """A table whose first column is left-aligned text and whose others are right-aligned."""

    def __init__(self, *columns: tuple[str, int]) -> None:
        """Print the header; each column is its title and its width."""
        self._widths = [max(width, len(title)) for title, width in columns]
        self.row([title for title, _ in columns])

    def row(self, cells: Sequence[str]) -> None:
        """Print one row now; missing cells at the end are left out."""
        first, *others = zip(cells, self._widths, strict=False)
        line = first[0].ljust(first[1])
        line += "".join("  " + cell.rjust(width) for cell, width in others)
        print(line.rstrip(), flush=True)


def verdict(ratio: float, limit: float) -> str:
    """`ok` or `over`, beside the limit."""
    return f"at most {limit:g}x {'ok' if ratio <= limit else 'OVER'}"
