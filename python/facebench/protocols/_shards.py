"""All images with all, shared out among processes."""

import functools
import os
from typing import Unpack

from facebench import _eval
from facebench._eval import EvaluationOptions
from facebench.core._arguments import of_kind, path_text
from facebench.core._options import options_of, takes
from facebench.core._parts import state_of
from facebench.core._shards import made_by
from facebench.io import _embedding_files
from facebench.protocols._load import read_trials, spec_of


def limited(trials, exclude, only, limit):
    """What is left of the trials of `evaluate`."""
    trials = _eval.without(trials, path_text(exclude, "exclude"), path_text(only, "only"))
    return trials if limit is None else _eval.limited(trials, limit)


def file_for_all(embeddings) -> str:
    """The file of embeddings that every process reads."""
    file = path_text(embeddings, "embeddings")
    if not _embedding_files.is_ours(file):
        raise ValueError(
            f"embeddings is {file}: shards are of a file of facebench.io.write_embeddings"
        )
    return file


def files_of(
    workers,
    out,
    count,
    *,
    protocol,
    embeddings,
    root,
    lists,
    exclude,
    only,
    limit,
    options,
    allow_missing,
    threads,
):
    """The files of as many shards, while they are needed; the workers of an executor make them."""
    if out is None or root is lists:
        raise ValueError("workers: give out= and the places of the lists, not trials=")
    file = file_for_all(embeddings)
    places = {"root": root, "lists": lists, "exclude": exclude, "only": only, "embeddings": file}
    how = {name: os.path.abspath(place) for name, place in places.items() if place is not None}
    how |= {"protocol": protocol, "limit": limit, "options": options}
    how["allow_missing"] = allow_missing
    left_out = [out, f"{out}.shards"]
    contents: dict[str, str] = {
        n: state_of(how[n], left_out) for n in ("root", "lists", "exclude", "only") if n in how
    }
    contents |= {"embeddings": _eval.sha256_file(file)}
    if isinstance(protocol, str | os.PathLike) and os.path.isfile(protocol):
        contents["protocol"] = _eval.sha256_file(protocol)
    identity = how | {"version": _eval.version(), "contents": contents}
    make = functools.partial(evaluate_shard, **how, threads=threads)
    return made_by(workers, out, identity, count, make)


@takes(EvaluationOptions)
def evaluate_shard(
    protocol,
    embeddings,
    out,
    *,
    shard: str,
    root=None,
    lists=None,
    exclude=None,
    only=None,
    limit: int | None = None,
    options: EvaluationOptions | None = None,
    allow_missing=False,
    threads=0,
    progress=None,
    **keywords: "Unpack[_eval.EvaluationOptionsKeywords]",
) -> None:
    """Score a part of the comparisons of all images with all, for one machine of several.

    ``shard``: "3/16" is the third of sixteen parts. Writes the file ``out``; `evaluate` joins the
    files of all shards. ``embeddings``: a file that `facebench.io.write_embeddings` wrote; the
    others are those of `evaluate`. facebench.Error where no track has more comparisons than
    ``stored_scores``: such a one is scored in moments.
    """
    options = options_of(EvaluationOptions, options, keywords)
    spec = spec_of(protocol)
    trials = read_trials(spec, root, lists, options.strict)
    trials, file = limited(trials, exclude, only, limit), file_for_all(embeddings)
    absent = of_kind(allow_missing, bool, "allow_missing")
    _eval.write_tail_shard(spec, trials, file, shard, out, options, absent, threads, progress)
