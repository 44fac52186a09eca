"""``facebench convert``: somebody else's weights as a model file of ours."""

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
    network: Annotated[str, typer.Option("--network", help="See: facebench list networks.")],
    out: Annotated[Path, typer.Option("--out", help="The model file to write.")],
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
    """Convert foreign weights, with the input, crop, detector and flip they expect.

    The file is read with torch.load(weights_only=True) and nothing else: no code in it is run.
    """
    model = facebench.convert(
        weights, network=network, out=out, drop=drop or (), **parse_assignments(setting or [])
    )
    if json:
        print_json({"path": str(out), "network": network, "options": model.options.to_dict()})
    else:
        print(f"{out}: {network}, {model.options}")
