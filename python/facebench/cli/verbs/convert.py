"""``facebench convert``: somebody else's weights as a model file of ours, or a model as ONNX."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, parse_assignments, print_json, verb


@app.command(
    "convert",
    epilog="Example: facebench convert w.pt --network mobilefacenet --out m.safetensors",
)
@verb
def convert_command(
    weights: Annotated[Path, typer.Argument(help="A PyTorch state dict or safetensors file.")],
    out: Annotated[Path, typer.Option("--out", help="What to write: .safetensors, or .onnx.")],
    network: Annotated[
        str | None,
        typer.Option("--network", help="See: facebench list networks. A model file of ours knows."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="What the model expects, e.g. crop=arcface112 or flip=sum."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", help="Beginning of the names of tensors to leave out."),
    ] = None,
    json: Json = False,
) -> None:
    """Convert foreign weights into a model file. It says which input, crop and flip they expect.

    The file is read with torch.load(weights_only=True) and nothing else: no code in it is run.
    Without --network it is a model file of ours, to be written as ONNX or with other settings.
    """
    model = facebench.convert(
        weights, network=network, out=out, drop=drop or (), **parse_assignments(setting or [])
    )
    if json:
        options = model.options.to_dict()
        print_json({"path": str(out), "network": model.network, "options": options})
    else:
        print(f"{out}: {model.network}, {model.options}")
