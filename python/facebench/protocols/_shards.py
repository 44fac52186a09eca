"""All images with all, shared out among processes."""

import functools
import os

from facebench import _eval
from facebench.core._arguments import path_text
from facebench.core._parts import state_of
from facebench.core._shards import made_by
from facebench.io import _embedding_files


def limited(trials, exclude, limit):
    """What is left of the trials of `evaluate`."""
    if exclude is not None:
        trials = _eval.without(trials, os.fspath(exclude))
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
    limit,
    options,
    allow_missing,
    threads,
):
    """The files of as many shards, while they are needed; the workers of an executor make them."""
    from facebench.protocols import evaluate_shard

    if out is None or root is lists:
        raise ValueError("workers: give out= and the places of the lists, not trials=")
    file = file_for_all(embeddings)
    places = {"root": root, "lists": lists, "exclude": exclude, "embeddings": file}
    how = {name: os.path.abspath(place) for name, place in places.items() if place is not None}
    how |= {"protocol": protocol, "limit": limit, "options": options}
    how["allow_missing"] = allow_missing
    left_out = [out, f"{out}.shards"]
    contents: dict[str, str] = {
        n: state_of(how[n], left_out) for n in ("root", "lists", "exclude") if n in how
    }
    contents |= {"embeddings": _eval.sha256_file(file)}
    if isinstance(protocol, str | os.PathLike) and os.path.isfile(protocol):
        contents["protocol"] = _eval.sha256_file(protocol)
    identity = how | {"version": _eval.version(), "contents": contents}
    make = functools.partial(evaluate_shard, **how, threads=threads)
    return made_by(workers, out, identity, count, make)
