"""The root of the command line: its verbs, --version, and what happens at the very end."""

import os
import signal
import sys
import warnings

import typer

import facebench
from facebench import io
from facebench.cli.common import EXIT_STOPPED, complain
from facebench.cli.options import flag
from facebench.cli.verb import VerbCommand, VerbGroup
from facebench.cli.verbs import GROUPS, VERBS


def build(verbs: dict, **how) -> typer.Typer:
    """The verbs of a table as an application of typer; a dict in the table is a group."""
    built = typer.Typer(
        cls=VerbGroup,
        no_args_is_help=True,
        add_completion=bool(how.get("name")),  # of the root alone
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **how,
    )
    for name, entry in verbs.items():
        if isinstance(entry, dict):
            built.add_typer(build(entry, help=GROUPS[name]), name=name)
        else:
            built.command(name, cls=VerbCommand, epilog=entry.epilog)(entry)
    return built


app = build(
    VERBS,
    name="facebench",
    help="Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate.",
    epilog="Example: facebench run lfw --model mobilefacenet.safetensors --root LFW",
)


def print_version(wanted: bool) -> None:
    if wanted:
        print(f"facebench {facebench.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: flag("--version", "Print the version.", callback=print_version, is_eager=True) = False,
    untrusted: flag(
        "--untrusted",
        "Files come from strangers: parse HDF5, TOML and JSON in child processes that can open "
        "nothing and only answer.",
    ) = False,
) -> None:
    """Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate."""
    if untrusted:
        io.confine_readers()


def stop_like_ctrl_c() -> None:
    """SIGTERM (``docker stop``, a scheduler) and SIGHUP (a closed terminal) end a verb as Ctrl-C
    does: nothing half-written stays. What the caller ignores (``nohup``) stays ignored."""

    def stop(*_) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def main() -> None:
    """The console script."""
    warnings.showwarning = lambda message, *_: complain(f"warning: {message}")
    sys.path.append(os.getcwd())  # for --model mymodel:embed
    stop_like_ctrl_c()
    try:
        app()
    except KeyboardInterrupt:
        # Ctrl-C before a verb began or while it was being torn down.
        complain("stopped")
        sys.stderr.flush()
        os._exit(EXIT_STOPPED)
