"""The root of the command line: its verbs, --version, and what happens at the very end."""

import os
import signal
import sys
import warnings
from io import TextIOWrapper
from typing import Any

import typer

import facebench
from facebench import io
from facebench.cli.common import EXIT_FAILED, EXIT_STOPPED, complain, drop_output, reason
from facebench.cli.lab import found
from facebench.cli.options import flag
from facebench.cli.verb import VerbGroup, command
from facebench.cli.verbs import GROUPS, SECTIONS, VERBS


class Commands(dict):
    """The commands of a table of verbs, each made when it is asked for."""

    def __init__(self, table: dict) -> None:
        super().__init__(table)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = command_of(name, super().__getitem__(name))
        return self._made[name]

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return self[name]

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]


def command_of(name: str, entry: Any) -> Any:
    """The command of an entry of a table: a verb, or a group of them."""
    if isinstance(entry, dict):
        group = build(entry)
        group.callback(help=GROUPS[name])(lambda: None)
        return typer.main.get_command(group)
    return command(name, found(entry))


def build(verbs: dict, **how: Any) -> typer.Typer:
    """The verbs of a table as an application of typer; a dict in the table is a group."""

    class Group(VerbGroup):
        headings = SECTIONS if verbs is VERBS else {"Commands": list(verbs)}

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.commands = Commands(verbs)

    return typer.Typer(
        cls=Group,
        no_args_is_help=True,
        add_completion=bool(how.get("name")),  # of the root alone
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **how,
    )


app = build(
    VERBS,
    name="facebench",
    help="Reproducible face-recognition benchmarks: detect, crop, train, embed, evaluate.",
    epilog="Example: facebench run lfw --model mobilefacenet.safetensors --root LFW. "
    "Exit codes: 0; 1 failure; 2 usage; 3 a check says no; 4 not all was checked.",
)


def print_version(asked: bool) -> None:
    if asked:
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
