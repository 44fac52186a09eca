"""The root of the command line: its verbs, --version, and what happens at the very end."""

import os
import signal
import sys
import warnings
from io import TextIOWrapper
from typing import Any

import click
from click.shell_completion import get_completion_class

import facebench
from facebench import io
from facebench.cli.common import EXIT_FAILED, EXIT_STOPPED, complain, drop_output, reason
from facebench.cli.verb import VerbGroup
from facebench.cli.verbs import GROUPS, SECTIONS, VERBS


def print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        print(f"facebench {facebench.__version__}")
        ctx.exit()


def show_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    if shell:
        of_shell: Any = get_completion_class(shell)
        print(of_shell(ctx.command, {}, "facebench", "_FACEBENCH_COMPLETE").source())
        ctx.exit()


def root(untrusted: bool) -> None:
    if untrusted:
        io.confine_readers()


_ONCE: dict[str, Any] = {"is_eager": True, "expose_value": False}
app = VerbGroup(
    "facebench",
    VERBS,
    SECTIONS,
    GROUPS,
    callback=root,
    help="Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate.",
    epilog="Example: facebench run lfw --model mobilefacenet.safetensors --root LFW. "
    "Exit codes: 0; 1 failure; 2 usage; 3 a check says no; 4 not all was checked.",
    params=[
        click.Option(
            ["--version"], is_flag=True, callback=print_version, help="Print the version.", **_ONCE
        ),
        click.Option(
            ["--untrusted"],
            is_flag=True,
            help="Files come from strangers: parse HDF5, TOML and JSON in child processes that can "
            "open nothing and only answer.",
        ),
        click.Option(
            ["--show-completion"],
            type=click.Choice(["bash", "zsh", "fish"]),
            metavar="SHELL",
            callback=show_completion,
            help="Print what completes names in bash, zsh or fish, for its start-up file.",
            **_ONCE,
        ),
    ],
)


def stop_like_ctrl_c() -> None:
    """SIGTERM (``docker stop``, a scheduler) and SIGHUP (a closed terminal) end a verb as Ctrl-C
    does: nothing half-written stays. What the caller ignores (``nohup``) stays ignored."""

    def stop(*_) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def hold_standard_streams() -> None:
    """What the caller has closed (``>&-``) is opened again, on a device: else the first file that
    is opened gets its number, and what a library says there goes into that file. Python drops what
    is printed to a closed stream; the device of the output cannot be written, so that a lost answer
    is an error. Messages for a closed error stream go nowhere. Letters that the output's encoding
    lacks are shown as ``\\xe9``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            lowest = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, open(lowest, mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def complain_of_output(error: OSError) -> int:
    """A sentence on an answer that could not be printed, and the exit code."""
    drop_output()
    if isinstance(error, BrokenPipeError):  # its reader has seen enough
        return 0
    complain(f"standard output: {reason(error)}")
    return EXIT_FAILED


def main() -> None:
    """The console script."""
    hold_standard_streams()
    warnings.showwarning = lambda message, *_: complain(f"warning: {message}")
    stop_like_ctrl_c()
    try:
        app()
    except KeyboardInterrupt:
        # Ctrl-C before a verb began or while it was being torn down.
        complain("stopped")
        sys.stderr.flush()
        os._exit(EXIT_STOPPED)
    except SystemExit as end:
        try:
            sys.stdout.flush()
        except OSError as error:
            sys.exit(end.code or complain_of_output(error))
        raise
    except OSError as error:  # from --help or --version: a verb's own are sentences
        sys.exit(complain_of_output(error))
