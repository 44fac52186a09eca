"""Why a model's number is low: what it expects of its images, found by trying what is known."""

import itertools
import os
import tempfile
import time
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import _eval
from facebench._torch import full
from facebench.core import Error
from facebench.core._options import takes
from facebench.core._progress import stage
from facebench.detection._python_detectors import name_of as detector_name
from facebench.lab import claims
from facebench.lab.diagnosis import settings
from facebench.lab.diagnosis.development import (
    Development,
    Network,
    choose_pairs,
    part_for_choosing,
)
from facebench.lab.diagnosis.report import Diagnosis, Suspicions
from facebench.lab.diagnosis.search import Search, accuracy_of, probability_of
from facebench.lab.diagnosis.suspicion import suspicions
from facebench.protocols._load import protocol_place

__all__ = ["Diagnosis", "Suspicions", "diagnose"]


@takes(full.PreparationOptions)
def diagnose(
    model,
    protocol=None,
    *,
    root=None,
    images=None,
    lists=None,
    expect=None,
    limit=None,
    exif_orientation=False,
    output=None,
    cache=None,
    threads=0,
    progress=None,
    **options: "Unpack[full.PreparationOptionsKeywords]",
):
    """Why is a model's number low? Tries what it may expect of its images, a :class:`Diagnosis`.

    ``model``, ``output``: as for :func:`facebench.run`; its colour order, mean and std need not be
    known.
    ``protocol``: whose comparisons are taken: of LFW its development part (View 1), of lists and
    folders of your own at most so many as ``limit`` says (1000), half genuine and half impostor.
    Another protocol has no part for choosing: it is refused without a ``limit``. Tried are crops,
    sizes that the network takes, colour orders, means and scales of pixels and mirrored images: one
    factor at a time from the best so far, then two at once, on few comparisons first. ``expect``:
    the accuracy that was expected (99.48 is percent); its probability is given under each setting.
    ``options`` say how faces are found (``detector`` may be a callable, as for
    :func:`facebench.run`); ``exif_orientation``: photographs are turned as their Exif tags ask, as
    for :func:`facebench.run`; ``cache``: where crops are kept, as for :func:`facebench.run`.

    Or ``model`` is a run folder, and no protocol is given: what is suspicious in that run,
    :class:`Suspicions`.

    ValueError where a protocol has no part for choosing, or states no number of comparisons that
    ``expect`` could count; facebench.Error where images or lists are missing, and where there are
    fewer than ten genuine or impostor comparisons.

    >>> import pathlib, tempfile, facebench
    >>> faces = pathlib.Path(tempfile.mkdtemp()) / "faces"
    >>> few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    >>> _ = facebench.datasets.write_synthetic_dataset(few, faces)
    >>> def blue(batch):
    ...     return batch[:, ::16, ::16, 2].reshape(len(batch), -1)
    >>> own = {"root": faces / "images", "detector": "none"}
    >>> found = facebench.diagnose(blue, "folders", limit=40, **own)
    >>> found.comparisons, len(found.tried) > 2
    (40, True)
    """
    if protocol is None:
        if not isinstance(model, str | os.PathLike) or not os.path.isfile(Path(model) / "run.json"):
            raise ValueError("diagnose: give a protocol, or a run folder in place of a model")
        return Suspicions({"run": str(model), "found": suspicions(Path(model))})
    begun = time.monotonic()
    asked = protocol_place(protocol)
    if options.get("detector") is not None:
        options["detector"] = detector_name(options["detector"])
    part = part_for_choosing(asked, limit)
    named = {"root": root, "images": images, "lists": lists}
    places = {k: os.fspath(v) for k, v in named.items() if v is not None}
    if exif_orientation:
        places["exif_orientation"] = True
    spec = _eval.load_protocol(part)
    claim = None if expect is None else claims.check_claim(expect, asked)
    trials = _eval.read_trials(spec, places.get("root", ""), places.get("lists", ""))
    pairs = choose_pairs(trials, limit or 1000)
    network = Network(model, output)
    with tempfile.TemporaryDirectory() as folder:
        asked_for = {k: v for k, v in options.items() if v is not None}
        development = Development(network, part, pairs, places, asked_for, cache, folder, threads)
        development.detect(progress)
        sizes, refused = _sizes(network, development)
        with stage(progress, "diagnose", 0, "settings") as moved:
            search = Search(development, network.start(sizes[0]), sizes, _numbered(moved))
            best = search.run()
    changed = best.setting != search.start
    names = network.title, asked, places.get("root", "ROOT"), options.get("detector")
    content = {
        "model": network.title,
        "protocol": asked,
        "part": spec.title,
        "comparisons": len(search.pairs),
        "seconds": time.monotonic() - begun,
        "verdict": "another setting" if changed else "as given",
        "expected": None if claim is None else claim.value,
        "wrong": [_cost(factor, search.start, best, t) for factor, t in search.costs(best)],
        "refused": refused | search.refused,
        "untried": development.crops_of_others(),
        "batch_dependence": network.batch_dependence,
        "notes": [*_notes(development, spec, limit, best.setting.color)],
        "commands": settings.command(
            best.setting, *names, network.own_arithmetic, network.is_ours, output
        ),
    }
    if search.near_chance:
        content |= {"verdict": "near chance", "wrong": [], "commands": []}
    rows = {t.setting: t.to_dict() for t in search.trials.values()}
    if claim is not None:
        for setting, row in rows.items():
            t = search.trials[setting]
            right = accuracy_of(t.scores, search.pairs.genuine[: t.comparisons])
            row["probability"] = probability_of(claim.value, claim.total, *right)
    order = sorted(rows.values(), key=lambda row: (-row["comparisons"], row["behind"]))
    content |= {"best": rows[best.setting], "given": rows.get(search.start), "tried": order}
    return Diagnosis(content)


def _cost(factor, start, best, trial):
    as_given, better = (settings.text(factor, s) for s in (start, best.setting))
    lost = {"behind": trial.behind, "behind_interval": trial.behind_interval}
    return {"factor": settings.NAMES[factor], "given": as_given, "better": better} | lost


def _notes(development, spec, limit, color):
    network, images = development.network, len(development.pairs.names)
    if limit is not None:
        yield f"At most {limit} comparisons of {spec.title}: what is reported must be others."
    if network.assumed:
        yield f"The model does not say its {', '.join(network.assumed)}: that was assumed."
    if development.cropped_already:
        yield "The images are crops already: no other crop was tried."
    if development.missing:
        yield f"{development.missing} of {images} images are missing; not compared."
    if development.without_face:
        yield (
            f"{development.without_face} of {images} images have no face, or cannot be read; their "
            "comparisons have the lowest score."
        )
    if network.own_arithmetic and color != "rgb":
        yield "The function should turn its channels round: it is given red first."


def _numbered(moved):
    """Tells ``moved`` what is being tried, with a number that counts on."""
    count = itertools.count(1)
    return lambda text: moved(next(count), text)


def _sizes(network, development):
    """Sizes of crops that the network takes, and why it refuses the others."""
    if all(network.size):
        return (tuple(network.size),), {}
    crop = settings.WHOLE if development.cropped_already else "paper"
    taken, refused = [], {}
    for size in settings.SIZES:
        if any(fixed not in (0, side) for fixed, side in zip(network.size, size, strict=True)):
            continue
        setting = network.start(size).but(crop=crop)
        black = np.zeros((1, *size, 3), np.uint8)
        try:
            network.embed(black, setting, 1)
        except (Error, ValueError, RuntimeError) as error:
            refused[f"{size[1]}x{size[0]}"] = str(error).splitlines()[0]
        else:
            taken.append(size)
    if not taken:
        raise Error(f"diagnose: the network takes no size that is known: {refused}")
    return tuple(taken), refused
