"""``facebench train``: a network from a recipe and a pack."""

import sys
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, option
from facebench.cli.verb import Answer, verb
from facebench.core._named_code import import_function, is_named_function

# The fields of ValidationOptions, by their names on the command line.
VALIDATION = {
    "validation_metric": "metric",
    "validation_track": "track",
    "validate_every": "every",
    "validate_steps": "steps",
}


def _print_memory(processes):
    for rank, memory in enumerate(processes):
        last = memory["first_class"] + memory["classes"] - 1
        parts = ("parameters", "momentum", "gradients", "logits", "features")
        sizes = ", ".join(f"{part} {memory[part] / 1e6:.1f}" for part in parts)
        print(
            f"process {rank}: classes {memory['first_class']} to {last}, "
            f"head {memory['total'] / 1e6:.1f} MB ({sizes})",
            file=sys.stderr,
        )


@verb(
    "facebench train demo --pack faces.h5 --set epochs=4. Several processes: "
    "torchrun --nproc-per-node 2 -m facebench train demo --pack faces.h5 --out RUN",
    lambda: [
        *fields(
            facebench.training.ValidationOptions,
            renamed={field: name for name, field in VALIDATION.items()},
        ),
        *fields(facebench.training.TrainOptions),
    ],
)
def train(
    recipe: argument("See: facebench list recipes; or a TOML file."),
    pack: option("The images to train on.", Path),
    setting: common.setting("KEY=VALUE of the recipe, e.g. lr=0.05 or network=small4.") = None,
    batch: option("Another batch; the rate follows by the linear rule.", int, min=1) = None,
    init: option("Weights to begin with: .safetensors, .pt, .onnx.", Path) = None,
    init_key: option("The entry of a checkpoint that holds them, where it has several.") = None,
    exclude: common.Exclude = None,
    only: common.Only = None,
    label: common.Label = "",
    split: common.Split = "",
    validate: option("Protocol that judges the model after each epoch.") = None,
    validation_pack: option("The images of its lists, packed.", Path) = None,
    root: option("Its data set, as its authors distribute it.") = "",
    lists: option("The folder of its lists, where not found in --root.") = "",
    mllog: option("A new file for lines as MLPerf's mllog has them.", Path) = None,
    mllog_target: option("The validation's value that ends the run in it.", float) = None,
    out: common.Out = None,
    seed: option("The recipe's seed.", int, min=0) = None,
    **options,
):
    """Train any network with any loss by a recipe. The model ends up in --out.

    The number of compute threads is part of what decides the numbers, and is recorded.
    """
    settings = common.parse_assignments(setting)
    if seed is not None:
        settings["seed"] = seed
    network = _named_network(settings)
    if options["resume"] and out is None:
        raise ValueError("--resume needs --out, the folder of the run to go on with")
    if validate and validation_pack is None:
        raise ValueError("--validate needs --validation-pack, the images of the protocol's lists")
    judging = {field: options.pop(name) for name, field in VALIDATION.items()}
    training = facebench.training
    group, device = training.torchrun_process_group(common.check_device(options.pop("device")))
    first = group is None or group.rank() == 0  # the process that writes files and shows progress
    judge = None
    if validate and first:
        judge = training.validation(validate, validation_pack, root=root, lists=lists, **judging)
    if mllog_target is not None and (mllog is None or judge is None):
        raise ValueError("--mllog-target needs --mllog and --validate, which gives the values")
    described = training.load_recipe(recipe, scaled_batch=batch, **settings)
    folder = common.out_path(out, "train", Path(recipe).stem) if first else Path("runs")
    log = training.MLLog(mllog, described, mllog_target) if mllog and first else None
    try:
        result = facebench.train(
            described,
            pack,
            folder,
            network=network,
            init=init,
            init_key=init_key,
            exclude=exclude,
            only=only,
            label=label,
            split=split,
            validation=judge,
            device=device,
            progress=None if first else False,
            on_start=_print_memory,
            on_epoch=log and log.on_epoch,
            process_group=group,
            **options,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"to go on: {resuming(folder, out, options)}") from None
    finally:
        if log:
            log.end()
    if not first:
        return None
    epochs = f"{result['epochs']} epoch{'s' * (result['epochs'] != 1)}"
    lines = [f"{result['model']}: {epochs}, mean loss of the last epoch {result['loss']:.4g}"]
    if network is not None:
        result["onnx"] = facebench.training._timm_network.write_onnx(result["model"], network)
    if "onnx" in result:
        lines.append(result["onnx"])
    if begun := result.get("begun_with"):
        lines.append(_beginning(begun, options["extend"], init))
    if exclude or only:
        by = " and ".join(str(file) for file in (exclude, only) if file)
        lines.append(f"left out by {by}: {result['excluded']} images")
    if result["best_score"] is not None:
        name = f"{Path(validate).stem} {judging['metric'] or 'score'}" if validate else "score"
        lines.append(f"best epoch {result['best_epoch']}: {name} {result['best_score']:.6g}")
    lines.append(f"curves: {folder / 'report.html'}")
    return Answer(result, "\n".join(lines))


def _named_network(settings):
    """The network that ``--set network=module:function`` names: code that the user asks for, as
    with --model. What a recipe's file names never becomes an import."""
    name = str(settings.get("network", ""))
    if name.startswith("timm:") or not is_named_function(name):
        return None
    del settings["network"]
    return import_function(name, "module:function that makes a network")


def _beginning(begun, extended, init) -> str:
    if extended is not None:
        return f"went on from {extended}: {begun['iterations']} steps"
    if "taken" not in begun:
        return f"trained the network of {init.name} with its weights"
    count = begun["taken"] + len(begun["fresh"])
    return f"began with {begun['file']}: {begun['taken']} of {count} tensors"


def resuming(folder: Path, out: Path | None, options: dict) -> str:
    """The command that goes on with a training that was stopped."""
    command = common.command_line()
    command += "" if out is not None else f" --out {folder}"
    return command if options["resume"] else f"{command} --resume"
