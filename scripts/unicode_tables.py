"""Writes cpp/eval/facebench/core/internal/nfc_tables.inc: what Unicode's form NFC needs.

    python scripts/unicode_tables.py

From Python's unicodedata, whose version stands in the file; Hangul, which is computed, is left out.
tests/eval/core/test_unicode.py compares the result with unicodedata over all characters.
"""

import unicodedata
from pathlib import Path

TABLES = Path(__file__).resolve().parents[1] / "cpp/eval/facebench/core/internal/nfc_tables.inc"


def decompositions():
    """(character, first, second, composes) of every canonical decomposition; second 0: it has one
    part. ``composes``: NFC makes the character of its parts again."""
    for c in map(chr, range(0x110000)):
        parts = unicodedata.decomposition(c).split()
        if not parts or parts[0].startswith("<"):
            continue
        first, second = (
            [int(part, 16) for part in parts] if len(parts) == 2 else [int(*parts, 16), 0]
        )
        yield ord(c), first, second, int(unicodedata.normalize("NFC", c) == c)


def combining_classes():
    """(first, last, class) of every run of characters of one class other than 0."""
    runs = []
    for number in range(0x110000):
        of_class = unicodedata.combining(chr(number))
        if of_class and runs and runs[-1][1] == number - 1 and runs[-1][2] == of_class:
            runs[-1][1] = number
        elif of_class:
            runs.append([number, number, of_class])
    return runs


def table(declaration, rows, per_line):
    cells = ["{" + ", ".join(f"{n:#x}" if n > 9 else str(n) for n in row) + "}" for row in rows]
    lines = [", ".join(cells[k : k + per_line]) for k in range(0, len(cells), per_line)]
    return [f"constexpr {declaration}[] = {{", *(f"    {line}," for line in lines), "};"]


def main():
    lines = [
        f"// Made by scripts/unicode_tables.py of Unicode {unicodedata.unidata_version}.",
        "// clang-format off",
        *table("Decomposition kDecompositions", decompositions(), 6),
        *table("ClassRun kClassRuns", combining_classes(), 8),
        "// clang-format on",
    ]
    TABLES.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
