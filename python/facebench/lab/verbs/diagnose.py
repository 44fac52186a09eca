"""``facebench diagnose``: why a model's number is low."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, keywords, option
from facebench.cli.verb import verb
from facebench.core import _files


@verb(
    "facebench diagnose m.onnx lfw --root LFW --expect 99.48, or facebench diagnose runs/lfw",
    lambda: [
        *keywords(
            facebench.diagnose,
            root=common.Root,
            images=common.Images,
            lists=common.Lists,
            expect=option("The accuracy that was expected: its probability.", metavar="X"),
            output=option("Of an ONNX file with several outputs the embedding.", metavar="NAME"),
            limit=option(
                "At most so many comparisons (1000); needed but for lfw and data of your own.",
                int,
                min=20,
            ),
            exif_orientation=common.ExifOrientation,
        ),
        *common.request(
            facebench.pipeline.PreparationOptions, "detector", "detector_options", "selection"
        ),
    ],
)
def diagnose(
    model: argument(
        "FILE.safetensors, FILE.onnx or module:function (whose code is run); or a run folder."
    ) = ...,
    protocol: argument("See: facebench list protocols. Of a run folder: none.") = None,
    cache: option("Where crops are kept; default: runs/cache.", Path, metavar="FOLDER") = None,
    no_cache: flag("--no-cache", "Keep and take none.") = False,
    threads: common.Threads = 0,
    **options,
):
    """Why a model's number is low. Tries crops, colours, scales and mirror images."""
    common.parse_request(options)
    cache = None if no_cache or protocol is None else cache or _files.KEPT
    how = {"cache": cache, "threads": threads}
    return facebench.diagnose(model, protocol, **how, **options)
