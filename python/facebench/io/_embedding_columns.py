"""Which columns of a table are an embedding, and which holds the names of its rows."""

import re
import shlex
from collections import defaultdict
from typing import NamedTuple

from facebench import _eval
from facebench.core._arguments import brief

Error = _eval.Error

VALUES = ("embeddings", "embedding", "values", "features", "feature", "feats", "vectors", "arr_0")
NAMES = (
    *("names", "name", "paths", "path", "files", "file", "filenames", "filename", "images"),
    *("image", "image_path", "img_path", "file_path", "filepath", "file_name", "image_name"),
)
# What pandas, polars and R call the numbers of rows.
_ROW_NUMBERS = re.compile(r"|unnamed: \d+|__index_level_\d+__|index|level_0|row_nr|rownames")
NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)
# Of so many numbers or more one that is whole in every row, as labels and boxes are, stands out.
_MANY = 8
# For `apart`: as many rows, columns that are compared with, and columns that may stand beside.
_FEW_ROWS, _NEXT, _MOST_APART = 12, 8, 6
_LARGE, _LARGE_OF_ONE_SIGN = 20, 2


class Table:
    """The columns of a table. ``headers``: None where there are none; ``kinds``: what each holds,
    'numbers', 'text', 'lists' or another word; ``column``: the values of one, by its place."""

    def __init__(self, where, headers, kinds, column):
        self.where, self.headers, self.kinds, self.column = where, headers, kinds, column

    def title(self, at):
        if self.headers is None:
            return f"column {at + 1}"
        return brief(self.headers[at]) or "the column without a name"


class Choice:
    """``name``: the place of the names, or None; ``values``: those of the numbers, or of one column
    of lists; ``passed``: {place: why} of columns that are passed over; ``asked``: the caller named
    them."""

    def __init__(self, table, name, values, passed=None, asked=False):
        self.table, self.name, self.values, self.passed = table, name, values, passed or {}
        self.asked = asked

    def manifest(self, numbers):
        """What the embedding was read from, for its manifest."""
        first, last = (self.table.title(at) for at in (self.values[0], self.values[-1]))
        columns = first if first == last else f"{first} to {last}"
        passed = [f"{self.table.title(at)} ({why})" for at, why in self.passed.items()]
        return {"table": {"columns": columns, "numbers": int(numbers), "passed_over": passed}}


def sentence(manifest):
    """That in words; "" where the embedding is not of a table."""
    if (table := manifest.get("table")) is None:
        return ""
    passed = table["passed_over"]
    left = f"; passed over: {', '.join(passed)}" if passed else ""
    return f"The embedding is {table['numbers']} numbers, {table['columns']}{left}."


def choose(table, asked=None, named=False) -> Choice:
    """The columns of an embedding: one family that is numbered, or one column of lists.

    ``asked``: the headers of the names and of the numbers, where "e0..e15" stands for all of them.
    ``named``: the names are given apart, so headers are of numbers alone. facebench.Error where
    other columns could be meant.
    """
    if asked is not None:
        return _asked(table, list(asked), named)
    if table.headers is None:
        return _without_headers(table)
    passed = _not_data(table)
    name = _name(table, passed, named)
    rest = [at for at in range(len(table.kinds)) if at != name and at not in passed]
    families, gap = _families(table, [at for at in rest if table.kinds[at] == "numbers"])
    found = [*families, *([at] for at in rest if table.kinds[at] == "lists")]
    found.sort(key=lambda one: _likelihood(table, one), reverse=True)
    if gap and (not found or len(gap.places) > len(found[0])):
        raise Error(f"{table.where}: {gap.said}. {_advice(table, name, [gap.places])}")
    if len(found) == 1 and len(found[0]) == len(rest):
        return Choice(table, name, found[0], passed)
    titles = [table.title(at) for at in rest]
    if len(found) == 1:
        others = [table.title(at) for at in rest if at not in found[0]]
        said = f"beside the embedding ({_span(table, found[0])}) it has {_some(others)}"
    elif found:
        said = f"several can be the embedding: {'; '.join(_span(table, one) for one in found)}"
        if others := [table.title(at) for at in rest if not any(at in one for one in found)]:
            said += f", and it has {_some(others)}"
    else:
        said = f"it has {_some(titles) or 'no column of numbers'}, of which none are numbered"
    raise Error(f"{table.where}: {said}. {_advice(table, name, found or [rest])}")


def check_numbers(choice, values):
    """facebench.Error for a coordinate that looks like a label or a box among the others."""
    import numpy as np

    if len(values) < 2 or values.shape[1] < _MANY or len(choice.values) != values.shape[1]:
        return
    whole = (values == np.floor(values)).all(axis=0)
    odd = np.flatnonzero(whole & values.any(axis=0))
    if 0 < len(odd) < values.shape[1] / 2 and not whole.all():
        titles = [choice.table.title(choice.values[k]) for k in odd]
        rest = [at for k, at in enumerate(choice.values) if k not in odd]
        raise Error(
            f"{choice.table.where}: {_some(titles)} holds whole numbers alone, as labels and boxes "
            f"are, and the others do not. {_advice(choice.table, choice.name, [rest])}"
        )


def apart(values):
    """(places, why) of the outermost columns that are not coordinates by their size: a quality, a
    box, an age beside an embedding that has no headers, or in its array. ([], "") without such.

    Of embeddings, pixels, histograms and principal components (the first of which is the largest)
    none is more than 17 times as large as each of the next eight; a quality in 0..1 beside an
    embedding of unit length is 5 to 15 times, and of one sign.
    """
    import numpy as np

    rows, columns = values.shape
    if rows < _FEW_ROWS or columns < 2 * _NEXT:
        return [], ""
    with np.errstate(all="ignore"):
        size = np.sqrt(np.square(values, dtype=np.float64).mean(axis=0))
    if not np.isfinite(size).all():
        return [], ""
    one_sign = (values > 0).all(axis=0) | (values < 0).all(axis=0)
    for first in (False, True):
        at = np.arange(columns)[:: 1 if first else -1]
        for count in range(1, _MOST_APART + 1):
            out, inner = at[:count], at[count:]
            ratio = size[out].min() / max(size[inner[:_NEXT]].max(), 1e-300)
            signed = one_sign[out].all() and one_sign[inner].mean() < 0.1
            if ratio > _LARGE or (not first and signed and ratio > _LARGE_OF_ONE_SIGN):
                why = f"{ratio:.3g} times as large as those beside"
                return sorted(out.tolist()), why + (" and of one sign" if signed else "")
    return [], ""


def apart_sentence(where, values, choice=None):
    """What `apart` found, and what to do, in a sentence; "" where it found nothing."""
    out, why = apart(values)
    if not out:
        return ""
    rest = [at for at in range(values.shape[1]) if at not in out]
    if choice is None or len(choice.values) != values.shape[1]:
        titles = [f"number {at + 1}" for at in out]
        todo = f"If that is not a coordinate, leave it out: values[:, {rest[0]}:{rest[-1] + 1}]"
    else:
        titles = [choice.table.title(choice.values[at]) for at in out]
        todo = _advice(choice.table, choice.name, [[choice.values[at] for at in rest]])
        todo = f"If that is not a coordinate: {todo[0].lower()}{todo[1:]}"
    return (
        f"{where}: {_some(titles)} ({values.shape[1]} numbers a row) "
        f"{'is' if len(out) == 1 else 'are'} {why}, as a quality, a box or an age is, and counts "
        f"as part of the embedding. {todo}."
    )


def _asked(table, asked, named):
    headers = _headers(table)
    places = defaultdict(list)
    for at, header in enumerate(headers):
        places[header].append(at)
    wanted = [at for item in asked for at in _places(table, places, item)]
    name, values = (None, wanted) if named else (wanted[0], wanted[1:])
    if not values:
        raise ValueError("columns: name the column of names first, then those of the numbers")
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"columns: {brief(','.join(asked))} names a column twice")
    for at in values:
        if table.kinds[at] not in ("numbers", "lists") or (
            table.kinds[at] == "lists" and len(values) > 1
        ):
            raise Error(f"{table.where}: {table.title(at)} is a column of {table.kinds[at]}")
    return Choice(table, name, values, asked=True)


def _headers(table):
    """Of a table without any the numbers of its columns, from 1 on."""
    if table.headers is not None:
        return table.headers
    return [str(at + 1) for at in range(len(table.kinds))]


def _places(table, places, item):
    """Where a header is, or all of "e0..e15": by their numbers, or else as they stand."""
    first, dots, last = item.partition("..")
    if item not in places and dots:
        begin, end = NUMBERED.fullmatch(first), NUMBERED.fullmatch(last)
        if begin and end and begin[1] == end[1]:
            numbers = range(int(begin[2]), int(end[2]) + 1)
            items = [f"{begin[1]}{n:0{len(begin[2])}d}" for n in numbers]
            return [at for one in items for at in _places(table, places, one)]
        if len(places.get(first, [])) == 1 and len(places.get(last, [])) == 1:
            return list(range(places[first][0], places[last][0] + 1))
    found = places.get(item, [])
    if len(found) != 1:
        has = _some([repr(brief(h)) for h in _headers(table)])
        raise Error(
            f"{table.where}: has {'no' if not found else 'several'} columns '{brief(item)}'; "
            f"it has {has}"
        )
    return found


def _without_headers(table):
    texts = [at for at, kind in enumerate(table.kinds) if kind == "text"]
    name = texts[0] if texts else 0
    passed = {}
    if name == 1 and table.kinds[0] == "numbers" and _are_row_numbers(table.column(0)):
        passed = {0: "row numbers"}
    last = len(table.kinds) - 1
    if table.kinds[last] == "numbers" and _are_blank(table.column(last)):
        passed[last] = "empty"  # what a comma at the end of each line leaves
    values = [at for at in range(len(table.kinds)) if at != name and at not in passed]
    odd = [at for at in values if at < name or table.kinds[at] not in ("numbers", "lists")]
    lists = [at for at in values if table.kinds[at] == "lists"]
    if odd or (lists and len(values) > 1) or not values:
        said = _some([table.title(at) for at in odd or lists]) if values else "a column of names"
        raise Error(
            f"{table.where}: without a line of headers the names and then the numbers of the "
            f"embedding are expected, and there is {said}. Give it headers (name,e0,e1,...), or "
            "say which are read by their numbers: --columns 1,2..129 (in Python columns=)"
        )
    return Choice(table, name, values, passed)


def _are_row_numbers(values):
    import numpy as np

    values = np.asarray(values)
    whole = values.dtype.kind in "fiu" and (values == np.floor(values)).all()
    return bool(whole) and len(np.unique(values)) == len(values)


def _are_blank(values):
    return all(isinstance(v, str) and not v.strip() for v in values)


def _not_data(table):
    """{place: why} of row numbers, and of what a comma at the end of each line leaves."""
    passed = {}
    for at, header in enumerate(table.headers):
        if table.kinds[at] != "numbers" or not _ROW_NUMBERS.fullmatch(header.strip().lower()):
            continue
        values = table.column(at)
        if _are_row_numbers(values):
            passed[at] = "row numbers"
        elif not header and _are_blank(values):
            passed[at] = "empty"
    return passed


def _name(table, passed, named):
    """The place of the names; others like it join those that are passed over."""
    headers = [header.strip().lower() for header in table.headers]
    known = [headers.index(key) for key in NAMES if key in headers]
    known = [at for at in known if table.kinds[at] in ("text", "numbers")]
    if known:
        distinct = (at for at in known if len(set(table.column(at))) == len(table.column(at)))
        name = known[0] if len(known) == 1 else next(distinct, known[0])
        passed |= {at: "other names" for at in known if at != name}
        return name
    texts = [at for at, kind in enumerate(table.kinds) if kind == "text"]
    if named:
        return None
    if texts:
        return texts[0]
    if table.kinds[0] == "numbers" and 0 not in passed and not NUMBERED.fullmatch(headers[0]):
        return 0
    raise Error(
        f"{table.where}: has no column of names ({', '.join(NAMES[:4])}, ...). It has "
        f"{_some([table.title(at) for at in range(len(headers))])}. Name it first: --columns "
        "NAME,E0..E511 (in Python columns=), or give names of its rows (--names FILE)"
    )


def _likelihood(table, places):
    """For the order in which columns are suggested: those that are called so, then the most."""
    return table.headers[places[0]].strip().lower() in VALUES, len(places)


class _Gap(NamedTuple):
    """Numbered columns of one prefix that do not count up by one, and why."""

    places: list
    said: str


def _families(table, places):
    """The places of each run of numbered columns of one prefix, and the largest that is none."""
    numbers = defaultdict(list)
    for at in places:
        if found := NUMBERED.fullmatch(table.headers[at].strip()):
            numbers[found[1]].append((int(found[2]), at))
    families, gap = [], None
    for prefix, entries in numbers.items():
        entries.sort()
        have, of_family = [list(column) for column in zip(*entries, strict=True)]
        if len(have) < 2:
            continue
        if have == list(range(have[0], have[0] + len(have))):
            families.append(of_family)
        elif gap is None or len(have) > len(gap.places):
            lacking = next((n for n in range(have[0], have[-1]) if n not in have), None)
            what = f"'{brief(prefix)}{lacking}' is missing"
            if lacking is None:
                what = "a number is there twice"
            first, last = table.title(of_family[0]), table.title(of_family[-1])
            gap = _Gap(of_family, f"{what} among the columns {first} to {last}")
    return families, gap


def _span(table, places):
    first, last = table.title(places[0]), table.title(places[-1])
    if len(places) == 1:
        return f"the lists of {first}"
    return f"{len(places)} numbers, {first} to {last}"


def _some(titles):
    more = f" and {len(titles) - 6} more" if len(titles) > 7 else ""
    return ", ".join(titles if not more else titles[:6]) + more


def _advice(table, name, found):
    """How the columns are named, with those that are most likely meant, to be pasted."""
    headers = _headers(table)
    likely = [one for one in found if 2 * len(one) > len(found[0])]
    first = headers[name] if name is not None else "NAME"
    ranges = [shlex.quote(",".join([first, *_items(headers, places)])) for places in likely[:2]]
    return f"Say which are read: --columns {' or '.join(ranges)} (in Python columns=)"


def _items(headers, places):
    """The headers; runs that are numbered, or stand side by side, as "e0..e15"."""
    # Places, whether they are numbered in turn, whether they stand side by side.
    runs: list[tuple[list[int], bool, bool]] = []
    for at in places:
        if runs:
            run, counted, beside = runs[-1]
            counted = counted and _follows(headers[run[-1]], headers[at])
            # What looks numbered is read by its numbers.
            beside = beside and at == run[-1] + 1 and not _of_family(headers[run[0]], headers[at])
            if counted or beside:
                runs[-1] = [*run, at], counted, beside
                continue
        runs.append(([at], True, True))
    items: list[str] = []
    for run, counted, _ in runs:
        short = len(run) < (2 if counted else 4)
        names = [headers[at] for at in run]
        items += names if short else [f"{names[0]}..{names[-1]}"]
    return items


def _of_family(one, other):
    first, second = NUMBERED.fullmatch(one), NUMBERED.fullmatch(other)
    return first is not None and second is not None and first[1] == second[1]


def _follows(one, other):
    before, after = NUMBERED.fullmatch(one), NUMBERED.fullmatch(other)
    if before is None or after is None or before[1] != after[1]:
        return False
    return int(after[2]) == int(before[2]) + 1
