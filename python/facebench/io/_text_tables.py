"""Text files of others: whole, as rows of CSV, and numbers. Errors name the file and the line."""

import csv
import io
from pathlib import Path

from facebench import _eval
from facebench.core._arguments import brief

Error = _eval.Error


def read_text(where):
    """The text of a file in UTF-8, with or without a byte order mark."""
    try:
        return Path(where).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Error(f"{brief(where)}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Error(f"{where}:{line}: is not UTF-8. Convert the file to UTF-8") from None


def rows(where, text, separator=",", **dialect):
    """(line that the row ends in, its cells) of every row of CSV that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, **dialect)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise Error(f"{where}:{reader.line_num}: {error}") from None


def number(text):
    """ValueError where it is none. Python allows underscores in numbers; no table does."""
    if "_" in text:
        raise ValueError
    return float(text)
