"""What the scripts that make pages of the documentation share: tables, the text between two marks,
and the command line of a script whose files must equal what it makes."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Lines of a Markdown table."""

    def line(cells):
        texts = (str(c).replace("|", "\\|").replace("\n", " ") for c in cells)
        return f"| {' | '.join(texts)} |"

    heads = list(heads)
    return [line(heads), "|" + "---|" * len(heads), *map(line, rows)]


def between(text: str, name: str, lines: list[str], file: str, comment: str = "<!-- {} -->") -> str:
    """`text` with what stands between the marks ``NAME: generated`` and ``NAME: end`` replaced."""
    opening, closing = comment.format(f"{name}: generated"), comment.format(f"{name}: end")
    head, mark, rest = text.partition(opening)
    old, end, tail = rest.partition(closing)
    if not mark or not end:
        sys.exit(f"{file}: the marks '{opening}' and '{closing}' are missing")
    indent = old.rpartition("\n")[2]
    body = "".join(f"{line}\n" for line in lines)
    return f"{head}{opening}\n{body}{indent}{closing}{tail}"


def page_with(page: Path, parts: dict[str, list[str]]) -> dict[Path, str]:
    """`page` with each part, by the name of its marks, made anew; a blank line on either side."""
    text = page.read_text()
    for name, lines in parts.items():
        text = between(text, name, ["", *lines, ""], page.name)
    return {page: text}


def stale(made: dict[Path, str], folder: Path | None = None) -> list[Path]:
    """Files that differ from what is made, and pages of `folder` that are made no more."""
    old = [p for p, text in made.items() if not p.exists() or p.read_text() != text]
    return old + [p for p in sorted(folder.glob("*.md") if folder else []) if p not in made]


def main(
    description: str, generated: Callable[[], dict[Path, str]], folder: Path | None = None
) -> None:
    """Writes what `generated` returns and clears `folder` of other pages; with --check, it writes
    nothing and fails where a file is old."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is old")
    check = parser.parse_args().check
    made = generated()
    old = stale(made, folder)
    if check and old:
        names = ", ".join(str(p.relative_to(ROOT)) for p in old)
        sys.exit(f"old: {names}. Run: python {Path(sys.argv[0]).resolve().relative_to(ROOT)}")
    if check:
        return
    for path in old:
        if path in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path])
        else:
            path.unlink()
