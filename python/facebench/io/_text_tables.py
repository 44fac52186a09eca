"""Text of others: rows of CSV, and numbers. Errors name the file and the line."""

import csv
import io

from facebench import _eval

Error = _eval.Error


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


def is_number(text):
    try:
        number(text)
    except ValueError:
        return False
    return True
