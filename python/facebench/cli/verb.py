"""What makes a function a verb: its options, how its answer is shown, how errors end."""

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import click

import facebench
from facebench.cli.common import (
    EXIT_FAILED,
    EXIT_STOPPED,
    EXIT_USAGE,
    Full,
    Json,
    Quiet,
    complain_of_error,
    drop_output,
    fitted,
    give_back_names,
    print_json,
    reason,
)
from facebench.cli.lab import found
from facebench.cli.options import COMMON, HEADINGS, click_parameter, keyword, with_parameters
from facebench.core import _progress
from facebench.core._arguments import cut, printable
from facebench.core._out_of_memory import is_out_of_memory

ALWAYS = [
    keyword("quiet", Quiet, False),
    keyword("full", Full, False),
    keyword("json", Json, False),
]


@dataclass
class Answer:
    """What a verb has to say: as JSON, as text, and its exit code."""

    fields: Any
    text: str
    code: int = 0


def verb(
    example: str,
    described: Callable[[], Iterable[inspect.Parameter]] = list,
    several: tuple[str, ...] = (),
    codes: dict[int, str] | None = None,
) -> Callable:
    """Makes a function a verb. It returns an `Answer`, or a result that has ``to_dict()`` and shows
    itself as text, or None where it has printed everything itself.

    ``described`` gives the parameters that come from the library; they reach the function as
    keywords. It is called when the verb is called or asked for help, and not before: most of the
    library needs torch. ``several``: options that take all words up to the next option. ``codes``:
    of a verb that gives a verdict, what its exit codes beside 0, 1 and 2 mean; --help says so.
    """

    def decorate(function: Callable) -> Callable:
        takes_json = "json" in inspect.signature(function).parameters

        @functools.wraps(function)
        @report_errors
        def wrapped(json: bool = False, quiet: bool = False, full: bool = False, **options):
            if takes_json:
                options["json"] = json
            with nullcontext() if quiet else _progress.standard(_progress.terminal):
                show(function(**options), json, full)

        epilog = f"Example: {example}"
        if codes:
            meanings = "; ".join(f"{code} {meaning}" for code, meaning in codes.items())
            epilog += f" Exit codes: 0; 1 failure; 2 usage; {meanings}."
        said = {"described": described, "several": several, "epilog": epilog, "codes": codes or {}}
        wrapped.__dict__.update(said)
        return with_parameters(wrapped, ALWAYS)

    return decorate


def show(answer: Any, json: bool, full: bool = False) -> None:
    if answer is None:
        return
    if not isinstance(answer, Answer):
        fields = answer.to_dict() if hasattr(answer, "to_dict") else answer
        answer = Answer(fields, str(answer))
    try:
        if json:
            print_json(answer.fields)
        else:
            text = printable(answer.text)
            print(fitted(text, full) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OSError(error.errno, error.strerror, "standard output") from None
    if answer.code:
        raise click.exceptions.Exit(answer.code)


_NO_MEMORY = "there is not enough memory: allow more (ulimit -v, a container's limit)"


def report_errors(function: Callable) -> Callable:
    """Turns errors into a message of one sentence and an exit code. What nobody foresaw is a bug,
    and named as one; with FACEBENCH_TRACEBACK set it keeps its traceback.

    1: data or files are wrong, or a module is absent. 2: wrong use. 130: stopped by Ctrl-C.
    """

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        def ended(text: str, code: int) -> click.exceptions.Exit:
            complain_of_error(text, code, bool(kwargs.get("json")))
            return click.exceptions.Exit(code)

        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt as stop:
            raise ended(f"stopped{''.join(f'; {a}' for a in stop.args)}", EXIT_STOPPED) from None
        except (facebench.Error, ImportError) as error:
            # Ctrl-C while a compiled module is loaded.
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise ended("stopped", EXIT_STOPPED) from None
            if isinstance(error, ImportError) and is_out_of_memory(error):
                raise ended(f"{_NO_MEMORY} ({error})", EXIT_FAILED) from None
            raise ended(str(error), EXIT_FAILED) from None
        except UnicodeDecodeError as error:  # a name out of a folder, say
            text = bytes(error.object[:200]).decode("utf-8", "backslashreplace")
            raise ended(f"'{text}' is not UTF-8; give it another name", EXIT_FAILED) from None
        except (ValueError, IndexError) as error:
            raise ended(str(error), EXIT_USAGE) from None
        except MemoryError as error:
            said = str(error)
            if not said.startswith("not enough memory"):  # ours say how much is wanted
                said = f"{_NO_MEMORY} ({said})" if said else _NO_MEMORY
            raise ended(said, EXIT_FAILED) from None
        except BrokenPipeError:
            # The program that reads the output (head, less) has ended. Nothing more may be flushed
            # into the pipe.
            drop_output()
            raise click.exceptions.Exit(0) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise ended(f"{place}{reason(error)}", EXIT_FAILED) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get("FACEBENCH_TRACEBACK"):
                raise
            what = " ".join(f"{type(error).__name__}: {error}".split())
            text = f"{what} (not foreseen: FACEBENCH_TRACEBACK=1 prints where)"
            raise ended(text, EXIT_FAILED) from None
        finally:
            give_back_names()

    return wrapped


def repeat_options(words: list[str], several: tuple[str, ...]) -> list[str]:
    """Puts an option that takes several words before each of them, as click knows it.

    >>> repeat_options(["--models", "a", "b", "--out", "c"], ("--models",))
    ['--models', 'a', '--models', 'b', '--out', 'c']
    """
    repeated, option, first = [], "", False
    for word in words:
        if word.startswith("-"):
            option, first = word if word in several else "", True
        elif option and not first:
            repeated.append(option)
        repeated.append(word)
        first = first and word.startswith("-")
    return repeated


MANY = 25  # options of a verb, from which on --help shows the common ones alone


def show_all_help(ctx, _, asked):
    if asked and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        print(ctx.get_help())
        ctx.exit()


class VerbCommand(click.Command):
    """A verb as a command; some of its options take several words, and of many --help shows the
    common ones. Its parameters are looked up when they are needed: the library describes them."""

    def __init__(self, name: str, function: Callable) -> None:
        self.function = function
        said = function.__dict__
        self.several: tuple[str, ...] = said["several"]
        doc, epilog = inspect.getdoc(function), said["epilog"]
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(name, names, self.call, help=doc, epilog=epilog)
        del self.__dict__["params"]

    @functools.cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        described = report_errors(self.function.__dict__["described"])()
        signature = inspect.signature(with_parameters(lambda **_: None, [
            *inspect.signature(self.function).parameters.values(), *described
        ]))  # fmt: skip
        params = [click_parameter(p) for p in signature.parameters.values()]
        options = 1 + sum(isinstance(p, click.Option) for p in params)  # with --help
        if options >= MANY:
            helped = f"Show all {options + 1} options and exit."
            eager: dict[str, Any] = {"is_eager": True, "expose_value": False, "is_flag": True}
            everything = click.Option(["--help-all"], help=helped, callback=show_all_help, **eager)
            params.append(everything)
        return params

    def call(self, **options: Any) -> None:
        for p in self.params:
            if p.multiple or p.nargs == -1:  # as lists, and none at all as the default
                values = options[p.name]
                options[p.name] = list(values) if values else None
        self.function(**options)

    def get_help_option(self, ctx):
        option = super().get_help_option(ctx)
        if option is not None:
            option.name = "help"
        return option

    def get_params(self, ctx):
        return sorted(super().get_params(ctx), key=lambda p: p.name == "help_all")

    def format_arguments(self, ctx, formatter):
        """They stand with the options, under a heading."""

    def format_options(self, ctx, formatter):
        helped = [(p, row) for p in self.get_params(ctx) if (row := p.get_help_record(ctx))]
        params, help_of = [p for p, _ in helped], {p.name: row for p, row in helped}
        arguments = [p for p in params if p.param_type_name == "argument"]
        options = [p for p in params if p not in arguments]
        headings = {"Arguments": arguments, "Options": options}
        if len(options) > MANY:
            if not ctx.meta.get("help_all"):
                options = [p for p in options if p.name in COMMON.split() or p.required]
            named = {heading: names.split() for heading, names in HEADINGS.items()}
            every = {name for names in named.values() for name in names}
            headings = {
                "Arguments": arguments,
                "Input": [p for p in options if p.name not in every],
                **{h: [p for p in options if p.name in names] for h, names in named.items()},
            }
        for heading, shown_here in headings.items():
            if shown_here:
                with formatter.section(heading):
                    formatter.write_dl([help_of[p.name] for p in shown_here])

    def parse_args(self, ctx, args):
        words = repeat_options(args, self.several)
        try:
            return super().parse_args(ctx, list(words))
        except click.MissingParameter:  # it names the first alone
            values, *_ = self.make_parser(ctx).parse_args(words)
            given = {n for n, v in values.items() if v and isinstance(v, str | list | tuple)}
            missing = [p for p in self.get_params(ctx) if p.required and p.name not in given]
            names = [p.metavar or p.name.upper() if p.param_type_name == "argument" else p.opts[0]
                     for p in missing]  # fmt: skip
            raise click.UsageError(f"Missing: {', '.join(names)}.", ctx) from None


@contextmanager
def _short_messages():
    """What is said of a wrong option quotes it, however long it is."""
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = cut(error.message)
        raise


class VerbGroup(click.Group):
    """A group of a table of verbs, each made when it is called for. With ``--json`` a wrong option
    is JSON, too. ``headings``: of the help, each with the names of its verbs."""

    def __init__(self, name: str, verbs: dict, headings: dict, groups: dict, **how: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(name, context_settings=names, no_args_is_help=True, **how)
        self.verbs, self.headings, self.groups = verbs, headings, groups
        # What click looks at to say what was meant.
        self.commands = dict.fromkeys(verbs)  # type: ignore[assignment]

    def list_commands(self, ctx):
        return list(self.verbs)

    def get_command(self, ctx, name):
        entry = self.verbs.get(name)
        if entry is None:
            return None
        if self.commands[name] is None:
            self.commands[name] = (
                VerbGroup(name, entry, {"Commands": list(entry)}, {}, help=self.groups[name])
                if isinstance(entry, dict)
                else VerbCommand(name, found(entry))
            )
        return self.commands[name]

    def make_context(self, info_name, args, parent=None, **extra):
        with _short_messages():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx):
        with _short_messages():
            return super().invoke(ctx)

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        words = sys.argv[1:] if args is None else list(args)
        how = (prog_name, complete_var or "_FACEBENCH_COMPLETE")
        if not standalone_mode or "--json" not in words:
            return super().main(args, *how, standalone_mode, **extra)
        try:
            code = super().main(args, *how, False, **extra)
        except click.Abort:
            complain_of_error("stopped", EXIT_STOPPED, True)
            sys.exit(EXIT_STOPPED)
        except click.ClickException as error:
            complain_of_error(error.format_message(), error.exit_code, True)
            sys.exit(error.exit_code)
        sys.exit(code or 0)

    def format_commands(self, ctx, formatter):
        width = max(map(len, self.verbs))
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([
                    (f"{n:{width}}", self.get_command(ctx, n).get_short_help_str(formatter.width))
                    for n in names
                ])  # fmt: skip
