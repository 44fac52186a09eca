"""``facebench run``: from photographs to a report in one go."""

import sys
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import Answer, verb
from facebench.core._options import known


@verb(
    "facebench run lfw --model m.safetensors --root LFW",
    lambda: common.request(facebench.pipeline.RunRequest),
)
def run(
    protocol: argument("See: facebench list protocols; or a TOML file. Or several.", list[str]),
    model: option(common.MODEL_HELP),
    root: common.Root,
    setting: common.setting(common.PIXELS_HELP) = None,
    output: common.Output = None,
    providers: common.Providers = None,
    cache: option(
        "Where packs and embeddings are kept, and taken from when the same are needed again; "
        "default: runs/cache, and none with --discard.",
        Path,
        metavar="FOLDER",
    ) = None,
    no_cache: flag("--no-cache", "Keep and take none.") = False,
    out: common.Out = None,
    threads: common.Threads = 0,
    **options,
):
    """Pack, embed, evaluate and report in one. Defaults come from the model file.

    Several protocols of one data set may be given; --out then holds a run folder for each.
    """
    from facebench.embedding import _foreign  # needs torch
    from facebench.pipeline import library_from

    common.parse_request(options)
    common.add_outputs(options, output, providers)
    common.add_settings(options, setting)
    common.say_cost(options["precision"], options["device"])
    if cache and no_cache:
        raise ValueError("--cache and --no-cache are both given")
    for one in protocol:
        facebench.protocols.load_protocol(one)
    known(facebench.run, options)
    source = library_from(model, options)
    if source is None:
        pixels = _foreign.take_pixels(options)
        source = _foreign.ready_model(model, facebench.pipeline.RunRequest(**options), **pixels)
    out = common.out_path(out, "run", "-".join(Path(p).stem for p in protocol))
    answers = []
    for one in protocol:
        folder = out if len(protocol) == 1 else out / Path(one).stem
        result = facebench.run(
            one,
            model=source,
            root=root,
            out=folder,
            cache="" if no_cache else cache,
            threads=threads,
            command=common.command_line(),
            **options,
        )
        if result.reused:
            print(f"taken from {result.cache}: {', '.join(result.reused)}", file=sys.stderr)
        answers.append(common.result_answer(result, folder))
    if len(answers) == 1:
        return answers[0]
    fields = {Path(p).stem: a.fields for p, a in zip(protocol, answers, strict=True)}
    return Answer(fields, "\n\n".join(a.text for a in answers), max(a.code for a in answers))
