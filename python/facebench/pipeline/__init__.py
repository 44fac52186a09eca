"""The steps put together: what the command line's verbs do, as functions.

``run`` goes from photographs to a run folder, ``demo`` does the main job on synthetic faces;
``pack`` and ``embed`` are single steps. All of them are also functions of the package itself,
beside those that need no torch: ``facebench.evaluate``, ``facebench.report``, ``facebench.verify``.
"""

import contextlib
import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from facebench import __version__, _eval, datasets, embedding
from facebench._frte import FrteLibrary, library_from, library_of
from facebench._full import remote_address
from facebench._library import full
from facebench._onnx import file as onnx_file
from facebench.core import Error, _files, _log
from facebench.core._arguments import of_kind, path_text
from facebench.core._options import known, takes
from facebench.core._parts import state_of
from facebench.core._shards import executor_of, made_by
from facebench.core._when_asked import when_asked
from facebench.datasets._remote import on_this_machine, one_by_one, written_to
from facebench.detection._python_detectors import name_of as detector_name
from facebench.embedding import _foreign, _photographs, _public_models
from facebench.io import EmbeddingSet, read_h5_manifest, sha256_file, write_embeddings
from facebench.protocols import Result, evaluate
from facebench.protocols._load import protocol_place
from facebench.reports.results import write_run_pages

if TYPE_CHECKING:
    from facebench.pipeline._demo import Demo, demo

__getattr__ = when_asked(__name__)

DemoOptions = full.DemoOptions
PackRequest = full.PackRequest
PreparationOptions = full.PreparationOptions
RunRequest = full.RunRequest

__all__ = [
    "Demo",
    "DemoOptions",
    "FrteLibrary",
    "PackRequest",
    "PreparationOptions",
    "RunRequest",
    "demo",
    "embed",
    "evaluate",
    "is_pack",
    "library_from",
    "merge_packs",
    "pack",
    "run",
]


@takes(full.PackRequest)
def pack(
    dataset,
    root,
    out,
    *,
    shard="",
    workers=None,
    shards=None,
    device="cpu",
    threads=0,
    progress=None,
    **options: "Unpack[full.PackRequestKeywords]",
) -> full.PackSummary:
    """Detect, crop and store a data set in one file, ready for training and embedding.

    ``dataset``: a name of `facebench.datasets.dataset_readers`. ``options`` are fields of
    `PackRequest`; what is None is the library's default (mtcnn, nearest_center, arcface112).
    ``detector`` may be a callable (`facebench.detection.make_detector`); what it finds is not kept
    for later runs. ``detector="none"`` takes the whole image, ``detector_options`` are a dict,
    ``crop_size`` is one number or (width, height); None = the crop's own. ``exclude``: a list of
    people and samples to leave out, as `facebench.datasets.find_overlap` makes them; ``only``: one
    of those that alone stay, a person a line. The pack's manifest records it.
    ``device``: where faces are found (cpu, cuda, cuda:N), by detectors with that option.
    ``skip_damaged``: how many entries of an archive may be damaged; they are left out, and the
    manifest lists them. ``label``: of an archive, the column, key, feature or ending that says who
    it is, of a folder the level of the people's folders, "1" or "2"; ``split``: of Parquet and
    Arrow, which split of several. Returns a `PackSummary`: counts by status, failures with reasons,
    the tree hash.

    Of a large set other machines, which see the same files, make parts. Either ``workers``, any
    `concurrent.futures.Executor`, makes ``shards`` of them (None: four for each of its threads),
    which lie beside ``out`` until they are joined; or ``shard``, "3/16", makes the third of
    sixteen, a pack by itself, and `merge_packs` joins them. The result has the bytes that one
    process writes. ``out`` may be an address, s3://bucket/x.h5 (`facebench[remote]`).
    """
    _name_detector(options)
    _put_device(options, device)
    request = PackRequest(**known(pack, options))
    if workers is None:
        with written_to(out) as file:
            return full.pack(dataset, root, file, request, shard, threads, progress)
    _refuse_address(out)
    executor_of(workers)
    root, options_said = os.path.abspath(root), request.to_dict()
    identity = {
        "dataset": dataset,
        "root": root,
        "version": __version__,
        "images": state_of(root, [out, f"{out}.shards"]),
        "files": _hashes_of_files(options_said),
        **options_said,
    }
    make = functools.partial(pack, dataset, root, threads=threads, **options)
    with made_by(workers, out, identity, shards, make) as files:
        return full.merge_packs(files, out, progress=progress)


def is_pack(path) -> bool:
    """Whether a file, or an address, is a pack."""
    with on_this_machine(path) as file:
        return full.is_pack(file)


def merge_packs(shards, out, *, progress=None) -> full.PackSummary:
    """All shards of a pack, in any order, as one file: the bytes that one process writes.

    Files or addresses; one with ``*`` names several. Error where one is missing or there twice, or
    where they are of different data sets or options.
    """
    with contextlib.ExitStack() as copies:
        files = [copies.enter_context(on_this_machine(s)) for s in one_by_one(shards)]
        with written_to(out) as file:
            return full.merge_packs(files, file, progress=progress)


def _refuse_address(out) -> None:
    if isinstance(out, str | os.PathLike) and (address := remote_address(out)):
        raise ValueError(
            f"{address}: workers leave their parts beside the result, on disks that all of them "
            "see; on an object store make the parts by shard=, and merge them"
        )


def _name_detector(options: Any) -> None:
    """Puts its name in place of a detector that is a callable."""
    if options.get("detector") is not None:
        options["detector"] = detector_name(options["detector"])


def _put_device(options: Any, device: str) -> None:
    """The device as an option of the detector, which may state its own."""
    if of_kind(device, str, "device") == "cpu":
        return
    if options.get("detector") == "none":
        raise ValueError(f"device {device}: no detector is run (detector='none')")
    said = options.get("detector_options") or {}
    if isinstance(said, dict):
        options["detector_options"] = {"device": device} | said
    elif not any(text.startswith("device=") for text in said):
        options["detector_options"] = [*said, f"device={device}"]


def _hashes_of_files(options) -> dict:
    """The SHA-256 of each file that the options of `pack` name: a list, a detector's weights."""
    lists = [str(options.get(name) or "") for name in ("exclude", "only")]
    texts = [*lists, *(options.get("detector_options") or [])]
    files = [text.partition("=")[2] or text for text in texts]
    hashes = {file: sha256_file(file) for file in files if os.path.isfile(file)}
    if options.get("detector") in (None, "mtcnn"):
        with contextlib.suppress(Error):  # the workers may have it
            weights = full.default_mtcnn_weights()
            hashes["mtcnn"] = sha256_file(weights)
    return hashes


def _weights_beside(model) -> dict:
    """The files beside an ONNX file that hold its weights, with their hashes."""
    return onnx_file.hashes_beside(model) if model.endswith(".onnx") else {}


@takes(full.ExtractOptions)
def embed(
    model,
    pack,
    out=None,
    *,
    mean=None,
    std=None,
    color=None,
    output=None,
    providers=None,
    shard="",
    workers=None,
    shards=None,
    exif_orientation=False,
    threads=0,
    progress=None,
    **options: "Unpack[full.ExtractOptionsKeywords]",
) -> EmbeddingSet:
    """Embed every face of a pack, or of an archive of crops; an `EmbeddingSet`, written to ``out``
    where given.

    ``model``, ``mean``, ``std``, ``color``, ``output``, ``providers``: as for `run`. ``pack``: its
    path, or an opened one; or a folder of photographs, which need not be sorted by people: each is
    detected and cropped as the model says, and named by its path below the folder. ``options`` are
    fields of `ExtractOptions`: flip, normalization, micro_batch, precision, device, executor.
    ``exif_orientation``: turn the photographs of a folder as their Exif tags ask; a UserWarning
    counts those that were not.

    ``shard``: "3/16" embeds the third of sixteen parts of a pack or archive;
    `facebench.embedding.merge_shards` joins them. ``workers``, any `concurrent.futures.Executor`,
    makes ``shards`` of them (None: four for each of its threads), which lie beside ``out`` until
    they are joined; model and pack are then files that all machines see. The result has the bytes
    that one process writes.
    """
    of_kind(shard, str, "shard")
    if isinstance(pack, str | os.PathLike) and _is_remote_pack(pack):
        with on_this_machine(pack) as copy:
            return embed(
                model, copy, out, mean=mean, std=std, color=color, output=output,
                providers=providers, shard=shard, workers=workers, shards=shards,
                exif_orientation=exif_orientation, threads=threads, progress=progress, **options,
            )  # fmt: skip
    is_folder = isinstance(pack, str | os.PathLike) and os.path.isdir(pack)
    if exif_orientation and not is_folder:
        raise ValueError(
            "exif_orientation: is of a folder of photographs; a pack was made with or without it"
        )
    if workers is not None:
        executor_of(workers)
        asked = {"mean": mean, "std": std, "color": color, "output": output, **options}
        asked["providers"] = providers
        return _embed_shared(model, pack, out, asked, shards, workers, threads)
    extract = full.ExtractOptions(**known(embed, options))
    pixels = {"mean": mean, "std": std, "color": color, "output": output, "providers": providers}
    embedder = embedding.load_embedder(model, extract, **pixels)
    _foreign.warn_of_assumptions(embedder, extract.flip)
    source = pack
    if isinstance(pack, (str, os.PathLike)):
        if datasets.find_image_archive(pack) is not None:
            source = datasets.DecodedImages(datasets.read_archive(pack))
        elif not os.path.isdir(pack):
            source = datasets.Pack(pack)
    if isinstance(source, (str, os.PathLike)):
        if shard:
            raise ValueError(f"shard: '{source}' is a folder of photographs; pack it first")
        how = {"threads": threads, "progress": progress, "exif_orientation": exif_orientation}
        result = _photographs.embed_folder(embedder, source, extract, **how)
    else:
        how = {"shard": shard, "threads": threads, "progress": progress}
        result = embedding.extract(embedder, source, extract, **how)
    if out is not None:
        with written_to(out) as file:
            write_embeddings(file, result)
    return result


def _is_remote_pack(pack) -> bool:
    return remote_address(pack) is not None and datasets.find_image_archive(pack) is None


def _embed_shared(model, pack, out, options, shards, workers, threads):
    if out is None:
        raise ValueError("workers: give out=, beside which the shards lie until they are joined")
    _refuse_address(out)
    if row := _public_models.public_model(str(model)):
        said = _public_models.preparation(row) | {k: v for k, v in options.items() if v is not None}
        options = {name: value for name, value in said.items() if name != "crop"}
        model = row.find()[0]
    files = [os.path.abspath(path_text(f, n)) for f, n in ((model, "model"), (pack, "pack"))]
    identity = {
        "model": [sha256_file(files[0]), _weights_beside(files[0])],
        "pack": [_content_of(files[1]), state_of(files[1], [out, f"{out}.shards"])],
        "version": __version__,
        **options,
    }
    make = functools.partial(embed, *files, threads=threads, **options)
    with made_by(workers, out, identity, shards, make) as parts:
        return embedding.merge_shards(parts, out)


def _content_of(source: str) -> str:
    """The hash of a pack's manifest, which has that of its photographs and all options; "" of an
    archive. Neither is read as a whole: that would be hours of a large one."""
    if datasets.find_image_archive(source) is not None:
        return ""
    text = json.dumps(read_h5_manifest(source), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@takes(full.RunRequest)
def run(
    protocol,
    *,
    model,
    out=None,
    mean=None,
    std=None,
    color=None,
    output=None,
    providers=None,
    command="",
    threads=0,
    progress=None,
    **options: "Unpack[full.RunRequestKeywords]",
) -> Any:  # a Result, or of several protocols a dict of them
    """From photographs to a result in one go: detect, crop, embed, evaluate, report.

    ``protocol``: a name or a ``.toml`` file; or a list of them, which are run one after the other
    on the same data set: ``out`` then holds a run folder for each, and the result is a dict by
    name. ``model``: a model file of ours, an ``.onnx`` file, ``"module:function"``, ``"dlib"`` or a
    callable (see `facebench.embedding.load_embedder`, `facebench.embedding.Embedder`); or a library
    of NIST's FRTE 1:1, a ``.so`` file or a `FrteLibrary`, whose code is run under confinement and
    compares photographs by itself. ``mean``,
    ``std``, ``color``: of its pixels, where the model does not say it itself; ``output``: which of
    an ``.onnx`` file's outputs is the embedding; ``providers``: of onnxruntime, in their order
    (`facebench.embedding.OnnxEmbedder`). ``out``: the run folder; left out, no file is kept.

    ``options`` are fields of `RunRequest`. ``root``: the data set as its authors distribute it, or
    ``images`` and ``lists``. ``detector``, ``selection`` and ``crop`` are what the model says
    unless given; a model file of ours says it, and an ``.onnx`` file made of one. How to evaluate
    (convention, replicates, seed, ...), to embed (flip, normalization, ...) and to pack.
    ``cache``: a folder where packs and
    embeddings are kept by all that decides their bytes (docs/suite.md), for later runs to take;
    left out ``runs/cache`` below the working directory, as on the command line, and none where no
    run folder is kept (without ``out``, with ``discard``) or with ``cache=""``. The result is
    the same to the byte; its ``cache`` says where, and ``reused`` what was taken. Embeddings of a
    Python function are not kept: nothing says what it computes.

    ``exclude``, ``only``: lists of people and samples to leave out, or that alone stay (as for
    `pack`), for a data set that cannot be changed; the others' images are not opened. ``limit``:
    for a quick look, at most so many comparisons of a list, spread evenly, or so many images of a
    protocol without lists; the result and its report say so.

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
    _name_detector(options)
    library = library_of(model)
    kept = None if library else out
    options["cache"] = _cache_of(options.get("cache"), kept, options.get("discard"))
    request = RunRequest(**known(run, options))
    several = _by_name(protocol) if isinstance(protocol, list | tuple) else {}
    pixels = {"mean": mean, "std": std, "color": color, "output": output, "providers": providers}
    if library:
        if said := [name for name, value in pixels.items() if value is not None]:
            raise ValueError(f"{', '.join(said)}: a library of FRTE does its own arithmetic")
        model = library
    else:
        model = _foreign.ready_model(model, request, **pixels)
    how = {"model": model, "command": command, "threads": threads, "progress": progress}
    if several:
        places = {n: None if out is None else Path(out) / n for n in several}
        return {n: run(p, out=places[n], **how, **options) for n, p in several.items()}
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            request.discard = True
            return _run(protocol_place(protocol), Path(folder) / "run", request, None, **how)
    return _run(protocol_place(protocol), out, request, write_run_pages, **how)


def _cache_of(cache, out, discard) -> str | os.PathLike:
    """Where packs and embeddings are kept; "" = nowhere."""
    if cache is None and out is not None and not discard:
        return _files.KEPT or ""
    return cache or ""


def _run(protocol, out, request, pages, *, model, command, threads, progress) -> Result:
    if isinstance(model, FrteLibrary):
        from facebench._frte.scores import run_library

        _eval.refuse_taken(out, request.overwrite)
        result = run_library(protocol, model, request, threads, progress)
        if pages is not None:
            result.save(out, overwrite=request.overwrite, command=command)
        return result
    reused: list[str] = []
    told = (command, reused.append, pages)
    raw = full.run(protocol, model, out, request, *told, threads, progress)
    result = Result(raw, request.root or "", threads)
    result.reused, result.cache = reused, str(request.cache or "")
    if result.cache:
        _log.logger.info("packs and embeddings are kept in %s", result.cache)
    if reused:
        _log.logger.info("taken from %s: %s", result.cache, ", ".join(reused))
    return result


def _by_name(protocols):
    """Several protocols of one `run`, by the names of their run folders."""
    named = {Path(p).stem: p for p in protocols}
    if not named or len(named) < len(protocols):
        raise ValueError("protocol: give a protocol, or several with different names")
    return named
