"""``facebench run``: from photographs to a report in one go."""

import sys
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import fields, flag, keywords, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import verb


@verb(
    "facebench run lfw --model m.safetensors --root LFW",
    lambda: [
        *keywords(facebench.run, images=common.Images, lists=common.Lists),
        *common.preparation(),
        *fields(facebench.embedding.ExtractOptions, "flip"),
        *fields(facebench.protocols.EvaluationOptions),
        *keywords(
            facebench.run,
            discard=flag("--discard", "Do not keep pack.h5 and embeddings.h5."),
            overwrite=common.Overwrite,
            cache=common.Cache,
            threads=common.Threads,
        ),
    ],
)
def run(
    protocol: common.Protocol,
    model: option("FILE.safetensors, FILE.onnx or module:function."),
    root: common.Root,
    setting: common.setting(common.PIXELS_HELP) = None,
    out: common.Out = None,
    **options,
):
    """Pack, embed, evaluate and report in one. Defaults come from the model file."""
    common.parse_preparation(options)
    common.add_settings(options, setting)
    out = common.out_path(out, "run", Path(protocol).stem)
    result = facebench.run(
        protocol,
        model=model,
        root=root,
        out=out,
        progress=make_progress(),
        command=common.command_line(),
        **options,
    )
    if result.reused:
        print(f"taken from {options['cache']}: {', '.join(result.reused)}", file=sys.stderr)
    return common.result_answer(result, out)
