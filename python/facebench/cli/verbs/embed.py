"""``facebench embed``: embeddings of a pack."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Device,
    Json,
    Out,
    Threads,
    check_device,
    out_path,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress


@app.command("embed", epilog="Example: facebench embed m.safetensors lfw.h5 --out lfw-m.h5")
@verb
def embed_command(
    model: Annotated[str, typer.Argument(help="FILE.safetensors, FILE.onnx or module:function.")],
    pack: Annotated[Path, typer.Argument(help="What `facebench pack` wrote.")],
    out: Out = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE of the extraction, e.g. flip=none."),
    ] = None,
    threads: Threads = 0,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Embed every face of a pack with a model."""
    settings = parse_assignments(setting or [])
    if check_device(device) != "cpu":
        settings["device"] = device
    path = out_path(out, "embed", Path(model).stem, ".h5")
    embeddings = facebench.embed(
        model, pack, path, threads=threads, progress=make_progress(), **settings
    )
    rows, dim = embeddings.values.shape
    if json:
        print_json({"path": str(path), "rows": rows, "dim": dim})
    else:
        print(f"{path}: {rows} embeddings of {dim} numbers")
