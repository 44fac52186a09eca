"""``facebench embed``: embeddings of a pack."""

from collections import Counter
from pathlib import Path
from typing import Any

import facebench
from facebench.cli import common
from facebench.cli.options import argument
from facebench.cli.verb import Answer, verb
from facebench.core._arguments import number_and_first
from facebench.core._options import known


@verb(
    "facebench embed m.safetensors lfw.h5 --out lfw-m.h5",
    lambda: common.request(facebench.embedding.ExtractOptions),
)
def embed(
    model: argument(common.MODEL_HELP),
    pack: argument("A pack, a .rec, .bin or .tar of crops, or a folder of photographs.", Path),
    setting: common.setting(f"{common.PIXELS_HELP} Or of the extraction: flip=none.") = None,
    output: common.Output = None,
    providers: common.Providers = None,
    exif_orientation: common.ExifOrientation = False,
    shard: common.Shard = "",
    shards: common.Shards = None,
    workers: common.Workers = "",
    out: common.Out = None,
    threads: common.Threads = 0,
    **options,
):
    """Embed every face of a pack, or of a folder of photographs, with a model."""
    from facebench.embedding import ExtractOptions, _foreign  # needs torch

    common.parse_request(options)
    common.add_outputs(options, output, providers)
    common.add_settings(options, setting)
    known(facebench.embed, options)
    common.say_cost(options["precision"], options["device"])
    how: dict[str, Any]
    if workers:
        source, how = model, {"workers": common.executor(workers), "shards": shards}
    else:
        pixels = _foreign.take_pixels(options)
        source = facebench.embedding.load_embedder(model, ExtractOptions(**options), **pixels)
        how = {"shard": shard}
    name = common.shard_name(Path(model).stem, shard)
    path = common.out_path(out, "embed", name, ".h5")
    how |= {"threads": threads, "exif_orientation": exif_orientation}
    embeddings = facebench.embed(source, pack, path, **how, **options)
    rows, dim = embeddings.values.shape
    counts = Counter(facebench.io.SampleStatus(status).name for status in embeddings.status)
    text = f"{path}: {counts['ok']} embeddings of {dim} numbers"
    if counts["ok"] < rows:
        failed = [
            name
            for name, status in zip(embeddings.names, embeddings.status, strict=True)
            if status != facebench.io.SampleStatus.ok.value
        ]
        text += (
            f", {rows} rows ({common.counts_text(counts)}). Without an embedding: "
            f"{number_and_first(failed)}. A protocol counts them as failed: fetch these files again"
        )
    return Answer({"path": str(path), "rows": rows, "dim": dim, "counts": counts}, text)
