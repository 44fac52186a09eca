"""Writes cpp/eval/facebench/core/internal/look_alike_table.inc: the characters that look like
letters and digits of ASCII.

    pip install confusable_homoglyphs
    python scripts/look_alike_table.py

From Unicode's confusables (UTS #39), as the package confusable_homoglyphs has them, and from
Python's unicodedata: what NFKC takes for such letters (mathematical, fullwidth, circled), and
letters below an accent.
"""

import unicodedata
from pathlib import Path

from confusable_homoglyphs import confusables

TABLE = (
    Path(__file__).resolve().parents[1] / "cpp/eval/facebench/core/internal/look_alike_table.inc"
)


def plain(text):
    """The text in lower case without accents and what is not seen, where it is then letters and
    digits of ASCII; else empty."""
    seen = [
        c
        for c in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        if unicodedata.category(c) not in ("Mn", "Me", "Cf")
    ]
    letters = "".join(seen).strip()
    return letters if letters.isascii() and letters.isalnum() else ""


def letters_of(c):
    found = plain(c)
    if found:
        return found
    for other in confusables.confusables_data.get(c, []):
        if found := plain(other["c"]):
            return found
    return ""


def main():
    groups = {}
    for number in range(0x80, 0x110000):
        c = chr(number)
        if 0xD800 <= number < 0xE000 or not (letters := letters_of(c)) or len(letters) > 4:
            continue
        groups.setdefault(letters, []).append(number)
    rows = [
        f'    {{{n:#x}, "{letters}"}},'
        for n, letters in sorted((n, k) for k, numbers in groups.items() for n in numbers)
    ]
    lines = [
        "// Made by scripts/look_alike_table.py of Unicode's confusables (UTS #39) and of Unicode",
        f"// {unicodedata.unidata_version}. Copyright Unicode, Inc.; unicode.org/terms_of_use.html",
        "// clang-format off",
        "constexpr LookAlike kLookAlikes[] = {",
        *rows,
        "};",
        "// clang-format on",
    ]
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
