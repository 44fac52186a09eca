"""Names are compared in Unicode's form NFC: the tables of C++ against Python's unicodedata."""

import random
import unicodedata

from facebench import _eval

CHARACTERS = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]


def test_every_character_and_its_decomposition():
    """Several at once, each behind a letter: marks then are of it, as in a name."""
    for form in ("NFC", "NFD", "NFKD"):
        for k in range(0, len(CHARACTERS), 5000):
            text = "x".join(unicodedata.normalize(form, c) for c in CHARACTERS[k : k + 5000])
            assert _eval.nfc(text) == unicodedata.normalize("NFC", text)


def test_marks_in_any_order():
    draw = random.Random(3)
    marks = [c for c in CHARACTERS if unicodedata.combining(c)]
    letters = [c for c in CHARACTERS if unicodedata.normalize("NFD", c) != c]
    jamo = [chr(c) for c in range(0x1100, 0x1200)]
    for _ in range(20_000):
        pool = [
            draw.choice(letters),
            *draw.choices(marks, k=3),
            draw.choice(jamo),
            *"ae\u0301\u0327",
        ]
        text = "".join(draw.choices(pool, k=7))
        assert _eval.nfc(text) == unicodedata.normalize("NFC", text), ascii(text)


def test_what_is_another_letter_stays():
    """NFC joins forms of one character. It folds no capitals, no dotless i, no ligature."""
    for text in ("ı", "I", "ß", "ﬁ", "Å", "ą", "½", "Æ"):
        assert _eval.nfc(text) == text
    assert _eval.nfc("\u212b") == "Å" == _eval.nfc("A\u030a")
