"""``facebench quantize``: a model file for precision int8."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb


@verb("facebench quantize m.safetensors webface.h5 --out m-int8.safetensors")
def quantize(
    model: argument("A model file of ours.", Path),
    pack: argument("A pack of crops like those to be embedded, and other ones.", Path),
    out: option("The model file to write.", Path, metavar="FILE"),
    count: option("Crops that are run, spread evenly over the pack.", int, min=1) = 256,
    threads: common.Threads = 0,
):
    """Measure what numbers a model's layers read, as --precision int8 needs it.

    The weights stay as they are: the new file differs in what it knows of its layers' inputs.
    """
    common.say_cost("int8")
    loaded = facebench.embedding.load_model(model)
    source = facebench.datasets.Pack(pack)
    facebench.embedding.quantize(loaded, source, count=count, threads=threads)
    loaded.save(out)
    layers = len(loaded.input_ranges)
    return Answer(
        {"path": str(out), "layers": layers, "ranges": loaded.input_ranges},
        f"{out}: {layers} layers",
    )
