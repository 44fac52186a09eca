"""The root of the command line: its verbs, --version, and what happens at the very end."""

import os
import sys
from typing import Annotated

import typer

import facebench
from facebench import io
from facebench.cli.common import EXIT_STOPPED, complain

app = typer.Typer(
    name="facebench",
    help="Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate.",
    epilog="Example: facebench run lfw --model mobilefacenet.safetensors --root LFW",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"facebench {facebench.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
    untrusted: Annotated[
        bool,
        typer.Option(
            "--untrusted",
            help="HDF5 files (packs, embeddings, scores) come from strangers: read each in a child "
            "process that can do nothing else.",
        ),
    ] = False,
) -> None:
    """Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate."""
    if untrusted:
        io.confine_hdf5()


def main() -> None:
    """The console script."""
    from facebench.cli import verbs  # noqa: F401  (each module adds its verb to `app`)

    try:
        app()
    except KeyboardInterrupt:
        # Ctrl-C before a verb began or while it was being torn down.
        complain("stopped")
        sys.stderr.flush()
        os._exit(EXIT_STOPPED)
