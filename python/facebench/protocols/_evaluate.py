"""Embeddings or scores from anywhere to a result."""

import os
from typing import Unpack

from facebench import _eval
from facebench._eval import EmbeddingSet, EvaluationOptions
from facebench.core import _log
from facebench.core._arguments import brief, of_kind, path_text, tensor_array
from facebench.core._options import options_of, takes
from facebench.core._shards import executor_of
from facebench.io import _embedding_files
from facebench.io._embedding_columns import sentence
from facebench.io._embedding_tables import is_frame
from facebench.protocols import _labels, _pairs, _shards
from facebench.protocols._load import read_trials, spec_of
from facebench.protocols._results import Result

# The fields of EvaluationOptions that are of a back end, and so of embeddings.
BACKEND_OPTIONS = ("backend", "train", "allow_overlap", "normalise", "cohort")


def same_rows(data, trials) -> str:
    """A sentence on embeddings of several people that are the same numbers, which a placeholder of
    a failed enrolment gives; "" where there are none."""
    import numpy as np

    is_ok = np.asarray(data.status) == 0
    _, kind, counts = np.unique(data.values[:, 0], return_inverse=True, return_counts=True)
    candidates = np.flatnonzero(is_ok & (counts[kind] > 1)).tolist()  # few: others begin otherwise
    if not candidates:
        return ""
    person = {
        _eval.compared_name(name): number
        for name, number in zip(trials.names, trials.identity.tolist(), strict=True)
    }
    of_row: dict[bytes, list[tuple[str, int]]] = {}
    names = data.names
    for k in candidates:
        number = person.get(_eval.compared_name(names[k]))
        if number is not None:
            of_row.setdefault(data.values[k].tobytes(), []).append((names[k], number))
    groups = [g for g in of_row.values() if len({number for _, number in g}) > 1]
    rows = sum(map(len, groups))
    if not groups or len(groups[0]) == is_ok.sum():  # all the same: the scores say it
        return ""
    people = len({number for group in groups for _, number in group})
    first = groups[0][0]
    second = next(one for one in groups[0] if one[1] != first[1])
    return (
        f"{rows} embeddings of {people} people are the same numbers (first: {brief(first[0])} and "
        f"{brief(second[0])}). Where they stand for failed enrolments, give them that status or "
        "leave them out (allow_missing)."
    )


def _scored_list(spec, files, form, columns, strict, distance):
    """The comparisons and scores of files that say which scores are genuine; and whether these are
    distances whose signs are still to be turned."""
    _pairs.refuse_binary(files)
    trials, scores, turned = _eval.read_scored_list(files, form or "", columns or [])
    if turned and distance and files[0].endswith((".mtx", ".MTX")):
        raise ValueError(f"{files[0]} says itself that it holds distances: leave distance out")
    if of_kind(strict, bool, "strict"):
        _eval.refuse_blemishes(trials, spec.id)
    return trials, scores, distance and not turned


def _turned(distances):
    """Their negatives; what is not an array of numbers as it is: the check of scores refuses it."""
    import numpy as np

    array = np.asanyarray(distances)
    return -array.astype(float) if array.dtype.kind in "fiu" else distances


def _sample_status(status):
    numbers = [int(s) for s in status]
    for i, (entry, number) in enumerate(zip(status, numbers, strict=True)):
        if not isinstance(entry, _eval.SampleStatus) and entry != number:
            raise ValueError(f"status[{i}] must be a whole number, not {entry}")
    return numbers


def _embedding_set(embeddings, names, status, columns):
    """An EmbeddingSet, or the file to read it from."""
    if isinstance(embeddings, (str, os.PathLike)):
        if columns is None and _embedding_files.is_ours(embeddings):
            return None, embeddings
        return _embedding_files.read(embeddings, names, columns), embeddings
    if is_frame(embeddings):
        return _embedding_files.of_frame(embeddings, names, columns, status), None
    if columns is not None:
        raise ValueError("columns are those of a table, and the embeddings given are none")
    if isinstance(embeddings, EmbeddingSet):
        return embeddings, None
    if isinstance(embeddings, dict):
        return _embedding_files.of_mapping(embeddings), None
    if names is None:
        raise ValueError("embeddings given as an array need names=, one a row")
    if hasattr(embeddings, "detach"):  # a torch tensor, without importing torch
        embeddings = tensor_array(embeddings, "embeddings")
    return _embedding_files.make(embeddings, names, status), None


@takes(EvaluationOptions)
def evaluate(
    protocol,
    embeddings=None,
    names=None,
    *,
    scores=None,
    labels=None,
    people=None,
    status=None,
    root=None,
    lists=None,
    trials=None,
    exclude=None,
    only=None,
    limit: int | None = None,
    options: EvaluationOptions | None = None,
    distance=False,
    columns=None,
    form: str | None = None,
    allow_missing=False,
    shard_files=None,
    workers=None,
    shards=None,
    out=None,
    overwrite=False,
    command="",
    threads=0,
    progress=None,
    **keywords: "Unpack[_eval.EvaluationOptionsKeywords]",
) -> Result:
    """Evaluate embeddings or scores under a protocol; writes the run folder ``out`` where given.

    ``embeddings``: an array or tensor (N, D) with ``names`` (paths relative to the image folder), a
    dict {name: vector}, an :class:`EmbeddingSet`, or the path of a file that
    `facebench.io.read_embeddings` knows, or a table of pandas, polars or pyarrow; ``columns``
    names the columns of a table that are read, where it has others. ``match`` says how names are
    those of the lists: exact, path_stem (without their endings), suffix (given names end with those
    of the lists) or stem (the file name alone). Names of the lists without an embedding are an
    error; ``allow_missing`` counts them as failed enrolments.

    Without lists, of people of one's own (protocol ``folders``): ``labels`` says whose each
    embedding is (a sequence, or a file with one a line), or the names do, as PERSON/ANYTHING; no
    image is needed.

    Or ``scores``: one number a comparison in the order of the lists (an array, or the path of a CSV
    file with a column ``score``); or a CSV file with the names of each pair in any order
    (``first``, ``second``; or ``columns``, the headers of both and of the score), as
    :func:`write_pairs` makes it. ``distance``: low scores are alike, so their signs are turned.

    Without lists, ``labels`` says which scores are genuine (1 and 0, True and False, genuine and
    impostor, ...) and ``people``, a pair of sequences, who is on either side of each; without
    people every comparison is of people of its own. Or ``scores`` is the path of a file, or of two,
    that say themselves which scores are genuine: ``["genuine.txt", "impostor.txt"]``, a table with
    labels, bob's four or five columns, a BEE matrix with its mask and others (`score_forms`;
    ``form`` is one by name, by default what they look like). ``columns`` names both names, the
    score and the label of such a table.

    Lists are looked for below ``root``, or in ``lists``, or given as ``trials``. ``exclude``: a
    list of people and samples whose comparisons are left out, as `facebench.inspect` writes it;
    ``only``: one of those that alone stay, a person a line. Scores are then those of the
    comparisons that are left. ``limit``: for a quick look at
    embeddings, at most so many comparisons of a list, spread evenly, or so many images of a
    protocol without lists; the result and its report say so.

    All images with all can be shared out, with a file of embeddings that all machines see. Either
    ``workers``, any `concurrent.futures.Executor`, makes ``shards`` of them (None: four for each of
    its threads), which lie beside ``out`` until they are joined; or ``shard_files`` are those that
    `evaluate_shard` wrote, all of them. The run has the bytes that one process writes.

    Further keywords are those of :class:`EvaluationOptions`: convention, seed, replicates, ... (or
    ``options`` is one). ``command``: what was typed, for the run's manifest.

    >>> import pathlib, tempfile, numpy as np
    >>> from facebench.protocols import evaluate
    >>> folder = tempfile.TemporaryDirectory()
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = pathlib.Path(folder.name, "pairs.txt").write_text(text)
    >>> run = pathlib.Path(folder.name, "run")
    >>> result = evaluate(
    ...     "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder.name, interval="none", out=run
    ... )
    >>> result.accuracy.value, result.auc.value
    (1.0, 1.0)
    >>> embeddings = np.eye(6)[[0, 0, 1, 1, 2, 2]]
    >>> evaluate("folders", embeddings, labels=[7, 7, 8, 8, 9, 9], interval="none").tracks[
    ...     "verification"
    ... ].auc.value
    1.0
    >>> sorted(p.name for p in run.iterdir())
    ['curves.json', 'metrics.json', 'report.html', 'report.md', 'run.json', 'scores.h5']
    >>> folder.cleanup()
    """
    if (embeddings is None) == (scores is None):
        raise ValueError("give either embeddings or scores")
    options = options_of(EvaluationOptions, options, keywords)
    if of_kind(distance, bool, "distance") and scores is None:
        raise ValueError("distance is said of scores, and none are given")
    if of_kind(allow_missing, bool, "allow_missing") and embeddings is None:
        raise ValueError("allow_missing is said of embeddings, and none are given")
    asked = {
        **{"root": root, "lists": lists, "exclude": exclude, "only": only, "limit": limit},
        **{"protocol": protocol, "embeddings": embeddings, "threads": threads, "options": options},
        "allow_missing": allow_missing,
    }
    if labels is not None and not (root is None and lists is None and trials is None):
        raise ValueError("labels: go without root=, lists= and trials=, which say it themselves")
    if people is not None and (scores is None or labels is None):
        raise ValueError("people: go with scores= and labels=")
    if workers is not None:
        executor_of(workers)
        saved = {"out": out, "overwrite": overwrite, "command": command, "progress": progress}
        with _shards.files_of(workers, out, shards, **asked) as shard_files:
            return evaluate(**asked, **saved, shard_files=shard_files)
    if is_frame(scores):
        raise ValueError(
            "scores: a frame is not read. Write it as a table (frame.to_csv(FILE, index=False)) "
            "and give the path, or give its column of scores as an array with root= or lists="
        )
    spec, of_distances, spelled = spec_of(protocol), "", ""
    files = _pairs.score_files(scores)
    listed = not (root is None and lists is None and trials is None)
    if listed and (form is not None or len(files) > 1):
        raise ValueError(
            "files of scores that say which are genuine (form) go without root=, lists=, trials="
        )
    data = None
    if labels is not None and scores is not None:
        if files:
            raise ValueError(
                "labels: go with an array of scores; a file says itself what is genuine"
            )
        trials, scores = _labels.trials_of_scores(scores, labels, people)
    elif not listed and embeddings is not None and (labels is not None or spec.reader == "folders"):
        if names is None and labels is not None and _embedding_files.is_array(embeddings):
            rows = None if isinstance(embeddings, str | os.PathLike) else len(embeddings)
            names = _labels.names_of(labels, rows)
        data, file = _embedding_set(embeddings, names, status, columns)
        data = _eval.read_embeddings(file) if data is None else data
        trials = _labels.trials_of_people(spec, data.names, labels)
    elif not listed and files:
        if not (exclude is None and only is None):
            raise ValueError(
                "exclude and only: people that are left out go with the lists of a protocol (root)"
            )
        how = (form, columns, options.strict, distance)
        trials, scores, distance = _scored_list(spec, files, *how)
    elif trials is None:
        if not listed:
            raise ValueError("give root= (the data set) or lists= (the folder of its lists)")
        trials = read_trials(spec, root, lists, options.strict)
    if limit is not None and scores is not None:
        raise ValueError("limit: goes with embeddings; scores are those of every comparison")
    trials = _shards.limited(trials, exclude, only, limit)
    if shard_files is not None:
        files = [path_text(f, "shard_files") for f in shard_files]
        file, role = _shards.file_for_all(embeddings), "embeddings"
        how = (options, allow_missing, threads, progress)
        raw = _eval.evaluate_file(spec, trials, file, files, *how)
    elif embeddings is not None:
        if data is None:
            data, file = _embedding_set(embeddings, names, status, columns)
        how = (options, allow_missing, threads, progress)
        if data is None:
            raw = _eval.evaluate_file(spec, trials, file, [], *how)
        else:
            raw = _eval.evaluate_embeddings(spec, trials, data, *how)
            if said := same_rows(data, trials):
                _log.warn(said, stacklevel=2)
                raw.add_note(said)
            if said := sentence(data.manifest):
                raw.add_note(said)
        role = "embeddings"
    else:
        file = files[0] if files and listed else None
        if file is not None:
            how = (columns, options.match)
            scores, of_distances, spelled = _pairs.read_scores(file, trials, *how)
        if distance or of_distances:
            scores = _turned(scores)
        sample_status = [] if status is None else _sample_status(status)
        raw = _eval.evaluate_scores(spec, trials, scores, sample_status, options, threads, progress)
        role = "scores"
    if distance:
        raw.add_note("The scores given are distances: their signs were turned.")
    elif of_distances:
        said = f"By its header column '{of_distances}' holds distances: their signs were turned."
        raw.add_note(said)
    if spelled:
        raw.add_note(spelled)
    if file is not None:
        raw.add_input(role, file)
    result = Result(raw, path_text(root, "root"), threads)
    if out is not None:
        result.save(out, overwrite=overwrite, command=command)
    return result
