"""The steps put together: what the command line's verbs do, as functions.

``run`` goes from photographs to a run folder, ``demo`` does the main job on synthetic faces;
``pack`` and ``embed`` are single steps. All of them are also functions of the package itself,
beside those that need no torch: ``facebench.evaluate``, ``facebench.report``, ``facebench.verify``.
"""

import os as _os
import tempfile as _tempfile
from pathlib import Path as _Path
from typing import Any as _Any

from facebench import (
    _compare,
    _foreign,
    _torch,
)
from facebench import (
    datasets as _datasets,
)
from facebench import (
    embedding as _embedding,
)
from facebench import (
    reports as _reports,
)
from facebench._light import (
    evaluate,
    report,
    verify,
)
from facebench.datasets import Pack as _Pack
from facebench.datasets import PackOptions as _PackOptions
from facebench.embedding import ExtractOptions as _ExtractOptions
from facebench.io import write_embeddings as _write_embeddings
from facebench.protocols import EvaluationOptions as _EvaluationOptions
from facebench.protocols import Result as _Result

_full = _torch.full
DemoOptions = _full.DemoOptions
PreparationOptions = _full.PreparationOptions

__all__ = [
    "Demo",
    "DemoOptions",
    "PreparationOptions",
    "demo",
    "embed",
    "evaluate",
    "pack",
    "report",
    "run",
    "verify",
]


def __dir__():
    return __all__


def _preparation(detector, detector_options, selection, crop, crop_size):
    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)

    width, height = crop_size if isinstance(crop_size, tuple | list) else (crop_size, crop_size)
    return PreparationOptions(
        detector=detector,
        detector_options=[f"{k}={text(v)}" for k, v in (detector_options or {}).items()],
        selection=selection,
        crop=crop,
        crop_width=width,
        crop_height=height,
    )


def _split(options, *kinds):
    """Keywords sorted into option classes. A keyword that none of them has goes to the first, whose
    error suggests a similar name."""
    given = [{} for _ in kinds]
    fields = [{f["name"] for f in kind.fields()} for kind in kinds]
    for name, value in options.items():
        home = next((i for i, known in enumerate(fields) if name in known), 0)
        given[home][name] = value
    return [kind(**values) for kind, values in zip(kinds, given, strict=True)]


def pack(
    dataset,
    root,
    out,
    *,
    detector=None,
    detector_options=None,
    selection=None,
    crop=None,
    crop_size=None,
    exclude=None,
    skip_damaged=0,
    threads=0,
    progress=None,
    **options,
):
    """Detect, crop and store a data set in one file, ready for training and embedding.

    ``dataset``: a name of `facebench.datasets.dataset_readers`. What is None is the library's
    default (mtcnn, nearest_center, arcface112); ``detector="none"`` takes the whole image.
    ``crop_size``: one number or (width, height); None = the crop's own. ``exclude``: a list of
    people and samples to leave out, as `facebench.datasets.find_overlap` makes them; the pack's
    manifest records it. ``skip_damaged``: how many entries of an archive may be damaged; they are
    left out, and the manifest lists them. ``options`` are fields of `PackOptions`. Returns a
    `PackSummary`: counts by status, failures with reasons, the tree hash.
    """
    (packing,) = _split(options, _PackOptions)
    images = _datasets.read_dataset(dataset, root, skip_damaged)
    return _full.prepare(
        images if exclude is None else _datasets.exclude(images, exclude),
        out,
        _preparation(detector, detector_options, selection, crop, crop_size),
        packing,
        threads,
        progress,
    )


def embed(model, pack, out=None, *, threads=0, progress=None, **options):
    """Embed every face of a pack, or of an archive of crops; an `EmbeddingSet`, written to ``out``
    where given.

    ``model``: as for `run`. ``pack``: its path, or an opened one; or a folder of photographs,
    which need not be sorted by people: each is detected and cropped as the model says, and named by
    its path below the folder. ``options`` are fields of
    `ExtractOptions`: flip, normalization, micro_batch, precision; and mean, std, color (see
    `facebench.embedding.load_embedder`).
    """
    pixels = _foreign.take_pixels(options)
    (extract,) = _split(options, _ExtractOptions)
    embedder = _embedding.load_embedder(model, **pixels)
    _foreign.warn_of_assumptions(embedder, extract.flip)
    source = pack
    if isinstance(pack, (str, _os.PathLike)):
        if _datasets.find_image_archive(pack) is not None:
            source = _datasets.DecodedImages(_datasets.read_archive(pack))
        elif not _os.path.isdir(pack):
            source = _Pack(pack)
    if isinstance(source, (str, _os.PathLike)):
        result = _compare.embed_folder(embedder, source, extract, threads, progress)
    else:
        result = _embedding.extract(embedder, source, extract, threads=threads, progress=progress)
    if out is not None:
        _write_embeddings(out, result)
    return result


def run(
    protocol,
    *,
    model,
    root: str | _os.PathLike = "",
    out=None,
    images=None,
    lists=None,
    detector=None,
    detector_options=None,
    selection=None,
    crop=None,
    crop_size=None,
    exclude=None,
    limit=None,
    discard=False,
    overwrite=False,
    cache=None,
    command="",
    threads=0,
    progress=None,
    **options,
) -> _Any:  # a Result, or of several protocols a dict of them
    """From photographs to a result in one go: detect, crop, embed, evaluate, report.

    ``protocol``: a name or a ``.toml`` file; or a list of them, which are run one after the other
    on the same data set: ``out`` then holds a run folder for each, and the result is a dict by
    name. ``model``: a model file of ours, an ``.onnx`` file,
    ``"module:function"`` or a callable (see `facebench.embedding.Embedder`). ``root``: the data set
    as its authors distribute it, or ``images`` and ``lists``. ``detector``, ``selection`` and
    ``crop`` are what the model says unless given; a model file of ours says it, and an ``.onnx``
    file made of one. ``options`` are fields of `EvaluationOptions` (convention, replicates, seed,
    ...), `ExtractOptions` (flip, normalization, ...) and `PackOptions`; and, where the model does
    not say it itself, mean, std and color of its pixels (see `facebench.embedding.load_embedder`).
    ``out``: the run folder; left out, no file is kept. ``cache``: a folder where packs and
    embeddings are kept by all that decides their bytes (docs/suite.md), for later runs to take. The
    result is the same to the byte, and its ``reused`` names what was taken. Embeddings of a Python
    function are not kept: nothing says what it computes.

    ``exclude``: a list of people and samples to leave out (as for `pack`), for a data set that
    cannot be changed; their images are not opened. ``limit``: for a quick look, at most so many
    comparisons of a list, spread evenly, or so many images of a protocol without lists; the result
    and its report say so.

    Returns a `facebench.protocols.Result`, which shows itself as a table in Jupyter.

    >>> import pathlib, tempfile, facebench
    >>> faces = pathlib.Path(tempfile.mkdtemp()) / "faces"
    >>> few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    >>> _ = facebench.datasets.write_synthetic_dataset(few, faces)
    >>> def colours(batch):
    ...     return batch[:, ::16, ::16].reshape(len(batch), -1)
    >>> result = facebench.run("lfw", model=colours, root=faces, detector="none", replicates=20)
    >>> result.tracks["view2"].comparisons
    80
    """
    each = _by_name(protocol) if isinstance(protocol, list | tuple) else None
    model = _foreign.ready_model(model, options.get("flip"), **_foreign.take_pixels(options))
    if each is not None:
        own = ("options", "out", "protocol", "each")
        given = {name: value for name, value in locals().items() if name not in own}
        return {
            name: run(one, out=None if out is None else _Path(out) / name, **given, **options)
            for name, one in each.items()
        }
    evaluation, extract, packing = _split(
        options, _EvaluationOptions, _ExtractOptions, _PackOptions
    )
    reused = []
    arguments = {
        "root": root or "",
        "images": images or "",
        "lists": lists or "",
        "preparation": _preparation(detector, detector_options, selection, crop, crop_size),
        "pack": packing,
        "extract": extract,
        "evaluation": evaluation,
        "exclude": exclude,
        "limit": limit,
        "overwrite": overwrite,
        "cache": cache or "",
        "reused": reused.append,
        "command": command,
        "threads": threads,
        "progress": progress,
    }
    protocol = _os.fspath(protocol)
    if out is None:
        with _tempfile.TemporaryDirectory() as folder:
            raw = _full.run(protocol, model, _Path(folder) / "run", discard=True, **arguments)
    else:
        raw = _full.run(protocol, model, out, discard=discard, **arguments)
        _reports.write_run_pages(out)
    result = _Result(raw, str(root or ""), threads)
    result.reused = reused
    return result


def _by_name(protocols):
    """Several protocols of one `run`, by the names of their run folders."""
    named = {_Path(p).stem: p for p in protocols}
    if not named or len(named) < len(protocols):
        raise ValueError("protocol: give a protocol, or several with different names")
    return named


class Demo:
    """What `demo` made: ``folder``, ``report`` (the HTML page), ``runs`` (for each protocol the run
    folders by system), ``steps`` with times."""

    def __init__(self, raw):
        self.folder = _Path(raw["folder"])
        self.report = self.folder / "report.html"
        self.runs = {}
        for run in raw["runs"]:
            self.runs.setdefault(run["protocol"], {})[run["title"]] = self.folder / run["folder"]
        self.steps = raw["steps"]

    def to_dict(self):
        return {
            "folder": str(self.folder),
            "report": str(self.report),
            "runs": {
                protocol: {title: str(path) for title, path in systems.items()}
                for protocol, systems in self.runs.items()
            },
            "steps": self.steps,
        }

    def __repr__(self):
        lines = [f"{s['name']:<22} {s['seconds']:6.1f} s  {s['detail']}" for s in self.steps]
        runs = [(t, p) for systems in self.runs.values() for t, p in systems.items()]
        table = _reports.table([p for _, p in runs], "markdown", [t for t, _ in runs])
        return "\n".join([*lines, "", table.rstrip(), "", f"report: {self.report}"])


def _demo_page(raw):
    folder = _Path(raw["folder"])
    runs = [folder / run["folder"] for run in raw["runs"]]
    steps = [[s["name"], s["detail"], round(s["seconds"], 1)] for s in raw["steps"]]
    sections = [
        _reports.text_section(
            "What this is",
            "The main job from end to end on faces that the project renders itself: no photograph "
            "and no learned weights but the detector's. Nobody is both trained and tested on. "
            "Compared are the network after a minute of training, the same network untrained, "
            "and the crop's own pixels. Where two intervals do not overlap, the systems differ by "
            "more than chance explains.",
        ),
        _reports.image_section(
            "Synthetic faces",
            folder / "sheet.png",
            "A row for each person, a column for each kind of photograph.",
        ),
        _reports.runs_section(
            "Unseen people, by protocol", runs, [run["title"] for run in raw["runs"]]
        ),
        _reports.table_section("Steps", ["step", "what came of it", "seconds"], steps),
    ]
    for run_folder in runs:
        _reports.write_run_pages(run_folder)
    _reports.write_html(folder / "report.html", "facebench demo", sections)


def demo(out, *, threads=0, progress=None, **options):
    """The main job on synthetic faces: render, detect, crop, train, embed, evaluate, report.

    Takes minutes. ``options`` are fields of `DemoOptions`; the result, a `Demo`, lies in the folder
    ``out``: an earlier demo there is replaced, anything else refused.
    """
    raw = _full.demo(DemoOptions(**options), out, threads, progress)
    _demo_page(raw)
    return Demo(raw)
