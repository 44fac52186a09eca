"""Labels in place of a protocol's lists: whose each embedding is, which scores are genuine."""

import os

from facebench import _eval
from facebench.core._arguments import brief, either_side, listed, tensor_array
from facebench.core._files import read_text
from facebench.io._embedding_files import read_array

Error = _eval.Error


def given(values, what: str) -> list[str]:
    """Labels as texts: a sequence, or a file with one a line. Whole numbers are written as such."""
    if isinstance(values, str | os.PathLike):
        where = os.fspath(values)
        if where.endswith(".npy"):
            return given(read_array(where), what)
        return [line.strip() for line in read_text(where).splitlines() if line.strip()]
    texts = []
    for k, value in enumerate(_sequence(values, what)):
        number = float(value) if hasattr(value, "__float__") else None
        if number is not None and number.is_integer():
            value = int(number)
        elif number is not None or value is None or not str(value).strip():
            raise ValueError(f"{what}[{k}] is {brief(str(value))}, not a name or a whole number")
        texts.append(str(value).strip())
    return texts


def names_of(labels, rows=None) -> list[str]:
    """Names for rows that have none: PERSON/NUMBER, in the order of the ``rows``, as many as there
    are where that is known."""
    people = given(labels, "labels")
    if rows is not None and len(people) != rows:
        raise ValueError(f"labels: {len(people)} of {rows} embeddings")
    width = len(str(len(people) - 1))
    return [f"{person}/{row:0{width}d}" for row, person in enumerate(people)]


def trials_of_people(spec, names, labels=None):
    """The trials of people of one's own: ``labels`` says whose each name is; None: PERSON/ANYTHING
    says it itself."""
    if labels is not None:
        return _eval.trials_of_people(spec, names, given(labels, "labels"))
    people = [name.rpartition("/")[0] for name in names]
    if not all(people):
        loose = next(name for name, person in zip(names, people, strict=True) if not person)
        raise ValueError(
            f"nothing says whose the embedding '{brief(loose)}' is: give root= (the folders of "
            "images), labels= (one a row), or names such as PERSON/IMAGE"
        )
    return _eval.trials_of_people(spec, names, people)


def trials_of_scores(scores, labels, people=None):
    """``(trials, scores)`` of scores that ``labels`` say to be genuine or not. ``people``: who is
    on either side of each, a pair of sequences; None: each comparison is of people of its own."""
    import numpy as np

    words = given(labels, "labels") if isinstance(labels, str | os.PathLike) else labels
    genuine = [_genuine(label, k) for k, label in enumerate(_sequence(words, "labels"))]
    sides = ([], []) if people is None else either_side(people)
    first, second = (given(of, "people") for of in sides)
    values = np.asarray(
        tensor_array(scores, "scores") if hasattr(scores, "detach") else scores, float
    )
    if values.ndim != 1:
        raise ValueError(f"scores: expected one number a comparison, found {values.shape}")
    return _eval.scored_list(values.tolist(), genuine, first, second)


def _sequence(values, what: str) -> list:
    """An array of one axis, a column of a table, a tensor or a list, as a list."""
    if not hasattr(values, "tolist"):
        return listed(values, what)
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{what}: expected one a row, found {tuple(values.shape)}")
    return values.tolist()


def _genuine(label, k) -> int:
    found = _eval.class_of_label(str(label))
    if found is None:
        raise ValueError(
            f"labels[{k}] is {brief(str(label))}: labels are 1 and 0, 1 and -1, True and False, "
            "genuine and impostor, or same and different"
        )
    return found
