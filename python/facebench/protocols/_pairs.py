"""A protocol's comparisons as a list for others to score, and their scores read back."""

import csv
import io
import os

from facebench import _eval
from facebench.core._arguments import brief
from facebench.core._files import open_file, read_text
from facebench.io import _embedding_files, _text_tables

Error = _eval.Error


def score_files(scores) -> list[str]:
    """The paths, where scores are given as that of a file or as a list of such; else none."""
    entries = scores if isinstance(scores, (list, tuple)) else [scores]
    if entries and all(isinstance(one, (str, os.PathLike)) for one in entries):
        return [os.fspath(one) for one in entries]
    return []


def refuse_binary(files) -> None:
    """facebench.Error for files of numbers in a form that scores are not read from."""
    for path in files:
        with open_file(path) as file:
            first = file.read(6)
        if first.startswith(b"\x93NUMPY") and len(files) == 2:
            continue
        kinds = {b"PAR1": "Parquet", b"PK\x03\x04": ".npz", b"\x93NUMPY": "one .npy"}
        for start, kind in kinds.items():
            if first.startswith(start):
                raise Error(
                    f"{path}: is {'a ' * (kind[0] != 'o')}{kind} file. Tables of scores are text "
                    "(in pandas: frame.to_csv(FILE, index=False)); vectors are two .npy files, "
                    "genuine and impostor or scores and labels, or HDF5 with genuine and impostor"
                )


def unit_names(trials) -> list[str]:
    """What comparisons are between: templates if there are any, else samples."""
    return trials.templates.names if len(trials.templates) else trials.names


def listed(trials, where="protocol"):
    """(track, first, second) of every comparison of lists, in the order of their scores."""
    names = unit_names(trials)
    for track in trials.tracks:
        if not hasattr(track.trials, "comparisons"):
            raise Error(
                f"{where}, track {track.name}: is not a list of pairs ({track.kind}), so it has no "
                "list to score. Evaluate embeddings"
            )
        for first, second in track.trials.comparisons.tolist():
            yield track.name, names[first], names[second]


def write(trials, out, where="protocol") -> int:
    """Write the distinct pairs as CSV (first, second); how many there are."""
    pairs = dict.fromkeys((a, b) for _, a, b in listed(trials, where))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("first", "second"), *pairs])
    _eval.write_file(out, text.getvalue().encode())
    return len(pairs)


def read_scores(path, trials, columns=None, match=None):
    """The scores of a CSV file in the order of the lists, the header of their column where it says
    that they are distances, else "", and what is to be said of their names, else "".

    With columns of names (first, second; or ``columns``, the headers of both names and the score)
    the rows may stand in any order and repeat; without them they are in the order of the lists.
    ``match``: how the names are those of the lists (`match_names`); None: exactly.
    facebench.Error names a pair that has no score, or two different ones, with its lines, and how
    names of the lists are spelled there.
    """
    path = os.fspath(path)
    if path.lower().endswith(".npy"):  # in the order of the lists
        return _embedding_files.read_array(path), "", ""
    refuse_binary([path])
    table = _text_tables.rows(path, read_text(path))
    header = [cell.strip() for cell in next(table, (0, []))[1]]
    first, second, score = _places(path, header, columns)
    if first is None:
        if score is None or len(header) > 1:
            _refuse_unread(path, header, score, next(table, (0, []))[1])
        return _eval.read_scores_csv(path, trials), "", ""
    scores: dict[tuple[str, str], tuple[float, int]] = {}
    given: dict[str, str] = {}  # names as they are compared: as they are written
    for line, row in table:
        try:
            pair = _eval.compared_name(row[first]), _eval.compared_name(row[second])
            given |= zip(pair, (row[first], row[second]), strict=True)
            value = _text_tables.number(row[score])
        except (IndexError, ValueError):
            raise Error(f"{path}:{line}: two names and a number are expected") from None
        known = scores.setdefault(pair, (value, line))
        if known[0] != value:
            raise Error(
                f"{path}:{line}: {brief(pair[0])} with {brief(pair[1])} has another score "
                f"than in line {known[1]}"
            )
    of_distances = header[score] if _eval.names_distances(header[score]) else ""
    said = ""
    if turned := sum("\\" in name for name in given.values()):
        said = f"{turned} names of the scores hold '\\', which is read as '/'."
    return _in_order(path, scores, trials, given, match or "exact"), of_distances, said


def _refuse_unread(path, header, score, row):
    """Error for names, or a score, that stand under headers which are not known."""
    cells = dict(zip(header, row, strict=False))
    texts = [name for name, cell in cells.items() if not _text_tables.is_number(cell)]
    if score is None and len(header) != 3:
        return  # the reader says that there is no column 'score'
    if score is not None and len(texts) < 2:
        return
    said = "has no column 'score'" if score is None else f"has names under {' and '.join(texts)}"
    named = header if score is None else [*texts[:2], header[score]]
    raise Error(
        f"{path}: {said}. Where its columns are two names and the score, say "
        f"--columns {brief(','.join(named))}"
    )


def _places(path, header, columns):
    if columns is not None:
        missing = [name for name in columns if name not in header]
        if len(columns) != 3 or missing:
            raise Error(
                f"{path}: columns must be three of its headers (two names and the score); it has "
                f"{brief(', '.join(header))}"
            )
        return [header.index(name) for name in columns]
    return _eval.score_columns(header) or (None, None, None)


def _in_order(path, scores_of_pairs, trials, given, match):
    scores: list[float] = []
    missing: dict[tuple[str, str], None] = {}
    names, written = unit_names(trials), list(given.values())
    try:
        rows = _eval.match_sample_names(names, written, match)
    except Error as error:
        raise Error(f"{path}: {error}") from None
    compared = list(given)
    at = {name: compared[row] if row >= 0 else "" for name, row in zip(names, rows, strict=True)}
    for _, a, b in listed(trials, str(path)):
        one, other = at[a], at[b]
        value = scores_of_pairs.get((one, other)) or scores_of_pairs.get((other, one))
        if value is None:
            missing.setdefault((a, b))
        else:
            scores.append(value[0])
    if missing:
        a, b = next(iter(missing))
        raise Error(
            f"{path}: no score for {len(missing)} pairs, the first is {brief(a)} with {brief(b)}. "
            "`facebench pairs` writes all pairs that need one"
            + _spelled(missing, at, written, match)
        )
    return scores


def _spelled(missing, at, written, match):
    """How names of the pairs without a score are spelled in the file."""
    absent = list(dict.fromkeys(name for pair in missing for name in pair if not at[name]))
    if not absent:
        return ""
    return f". {len(absent)} names are not there. " + _eval.missing_names_advice(
        absent, written, match
    )
