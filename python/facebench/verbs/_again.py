"""Some of a run's crops and embeddings made once more from the images, for `verify --again`."""

import os
import random
import tempfile
from pathlib import Path

import numpy as np

from facebench import _eval, analysis, datasets, pipeline
from facebench.core import Error
from facebench.io import read_embeddings
from facebench.verbs import _recorded
from facebench.verbs._recorded import Undone

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
        same, detail = _compared(Path(run), root, count, model, threads, progress)
    except Undone as why:
        same, detail = None, str(why)
    except (Error, ValueError, KeyError, TypeError, OverflowError, OSError) as why:
        same, detail = False, f"cannot be made again: {why}"
    return {"name": _NAME, "same": same, "detail": detail}


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
    folder = _recorded.images_folder(run, circumstance, root)
    if model is None:
        model = _recorded.model_file(run, content, circumstance, root)
    if not os.path.isdir(folder):
        raise Undone(f"the images lie in an archive, {folder}")
    row = {name: k for k, name in enumerate(kept.names)}
    places = [run, root or ""]
    there = [
        k
        for k, name in enumerate(then.names)
        if name in row and os.path.isfile(folder / name) and _eval.may_open(folder / name, places)
    ]
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
        crops = datasets.Pack(now).images[:]
    if embeddings.dim != kept.dim:
        return (
            False,
            f"embeddings.h5 has {kept.dim} numbers a face, the model gives {embeddings.dim}",
        )
    wrong = []
    for place, k in enumerate(drawn):
        name = then.names[k]
        a, b = embeddings.values[place], kept.values[row[name]]
        if embeddings.status[place] != kept.status[row[name]]:
            wrong.append(f"{name} (status)")
        elif not np.array_equal(crops[place], then.images[k]):
            wrong.append(f"{name} (crop)")
        elif embeddings.status[place] == 0 and 1 - _cosine(a, b) > _SAME:
            wrong.append(f"{name} (embedding, cosine {_cosine(a, b):.4f})")
    if wrong:
        others = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        return False, f"{len(wrong)} of {len(drawn)} differ: {', '.join(wrong[:10])}{others}"
    return True, f"{len(drawn)} of {len(there)} images, drawn now: the same faces and embeddings"


def _cosine(a, b):
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))
