"""Some of a run's crops and embeddings made once more from the images, for `verify --again`."""

import os
import random
import tempfile
from pathlib import Path

import numpy as np

from facebench import _eval, analysis, datasets, pipeline
from facebench._frte import library_of
from facebench._frte.scores import scores_again
from facebench._library import full
from facebench.core import Error
from facebench.images import DecodeOptions
from facebench.io import read_embeddings
from facebench.protocols import load
from facebench.verbs import _recorded
from facebench.verbs._recorded import Undone

_SCORES = "scores from the photographs"
_NAME = "crops and embeddings from the images"
# 1 less the cosine; another processor or library rounds otherwise, another face is far from it.
_SAME = 1e-4


def check_again(run, root, count, model=None, threads=0, progress=None):
    """Detects, crops and embeds ``count`` images of a run, drawn anew each time, as the run says it
    did, and compares with its pack.h5 and embeddings.h5: a check, {"name", "same", "detail"}.

    ``model``: as for `facebench.run`; None: the file that the run names, if it is the same one.
    What is not there (pack, model, images in an archive) leaves the check undone, with the reason.
    The run may be a stranger's: `_recorded` says what it may decide.
    """
    try:
        content = analysis.read_run(run, check=False)["content"]
        if isinstance(content, dict) and "matcher" in content:
            same, detail = _scored_again(run, content, root, count, model, threads)
            return {"name": _SCORES, "same": same, "detail": detail}
        same, detail = _compared(Path(run), root, count, model, threads, progress)
    except Undone as why:
        same, detail = None, str(why)
    except (Error, ValueError, KeyError, TypeError, OverflowError, OSError) as why:
        same, detail = False, f"cannot be made again: {why}"
    return {"name": _NAME, "same": same, "detail": detail}


def _scored_again(run, content, root, count, model, threads):
    """Some of the scores of a library of FRTE once more. Its code is run only where the caller, and
    not the run, names it."""
    library = library_of(model)
    if library is None:
        raise Undone(
            "the scores are those of a library of FRTE, whose code is run only where you name it: "
            "--model LIBRARY.so"
        )
    matcher = _recorded.table_at(content, "matcher")
    for said, is_now in (("sha256", library.sha256), ("config_sha256", library.config_sha256)):
        if matcher.get(said) != is_now:
            return False, f"the run says another {said} than {library.path} has"
    if not root:
        raise Undone("the photographs: say where the data set lies (--root)")
    protocol = _recorded.table_at(content, "protocol").get("id")
    if protocol not in _eval.protocol_names():
        raise Undone("the protocol is not one of facebench's")
    result = load(run)
    _recorded.names_below(result._raw.trials.names)
    result.content = {"matcher": {"decode": DecodeOptions(**matcher["decode"]).to_dict()}}
    dataset = full.protocol_dataset(protocol, root, "", "")
    draw = random.SystemRandom().sample
    done, wrong = scores_again(result, library, dataset, count, draw, threads)
    if wrong:
        more = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        return False, f"{len(wrong)} of {done} scores differ: {', '.join(wrong[:10])}{more}"
    if not done:
        return None, "no comparison with two templates was drawn"
    return True, f"{done} scores, drawn now, made again by {library.path.name}: the same"


def _compared(run, root, count, model, threads, progress):
    record = analysis.read_run(run, check=False)
    content = _recorded.table_at(record, "content")
    circumstance = _recorded.table_at(record, "circumstance")
    for name in ("pack.h5", "embeddings.h5"):
        if not os.path.isfile(run / name):
            raise Undone("pack.h5 and embeddings.h5 are not in the run folder")
        if not _eval.may_open(run / name, [run]):
            raise Error(f"{run / name}: is a link that leads out of the run folder")
    extract = _recorded.extract_options(content)
    if extract["device"] != "cpu":
        extract["device"] = "auto"
    prepared = _recorded.preparation(content)
    then, kept = datasets.Pack(run / "pack.h5"), read_embeddings(run / "embeddings.h5")
    _recorded.names_below(then.names)
    if list(then.names) != list(kept.names) or len(set(then.names)) != len(then.names):
        raise Error(
            "pack.h5 and embeddings.h5 do not hold the same images, each once, in one order"
        )
    folder = _recorded.images_folder(run, content, circumstance, root)
    stated = model
    if model is None:
        model = _recorded.model_file(run, content, circumstance, root)
    _recorded.check_model(model, content)
    if not os.path.isdir(folder):
        raise Undone(f"the images lie in an archive, {folder}")
    places = [run, root or ""]
    there = [
        k
        for k, name in enumerate(then.names)
        if os.path.isfile(folder / name) and _eval.may_open(folder / name, places)
    ]
    asked = min(count, len(then.names))
    if not there:
        raise Undone(f"the images are not in {folder}")
    drawn = sorted(random.SystemRandom().sample(there, min(count, len(there))))
    with tempfile.TemporaryDirectory() as work:
        for place, k in enumerate(drawn):
            file = folder / then.names[k]
            link = Path(work) / "images" / f"{place:09}" / f"image{file.suffix}"
            link.parent.mkdir(parents=True)
            link.symlink_to(file.absolute())
        now = Path(work) / "pack.h5"
        pipeline.pack("folder", Path(work) / "images", now, threads=threads, **prepared)
        how = {"threads": threads, "progress": progress, **extract}
        embeddings = pipeline.embed(model, now, **_recorded.pixels(model, content), **how)
        made = datasets.Pack(now)
        wrong = _wrong_images(drawn, then, kept, made, embeddings)
        others = _recorded.other_statements(content, embeddings.manifest, made.manifest, stated)
        if len(drawn) == len(then.names):
            others += _recorded.other_sums(content, made.manifest)
    if others:
        return (
            False,
            f"run.json says something else of the model or how it ran: {', '.join(others)}",
        )
    if wrong:
        more = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        return False, f"{len(wrong)} of {len(drawn)} differ: {', '.join(wrong[:10])}{more}"
    if len(drawn) < asked:
        return None, f"only {len(drawn)} of the {asked} images asked for are in {folder}"
    return True, (
        f"{len(drawn)} of {len(there)} images, drawn now: the same faces and embeddings, by "
        f"the model that run.json says. {_power(len(drawn), len(then.names))}"
    )


def _wrong_images(drawn, then, kept, made, embeddings) -> list[str]:
    """The drawn images whose face or embedding is another, with what of it is."""
    if embeddings.dim != kept.dim:
        return [
            f"all (embeddings.h5 has {kept.dim} numbers a face, the model gives {embeddings.dim})"
        ]
    crops, wrong = made.images[:], []
    for place, k in enumerate(drawn):
        name = then.names[k]
        a, b = embeddings.values[place], kept.values[k]
        if embeddings.status[place] != kept.status[k] or made.statuses[place] != then.statuses[k]:
            wrong.append(f"{name} (status)")
        elif not np.array_equal(crops[place], then.images[k]):
            wrong.append(f"{name} (crop)")
        elif not _equal(made.boxes[place], then.boxes[k]):
            wrong.append(f"{name} (box)")
        elif not _equal(made.landmarks[place], then.landmarks[k]):
            wrong.append(f"{name} (landmarks)")
        elif embeddings.status[place] == 0 and 1 - _cosine(a, b) > _SAME:
            wrong.append(f"{name} (embedding, cosine {_cosine(a, b):.4f})")
        elif embeddings.status[place] == 0 and not _same_length(a, b):
            wrong.append(f"{name} (length of the embedding)")
    return wrong


def _power(drawn, images) -> str:
    """What a draw of that many images finds."""
    if drawn == images:
        return "These are all of the run."
    share = 1 - 0.05 ** (1 / drawn)
    return f"A run of which {100 * share:.2g} % were changed would be found 95 times in 100."


def _equal(a, b):
    return np.allclose(a, b, atol=0.01, equal_nan=True)


def _same_length(a, b):
    """Of unit rows it is one; else another factor would weigh an image otherwise in a template."""
    return np.isclose(np.linalg.norm(a), np.linalg.norm(b), rtol=1e-3)


def _cosine(a, b):
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))
